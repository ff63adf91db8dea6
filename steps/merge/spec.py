from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import names


class MergeConfig(StepConfig):
    fields: dict[str, Any] = Field(
        default_factory=dict,
        title="Output",
        description="Name and value of each field of the output. Empty: an empty object.",
        examples=[{"report": "{{ steps.report.output }}", "check": "{{ steps.check.output }}"}],
        json_schema_extra=widget("key-values"),
    )


SPEC = StepSpec(
    kind="merge",
    title="Merge",
    group="Flow",
    icon="arrow-merge",
    summary="Waits until every incoming branch is settled, then goes on once.",
    config=MergeConfig,
    delivery=Delivery.PURE,
    body="steps.merge.run:run",
    execution=Execution.COMPUTE,
    describe=lambda config: names(config, "fields"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {str(key): {} for key in config["fields"]} if isinstance(config.get("fields"), dict) else {},
    },
)
