from typing import Any

from steps.base import Delivery, Execution, Field, Port, StepConfig, StepSpec, widget
from steps.describe import setting

PORTS = (Port("true", "Yes"), Port("false", "No"))


class BranchConfig(StepConfig):
    condition: Any = Field(
        title="Condition",
        description="An expression. The flow leaves by 'true' or by 'false'.",
        examples=["{{ steps.total.output.amount > 500 }}"],
        json_schema_extra=widget("expression", truth=True),
    )


SPEC = StepSpec(
    kind="branch",
    title="Branch",
    group="Flow",
    icon="arrows-split-2",
    summary="Goes one of two ways.",
    config=BranchConfig,
    delivery=Delivery.PURE,
    body="steps.branch.run:run",
    execution=Execution.COMPUTE,
    ports=lambda config: PORTS,
    describe=lambda config: setting(config, "condition"),
    output_schema=lambda config: {"type": "boolean"},
)
