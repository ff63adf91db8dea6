from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import names


class SetFieldsConfig(StepConfig):
    base: dict[str, Any] = Field(
        default_factory=dict,
        title="Start from",
        description="An object whose fields are kept where none below has the same name.",
        examples=["{{ steps.fetch.output.body }}"],
        json_schema_extra=widget("json"),
    )
    fields: dict[str, Any] = Field(
        title="Fields",
        description="Name and value of each field. A whole expression keeps its type.",
        examples=[{"total": "{{ steps.sum.output }}", "currency": "EUR"}],
        json_schema_extra=widget("key-values"),
    )


SPEC = StepSpec(
    kind="set_fields",
    title="Set fields",
    group="Data",
    icon="forms",
    summary="Builds an object from values and expressions.",
    config=SetFieldsConfig,
    delivery=Delivery.PURE,
    body="steps.set_fields.run:run",
    execution=Execution.COMPUTE,
    describe=lambda config: names(config, "fields"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {str(key): {} for key in config["fields"]} if isinstance(config.get("fields"), dict) else {},
    },
)
