from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import names, setting


class OutputConfig(StepConfig):
    value: Any = Field(
        title="Output of the run",
        description="What the run answers. The last Output step that runs decides.",
        examples=["{{ steps.report.output }}"],
        json_schema_extra=widget("json"),
    )


SPEC = StepSpec(
    kind="output",
    title="Output",
    group="Flow",
    icon="flag",
    summary="Sets what the run answers.",
    config=OutputConfig,
    delivery=Delivery.PURE,
    body="steps.output.run:run",
    execution=Execution.COMPUTE,
    describe=lambda config: names(config, "value") or setting(config, "value"),
)
