from typing import Any

from steps.base import StepContext
from steps.template.spec import TemplateConfig


def run(config: TemplateConfig, ctx: StepContext) -> dict[str, Any]:
    return {"text": config.text, "name": config.name, "content_type": config.content_type}
