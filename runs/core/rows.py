"""What the core knows of the rows: plain data, read under the run's lock, changed here and written by the store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from runs.core.breakpoints import NO_BREAKPOINTS, Breakpoints
from runs.core.states import RunStatus, StepStatus

# Why a step run was skipped, blocked or failed without being run.
UPSTREAM_FAILED = "upstream_failed"
NOT_TAKEN = "not_taken"
SKIP_IF = "skip_if"  # its policy's expression said so
DEADLINE = "deadline"  # of its run
# Why it was cancelled, if no person did it: a join that takes the first went on with another way. No resume opens it.
OUTRUN = "outrun"
FORKED = "forked"  # in an item of a fork that its container has not opened yet
CHILD = "child"  # kind of wait: for a run that the step has started
# By whom a run is paused, besides a person or a breakpoint of its own (None): by the run that waits for it, or by both.
PARENT = "parent"
BOTH = "both"
MOST_NESTED = 10  # runs inside each other, below the first
# Of an at-most-once step: it may have acted, and nobody knows. A person decides, after a cancel and a resume as well.
UNKNOWN_OUTCOME = "unknown_outcome"


@dataclass(slots=True)
class RunRow:
    id: UUID
    status: RunStatus
    generation: int
    event_seq: int
    open_count: int
    running_count: int
    waiting_count: int
    failed_count: int
    succeeded_count: int
    total_count: int
    run_day: Any = None  # date
    workspace_id: UUID | None = None
    version_id: UUID | None = None
    breakpoints: Breakpoints = NO_BREAKPOINTS
    paused_at: tuple[str, ...] = ()  # paths of steps before which a breakpoint stopped the run
    error: dict[str, Any] | None = None  # why it failed, or why it is being stopped
    parent_step_id: int | None = None  # the step run, of another run, that has started this one
    depth: int = 0  # how many runs it lies inside
    paused_by: str | None = None  # of a paused run: PARENT, BOTH, or None where only itself
    # By path, of a run that repeats the effects of another one: of which editions steps are that it makes later.
    editions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stored:
    """A JSON value as it is kept: its text, or the hash of its payload. `body` is the payload's text as long as it is
    not uploaded: the transition that refers to it does that.
    """

    text: str | None = None
    ref: bytes | None = None
    body: str | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class Items:
    """What a container knows of its items."""

    total: int
    cursor: int = 0  # next index that was never opened
    open: int = 0
    failed: int = 0
    window: int = 32
    policy: str = "fail_at_end"  # fail_fast | fail_at_end | continue
    tolerated: int = 0  # so many failed items do not fail the container
    mode: str = "each"  # each: of a list · rounds: one after the other, each asked for · once: a body that may fail
    gather: str = "list"  # its output: a list of what its items gave, or what the last one gave
    reopen: list[int] = field(default_factory=list)  # settled items that a resume will open again, as the window allows

    @property
    def opens_next(self) -> bool:
        """Whether an item that was never opened follows by itself."""
        return self.mode != "rounds" and self.cursor < self.total

    @property
    def settled(self) -> int:
        return self.cursor - self.open - len(self.reopen)


@dataclass(slots=True)
class Row:
    """A step run. `id` is None while its row is not yet inserted."""

    id: int | None
    path: str
    node_id: str
    status: StepStatus
    parent_id: int | None = None
    index: int | None = None
    attempt: int = 0
    tries: int = 0
    crash_count: int = 0
    fence: int | None = None
    worker: UUID | None = None
    claim: UUID | None = None
    edition: int = 1  # of the input; part of the idempotency key
    delivery: str = "at_least_once"
    origin: str = "executed"
    port: str | None = None
    handled: str | None = None
    reason: str | None = None
    wait_kind: str | None = None
    error: dict[str, Any] | None = None
    output: Stored | None = None  # None: keep what the row has
    input: Stored | None = None
    items_json: Stored | None = None
    input_hash: bytes | None = None  # None: keep what the row has, as of the next
    reused_from: Mapping[str, Any] | None = None
    items: Items | None = None
    # set in this transition
    stamps: str = ""  # r: ready now · s: started now · f: finished now · c: its total limit counts anew
    delay_s: float | None = None  # not_before = now + delay_s
    until: str | None = None  # not_before = this moment (ISO 8601), whatever a worker's clock says


@dataclass(frozen=True, slots=True)
class Event:
    seq: int
    type: str
    path: str | None
    attempt: int | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    step_run_id: int
    number: int
    fence: int | None
    worker: UUID | None
    outcome: str  # succeeded | failed | timed_out | lost | cancelled
    error: dict[str, Any] | None
    input: Stored | None


@dataclass(frozen=True, slots=True)
class OpenedWait:
    step_run_id: int
    kind: str
    attempt: int
    data: dict[str, Any]
    expires_s: float | None


@dataclass(frozen=True, slots=True)
class Sent:
    """What a transition tells another run: call_child | stop_child | pause_child | child_done. In order for each step
    run. pause_child has the child look whether its parent is paused now, so it may come late or twice.
    """

    kind: str
    step_run_id: int  # of the step that has, or wants, the child
    data: dict[str, Any]
