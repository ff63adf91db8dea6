"""What a worker hands to its warm child, and what comes back. JSON values only; frames carry (step run, fence)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.core.outcomes import (
    Again,
    Crashed,
    Error,
    Failed,
    Fans,
    Outcome,
    Reused,
    Skipped,
    Stopped,
    Succeeded,
    TimedOut,
    Waits,
)


@dataclass(frozen=True)
class Checkpoint:
    """What an attempt kept while it ran: kind once | partial | cursor | act. It outlives its attempt."""

    key: str
    kind: str
    value: Any
    attempt: int = 0


@dataclass(frozen=True)
class Previous:
    """How the attempt before this one ended."""

    number: int
    outcome: str  # failed | timed_out | lost | cancelled
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Job:
    """One attempt of one step run."""

    run_id: str
    step_run_id: int
    path: str
    attempt: int
    fence: int
    kind: str
    config: Mapping[str, Any]  # raw: expressions not yet evaluated
    scope: Mapping[str, Any]  # what expressions may read
    idempotency_key: str
    limit_s: float  # of the body's wall clock
    storage_root: str
    idle_limit_s: float | None = None  # without a sign of the body: log, checkpoint, progress
    total_limit_s: float | None = None  # of all attempts together, and what is left of it
    total_left_s: float | None = None
    skip_if: str | None = None  # an expression that is looked at before anything else
    outbound_allow: Sequence[str] = ()
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name -> settings with credentials
    checkpoints: Sequence[Checkpoint] = ()
    previous: Previous | None = None
    output_limit_bytes: int = 16 * 1024 * 1024
    log_limit_bytes: int = 1024 * 1024
    asks_reuse: bool = False  # the body begins only where no earlier result may be taken
    is_resolved: bool = False  # a person gave the config: nothing in it is an expression any more
    artifact_root: str = "/nonexistent"  # the workspace's folder of artifacts
    artifact_limit_bytes: int = 0


__all__ = [
    "Again", "Checkpoint", "Crashed", "Error", "Failed", "Fans", "Job", "Outcome", "Previous", "Reused", "Skipped",
    "Stopped",
    "Succeeded",
    "TimedOut", "Waits",
]  # fmt: skip
