from collections.abc import Mapping, Sequence
from typing import Any, Literal

from steps.base import OUT, Delivery, Field, Port, StepConfig, StepSpec, literal, widget
from steps.describe import setting


class ValidateConfig(StepConfig):
    value: Any = Field(
        title="Value",
        description="What is checked.",
        examples=["{{ steps.fetch.output.body }}"],
        json_schema_extra=widget("json"),
    )
    json_schema: dict[str, Any] = Field(
        title="JSON Schema",
        description="What the value must be. Draft 2020-12 unless `$schema` names another.",
        examples=[{"type": "object", "required": ["number", "total"]}],
        json_schema_extra=literal(widget="code", language="json"),
    )
    on_invalid: Literal["fail", "port"] = Field(
        default="fail", title="When it does not fit", description="Fail the step, or leave by the port 'invalid'."
    )


def ports(config: Mapping[str, Any]) -> Sequence[Port]:
    return (Port("out", "Valid"), Port("invalid", "Invalid")) if config.get("on_invalid") == "port" else OUT


SPEC = StepSpec(
    kind="validate",
    title="Validate",
    group="Data",
    icon="shield-check",
    summary="Checks a value against a JSON Schema and lists every error.",
    config=ValidateConfig,
    delivery=Delivery.PURE,
    body="steps.validate.run:run",
    ports=ports,
    describe=lambda config: setting(config, "value"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "valid": {"type": "boolean"},
            "value": config["json_schema"] if isinstance(config.get("json_schema"), dict) else {},
            "errors": {"type": "array", "items": {"type": "object"}},
        },
    },
)
