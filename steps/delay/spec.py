from collections.abc import Mapping
from typing import Any

from pydantic import AwareDatetime, model_validator

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting

LONGEST_S = 366 * 24 * 3600


class DelayConfig(StepConfig):
    seconds: float | None = Field(
        default=None,
        ge=0,
        le=LONGEST_S,
        title="Wait for",
        description="Seconds.",
        examples=[3600],
        json_schema_extra=widget("duration"),
    )
    until: AwareDatetime | None = Field(
        default=None,
        title="Or until",
        description="A moment with its time zone. One that has passed waits no more.",
        examples=["2026-12-24T18:00:00+01:00", "{{ steps.fetch.output.body.due_at }}"],
        json_schema_extra=widget("datetime"),
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "DelayConfig":
        if (self.seconds is None) == (self.until is None):
            raise ValueError("give either 'seconds' or 'until'")
        return self


def describe(config: Mapping[str, Any]) -> str:
    if config.get("until"):
        return f"until {setting(config, 'until')}"
    return f"{setting(config, 'seconds')} s" if config.get("seconds") is not None else ""


SPEC = StepSpec(
    kind="delay",
    title="Delay",
    group="Flow",
    icon="clock-pause",
    summary="Waits for a time, or until a moment, without holding a worker.",
    config=DelayConfig,
    delivery=Delivery.PURE,
    body="steps.delay.run:run",
    execution=Execution.WAIT,
    describe=describe,
    output_schema=lambda config: {
        "type": "object",
        "properties": {"seconds": {"type": "number"}, "until": {"type": ["string", "null"]}},
    },
)
