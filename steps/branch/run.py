from steps.base import Done, StepContext
from steps.branch.spec import BranchConfig
from steps.truth import is_true


def run(config: BranchConfig, ctx: StepContext) -> Done:
    truth = is_true(config.condition)
    return Done(truth, port="true" if truth else "false")
