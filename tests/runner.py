"""What the runner's tests share: a job in one line, and a child whose callbacks write down what they hear."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runs.runner.messages import Checkpoint, Job, Outcome
from runs.runner.spawner import Spawner
from runs.runner.warm import Child

os.environ["PAWL_EXTRA_STEPS"] = (
    "tests.kinds,tests.harmful_kinds,tests.keeping_kinds"  # before the first launcher starts
)


def job(kind: str, value: Any = None, **changes: Any) -> Job:
    """A job of the test kind `kind` (tests/kinds.py)."""
    fields: dict[str, Any] = {
        "run_id": "01900000-0000-7000-8000-000000000000",
        "step_run_id": 11,
        "path": "step",
        "attempt": 1,
        "fence": 5,
        "kind": f"test_{kind}",
        "config": {"value": value},
        "scope": {"run": {"id": "r", "number": 1, "input": {}}, "steps": {}},
        "idempotency_key": "key",
        "limit_s": 30.0,
        "storage_root": "/storage",
        **changes,
    }
    return Job(**fields)


@dataclass
class Bench:
    """A child, and what came out of it."""

    child: Child
    logs: list[str] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    progress: list[tuple[float, float | None, str]] = field(default_factory=list)
    cursors: list[tuple[str, Any]] = field(default_factory=list)
    should_stop: Callable[[], bool] = lambda: False

    def run(self, kind: str, value: Any = None, **changes: Any) -> Outcome:
        return self.run_job(job(kind, value, **changes))

    def run_job(self, job: Job) -> Outcome:
        return self.child.run(
            job,
            on_checkpoint=lambda kind, key, value: self.checkpoints.append(Checkpoint(key, kind, value)),
            on_log=self.logs.append,
            on_progress=lambda done, total, text: self.progress.append((done, total, text)),
            on_cursor=lambda name, position: self.cursors.append((name, position)),
            should_stop=self.should_stop,
        )

    @property
    def log(self) -> str:
        return "".join(self.logs)


@contextmanager
def bench(**settings: Any) -> Iterator[Bench]:
    spawner = Spawner(**settings)
    child = Child(spawner)
    try:
        yield Bench(child)
    finally:
        child.close()
        spawner.close()


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(claim: Callable[[], bool], *, limit_s: float) -> float:
    """Seconds until the claim held. Fails where it never did."""
    began = time.monotonic()
    while not claim():
        assert time.monotonic() - began < limit_s, f"not within {limit_s} s"
        time.sleep(0.01)
    return time.monotonic() - began
