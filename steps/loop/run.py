from steps.base import Again, Rounds, StepContext
from steps.loop.spec import LoopConfig
from steps.truth import is_true


def run(config: LoopConfig, ctx: StepContext) -> Rounds | Again:
    if "until" not in config.model_fields_set:  # before the first round; after each one it is there, if only as null
        return Rounds(config.first, most=config.most, keep=config.keep)
    if config.until is None:
        return Again(wanted=True, at_most="end")
    return Again(wanted=not is_true(config.until), at_most=config.at_most)
