from datetime import datetime
from zoneinfo import available_timezones

from pydantic import field_validator

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting

LONGEST_S = 366 * 24 * 3600


class WaitUntilConfig(StepConfig):
    moment: datetime = Field(
        title="Moment",
        description="ISO 8601, with a zone or by the clock of the zone below. One that has passed waits no more.",
        examples=["2026-12-24T18:00:00+01:00", "{{ steps.fetch.output.body.due_at }}"],
        json_schema_extra=widget("datetime"),
    )
    zone: str = Field(
        default="UTC",
        title="Time zone",
        description="For a moment that names none, such as Europe/Berlin.",
        examples=["Europe/Berlin"],
        max_length=100,
    )

    @field_validator("zone")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in available_timezones():
            raise ValueError("is no time zone; write one such as Europe/Berlin or UTC")
        return value


SPEC = StepSpec(
    kind="wait_until",
    title="Wait until",
    group="Flow",
    icon="calendar",
    summary="Waits until a moment, without holding a worker.",
    config=WaitUntilConfig,
    delivery=Delivery.PURE,
    body="steps.wait_until.run:run",
    execution=Execution.WAIT,
    describe=lambda config: setting(config, "moment"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {"until": {"type": "string"}},
    },
)
