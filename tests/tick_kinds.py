"""Step kinds that count from outside what was really executed: for PAWL_EXTRA_STEPS."""

import os
import time
from pathlib import Path
from typing import Any

from steps.base import Delivery, StepConfig, StepContext, StepFailure
from tests.kinds import kind


class TickConfig(StepConfig):
    folder: str
    value: Any = None
    name: str = ""  # of the counter; the step's path, if empty
    fails: list[int] = []  # the attempts that fail
    retryable: bool = False
    sleep_s: float = 0.0


def tick(config: TickConfig, ctx: StepContext) -> Any:
    """Adds a line to the file `ticks`, whole even where two do so at once; then gives its value, or fails."""
    file = os.open(Path(config.folder) / "ticks", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{config.name or ctx.path}\n".encode())
    os.close(file)
    time.sleep(config.sleep_s)
    if ctx.attempt in config.fails:
        raise StepFailure("not_this_time", f"attempt {ctx.attempt} was told to fail", retryable=config.retryable)
    return config.value


TICK_SPEC = kind(tick, config=TickConfig, delivery=Delivery.KEYED)


class NapConfig(StepConfig):
    sleep_s: float


def nap(config: NapConfig, ctx: StepContext) -> None:
    time.sleep(config.sleep_s)


NAP_SPEC = kind(nap, config=NapConfig)
