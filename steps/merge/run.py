from typing import Any

from steps.base import StepContext
from steps.merge.spec import MergeConfig


def run(config: MergeConfig, ctx: StepContext) -> dict[str, Any]:
    return config.fields
