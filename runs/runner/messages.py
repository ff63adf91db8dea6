"""What a worker hands to its warm child, and what comes back. JSON values only; each frame carries (step run, fence)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Checkpoint:
    """A partial result inside a body: kind once | partial. It outlives its attempt."""

    key: str
    kind: str
    value: Any


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
    outbound_allow: Sequence[str] = ()
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name -> settings with credentials
    checkpoints: Sequence[Checkpoint] = ()
    output_limit_bytes: int = 16 * 1024 * 1024
    log_limit_bytes: int = 1024 * 1024


@dataclass(frozen=True)
class Error:
    code: str  # 'expression_undefined', 'bad_config', 'crashed', 'timed_out', 'body_raised', a StepFailure's own, ...
    message: str
    retryable: bool = False
    retry_after_s: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Succeeded:
    output: Any
    port: str = "out"
    input: Any = None  # the resolved config


@dataclass(frozen=True)
class Waits:
    kind: str  # timer | approval
    seconds: float | None
    data: Mapping[str, Any]
    output: Any = None
    input: Any = None


@dataclass(frozen=True)
class Fans:
    items: Sequence[Any]
    window: int
    on_item_failure: str
    input: Any = None


@dataclass(frozen=True)
class Failed:
    error: Error
    input: Any = None


@dataclass(frozen=True)
class TimedOut:
    """The attempt's limit passed; the child was told to stop and is gone."""

    limit_s: float


@dataclass(frozen=True)
class Crashed:
    """The child ended without an answer (killed, segmentation fault, out of memory)."""

    detail: str


@dataclass(frozen=True)
class Stopped:
    """The worker was told to stop this attempt (cancel, fenced out, drain)."""


Outcome = Succeeded | Waits | Fans | Failed | TimedOut | Crashed | Stopped
