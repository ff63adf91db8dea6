from typing import Any

from steps.base import StepContext
from steps.output.spec import OutputConfig


def run(config: OutputConfig, ctx: StepContext) -> Any:
    return config.value
