import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting


def as_text(value: Any) -> Any:
    """A template that is one whole expression keeps that value's type; here it becomes text again, objects as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


class TemplateConfig(StepConfig):
    text: Annotated[str, BeforeValidator(as_text)] = Field(
        title="Template",
        description="Text with {{ expressions }}.",
        examples=["Dear {{ run.input.name }}, your batch has {{ steps.sum.output.count }} invoices."],
        json_schema_extra=widget("code", language="jinja"),
    )
    name: str = Field(
        default="",
        title="Name",
        description="Given on with the text, for a file or an attachment.",
        examples=["report.md"],
    )
    content_type: Literal[
        "text/plain", "text/html", "text/markdown", "text/csv", "application/json", "application/xml"
    ] = Field(default="text/plain", title="Content type")


SPEC = StepSpec(
    kind="template",
    title="Template",
    group="Data",
    icon="template",
    summary="Writes a text from a template.",
    config=TemplateConfig,
    delivery=Delivery.PURE,
    body="steps.template.run:run",
    execution=Execution.COMPUTE,
    describe=lambda config: setting(config, "name") or setting(config, "text"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {"text": {"type": "string"}, "name": {"type": "string"}, "content_type": {"type": "string"}},
    },
)
