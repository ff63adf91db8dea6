"""Step kinds of the bench, registered in its processes by PAWL_EXTRA_STEPS: bodies that tell when they began."""

import time
from typing import Any

from steps.base import Body, Delivery, StepConfig, StepContext, StepSpec


class AnyConfig(StepConfig):
    value: Any = None


def kind(body: Body) -> StepSpec:
    return StepSpec(
        kind=f"bench_{body.__name__}",
        title=body.__name__,
        group="Code",
        icon="clock",
        summary="Measures for the bench.",
        config=AnyConfig,
        delivery=Delivery.PURE,
        body=f"{body.__module__}:{body.__name__}",
    )


def clock(config: AnyConfig, ctx: StepContext) -> float:
    """When the body began, by the clock that all processes of this machine share."""
    return time.time()


def pause(config: AnyConfig, ctx: StepContext) -> Any:
    """A body that takes a little."""
    time.sleep(0.05)
    return config.value


def hang(config: AnyConfig, ctx: StepContext) -> float:
    """The first attempt never ends; the next one tells when it began."""
    if ctx.attempt == 1:
        time.sleep(600)
    return time.time()


CLOCK, PAUSE, HANG = kind(clock), kind(pause), kind(hang)
