from collections.abc import Mapping
from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, literal, widget
from steps.describe import setting
from steps.fields import RoleName

LONGEST_S = 366 * 24 * 3600


class FormConfig(StepConfig):
    title: str = Field(
        title="Title",
        description="What is asked, in one line.",
        min_length=1,
        max_length=200,
        examples=["Address of {{ run.input.customer }}"],
    )
    message: str = Field(
        default="",
        title="Message",
        description="What the person should know.",
        max_length=20_000,
        json_schema_extra=widget("textarea"),
    )
    form: dict[str, Any] = Field(
        title="Form",
        description="The fields, as a JSON Schema. What is filled in is checked against it.",
        examples=[{"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}}],
        json_schema_extra=literal(widget="json-schema"),
    )
    initial: Any = Field(
        default=None,
        title="Filled in beforehand",
        description="Values that the form begins with.",
        examples=["{{ steps.fetch.output }}"],
        json_schema_extra=widget("json"),
    )
    deadline_s: float | None = Field(
        default=None,
        gt=0,
        le=LONGEST_S,
        title="Deadline",
        description="Seconds until the step fails without an answer. Empty: none.",
        json_schema_extra=widget("duration"),
    )
    roles: list[RoleName] = Field(
        default=[],
        title="Who may answer",
        description="Roles. Empty: everybody who may approve.",
        examples=[["editor", "admin"]],
    )
    no_self_approval: bool = Field(
        default=False,
        title="Not by whoever started it",
        description="Who started or resumed the run, or changed what it works on, may not answer.",
        json_schema_extra=widget("switch"),
    )


def output_schema(config: Mapping[str, Any]) -> dict[str, Any]:
    form = config.get("form")
    return form if isinstance(form, dict) else {}


SPEC = StepSpec(
    kind="form",
    title="Form",
    group="People",
    icon="forms",
    summary="Asks a person to fill in a form, and goes on with what they wrote.",
    config=FormConfig,
    delivery=Delivery.PURE,
    body="steps.form.run:run",
    execution=Execution.WAIT,
    describe=lambda config: setting(config, "title"),
    output_schema=output_schema,
)
