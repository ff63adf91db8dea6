from collections.abc import Mapping
from typing import Any, Literal

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting

MOST_ROUNDS = 10_000


class LoopConfig(StepConfig):
    most: int = Field(
        ge=1,
        le=MOST_ROUNDS,
        title="At most",
        description="So many rounds, and never one more.",
        examples=[10],
    )
    until: Any = Field(
        default=None,
        title="Until",
        description="Read after each round; the loop ends once it is true. {{ previous }} is what the round gave, "
        "{{ index }} its number from 0. Empty: as many rounds as it may have.",
        examples=["{{ previous.done }}"],
        json_schema_extra=widget("expression", truth=True),
    )
    first: Any = Field(
        default=None,
        title="First value",
        description="What {{ previous }} is in the first round.",
        examples=["{{ run.input.cursor }}"],
        json_schema_extra=widget("json"),
    )
    at_most: Literal["fail", "end"] = Field(
        default="fail",
        title="When the rounds are used up",
        description="And the condition is still not met: fail, or end as if it were.",
    )
    keep: Literal["last", "all"] = Field(
        default="last", title="Output", description="What the last round gave, or a list of what each gave."
    )


def describe(config: Mapping[str, Any]) -> str:
    until, most = setting(config, "until"), setting(config, "most")
    return f"until {until}, at most {most}" if until else f"{most} rounds" if most else ""


SPEC = StepSpec(
    kind="loop",
    title="Loop",
    group="Flow",
    icon="refresh",
    summary="Runs the steps inside again and again, until a condition is met.",
    config=LoopConfig,
    delivery=Delivery.PURE,
    body="steps.loop.run:run",
    execution=Execution.CONTAINER,
    describe=describe,
    gives=("index", "previous"),
    asks=("until",),
)
