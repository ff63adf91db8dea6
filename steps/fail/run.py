from steps.base import StepContext, StepFailure
from steps.fail.spec import FailConfig


def run(config: FailConfig, ctx: StepContext) -> None:
    data = {} if config.details is None else {"details": config.details}
    raise StepFailure(config.code, config.message, data=data)
