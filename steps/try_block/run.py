from steps.base import Enclose, StepContext
from steps.try_block.spec import TryConfig


def run(config: TryConfig, ctx: StepContext) -> Enclose:
    return Enclose()
