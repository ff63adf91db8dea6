from typing import Any

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting


class PassThroughConfig(StepConfig):
    value: Any = Field(
        default=None,
        title="Value",
        description="What the step gives on, unchanged.",
        examples=["{{ steps.fetch.output }}"],
        json_schema_extra=widget("json"),
    )


SPEC = StepSpec(
    kind="pass_through",
    title="Pass through",
    group="Flow",
    icon="arrow-right",
    summary="Gives a value on unchanged; a place holder while a workflow is drawn.",
    config=PassThroughConfig,
    delivery=Delivery.PURE,
    body="steps.pass_through.run:run",
    describe=lambda config: setting(config, "value"),
)
