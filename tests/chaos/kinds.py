"""Step kinds of the chaos job, registered in its processes by PAWL_EXTRA_STEPS: bodies that leave traces outside.

Each attempt appends a line to a file when it begins and one when it is done; what Pawl's tables tell is compared with
these lines in the end.
"""

import os
import time
from pathlib import Path
from typing import Any

from steps.base import Body, Delivery, StepConfig, StepContext, StepFailure, StepSpec

BEGAN, DONE = "began", "done"


class WorkConfig(StepConfig):
    outside: str  # the file of traces
    value: Any = None
    pause_s: float = 0.0
    fails: list[int] = []  # the tries that fail, and may be tried again by themselves
    needs: str = ""  # a file: while it is not there, the step fails for good


def trace(config: WorkConfig, ctx: StepContext, word: str) -> None:
    """One short write at the file's end, so that the lines of many processes do not mix."""
    line = f"{ctx.run_id} {ctx.path} {ctx.attempt} {ctx.fence} {ctx.idempotency_key} {word}\n"
    descriptor = os.open(config.outside, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def work(config: WorkConfig, ctx: StepContext) -> Any:
    trace(config, ctx, BEGAN)
    time.sleep(config.pause_s)
    if ctx.attempt in config.fails:
        raise StepFailure("not_this_time", f"attempt {ctx.attempt} was told to fail", retryable=True)
    if config.needs and not Path(config.needs).exists():
        raise StepFailure("not_mended", "what this step needs is not there yet")
    trace(config, ctx, DONE)
    return config.value


def kind(body: Body, delivery: Delivery) -> StepSpec:
    return StepSpec(
        kind=f"chaos_{delivery.value}",
        title=delivery.value,
        group="Code",
        icon="bug",
        summary="Leaves traces for the chaos job.",
        config=WorkConfig,
        delivery=delivery,
        body=f"{body.__module__}:{body.__name__}",
    )


KEYED_SPEC = kind(work, Delivery.KEYED)
ONCE_SPEC = kind(work, Delivery.AT_MOST_ONCE)
