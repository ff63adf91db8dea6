from typing import Any

from steps.base import StepContext
from steps.set_fields.spec import SetFieldsConfig


def run(config: SetFieldsConfig, ctx: StepContext) -> dict[str, Any]:
    return {**config.base, **config.fields}
