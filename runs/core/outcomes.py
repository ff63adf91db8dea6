"""How an attempt may end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from runs.core.rows import Stored


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
    input_hash: bytes | None = field(default=None, compare=False)  # where a later step may reuse the output


@dataclass(frozen=True)
class Reused:
    """The body was not called: an earlier step had done the same with the same input."""

    port: str
    output: Stored
    source: Mapping[str, Any]  # {run, number, path}
    input: Any = None


@dataclass(frozen=True)
class Skipped:
    """The node's skip_if said so, before anything else was done."""

    input: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Waits:
    kind: str  # timer, or one of runs.core.questions.ASKED
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
    mode: str = "each"  # runs.core.rows.Items
    tolerated: int = 0
    most: int | None = None  # rounds; else as many as there are items
    gather: str = "list"


@dataclass(frozen=True)
class Again:
    """After a round: whether another one follows."""

    wanted: bool
    at_most: str = "fail"  # fail | end, where no more rounds are left
    input: Any = None


@dataclass(frozen=True)
class Failed:
    error: Error
    input: Any = None


@dataclass(frozen=True)
class TimedOut:
    """A limit of the attempt's passed; the child was told to stop and is gone."""

    limit_s: float
    code: Literal["timed_out", "idle_limit", "total_limit"] = "timed_out"
    input: Any = field(default=None, compare=False)  # as the child had resolved it, where it got so far


@dataclass(frozen=True)
class Crashed:
    """The child ended without an answer (killed, segmentation fault, out of memory), or its worker is dead."""

    detail: str
    input: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Stopped:
    """The worker was told to stop this attempt (cancel, fenced out, drain)."""

    input: Any = field(default=None, compare=False)


Outcome = Succeeded | Reused | Skipped | Waits | Fans | Again | Failed | TimedOut | Crashed | Stopped
