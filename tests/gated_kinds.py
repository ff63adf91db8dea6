"""Step kinds whose bodies a test holds by files: it sees that one has begun, and says when it may go on."""

import time
from pathlib import Path
from typing import Any

from steps.base import StepConfig, StepContext, StepFailure
from tests.kinds import kind

POLL_S = 0.01


class GateConfig(StepConfig):
    folder: str
    holds: list[int] = [1]  # the attempts that wait for the file `go`
    fails: list[int] = []


def gate(config: GateConfig, ctx: StepContext) -> dict[str, Any]:
    """Writes the file `<path>.<attempt>` in its folder, waits there for `go`, and says which attempt it was."""
    folder = Path(config.folder)
    (folder / f"{ctx.path}.{ctx.attempt}").touch()
    while ctx.attempt in config.holds and not (folder / "go").exists():
        time.sleep(POLL_S)
    if ctx.attempt in config.fails:
        raise StepFailure("not_this_time", f"attempt {ctx.attempt} was told to fail")
    return {"attempt": ctx.attempt, "fence": ctx.fence, "key": ctx.idempotency_key}


GATE_SPEC = kind(gate, config=GateConfig)
