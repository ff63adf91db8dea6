from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting


class FailConfig(StepConfig):
    code: str = Field(
        default="failed_on_purpose",
        title="Code",
        description="A short, stable word that lists and alerts can filter by.",
        pattern=r"^[a-z][a-z0-9_]{0,63}$",
        examples=["total_does_not_match"],
    )
    message: str = Field(
        title="Message",
        description="What is wrong, and what a person should do about it.",
        examples=["Invoice {{ steps.read.output.number }} has no total. Ask the supplier."],
        json_schema_extra=widget("textarea"),
    )
    details: Any = Field(
        default=None,
        title="Details",
        description="Any value that helps; shown with the error.",
        json_schema_extra=widget("json"),
    )


SPEC = StepSpec(
    kind="fail",
    title="Fail",
    group="Flow",
    icon="alert-octagon",
    summary="Ends this way with an error of your own words.",
    config=FailConfig,
    delivery=Delivery.PURE,
    body="steps.fail.run:run",
    execution=Execution.COMPUTE,
    describe=lambda config: setting(config, "message") or setting(config, "code"),
)
