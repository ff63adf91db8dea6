from typing import Any

from steps.base import StepContext
from steps.pass_through.spec import PassThroughConfig


def run(config: PassThroughConfig, ctx: StepContext) -> Any:
    return config.value
