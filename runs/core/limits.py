"""Which limits a step's start is counted under, and whether there is room.

A limit has a name. Nothing stores how much of it is used: that is counted from rows, under the lock of its name, by
whoever wants to start a step (runs/engine/limits.py).

    queue:<lane>              running steps of the lane, in the whole installation
    workspace:<id>            running steps of the workspace
    key:<workspace>:<key>     running steps whose node names this key; with a rate, their starts in a period as well
    workflow:<id>             runs of the workflow that have begun and not ended
    run:<workspace>:<key>     runs that were started with this key, the same way
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

PAUSED = "paused"  # in the place of a limit's name: what is ready waits until its run, which is paused, goes on


def queue_limit(queue: str) -> str:
    return f"queue:{queue}"


def workspace_limit(workspace_id: UUID) -> str:
    return f"workspace:{workspace_id}"


def workflow_limit(workflow_id: UUID) -> str:
    return f"workflow:{workflow_id}"


def key_limit(workspace_id: UUID, key: str) -> str:
    return f"key:{workspace_id}:{key}"


def run_limit(workspace_id: UUID, key: str) -> str:
    return f"run:{workspace_id}:{key}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ready step run that wants to start, and what of its run and node bears on limits."""

    step_run_id: int
    run_id: UUID
    queue: str
    workspace_id: UUID
    workflow_id: UUID
    key: str | None
    key_at_most: int | None
    rate_starts: int | None
    rate_per_s: float | None
    run_key: str | None
    run_at_most: int | None
    has_begun: bool

    @property
    def named(self) -> tuple[str, ...]:
        """The limits that an installation may have set for it."""
        of_step = (queue_limit(self.queue), workspace_limit(self.workspace_id))
        return of_step if self.has_begun else (*of_step, workflow_limit(self.workflow_id))


@dataclass(frozen=True, slots=True)
class Bound:
    """At most `at_most` under this name; with `per_s`, starts in that many seconds, else what runs just now."""

    name: str
    at_most: int
    per_s: float | None = None

    @property
    def holds(self) -> bool:
        """Whether what finds it full waits for it by name. A full lane or workspace is passed over as a whole."""
        return not self.name.startswith(("queue:", "workspace:"))


def bounds_of(candidate: Candidate, set_limits: Mapping[str, int]) -> list[Bound]:
    """Every limit under which the candidate would be counted. A run that has begun is counted already."""
    bounds = [Bound(name, set_limits[name]) for name in candidate.named if name in set_limits]
    if candidate.run_key is not None and candidate.run_at_most is not None and not candidate.has_begun:
        bounds.append(Bound(run_limit(candidate.workspace_id, candidate.run_key), candidate.run_at_most))
    return bounds + key_bounds(candidate)


def key_bounds(candidate: Candidate) -> list[Bound]:
    if candidate.key is None:
        return []
    name = key_limit(candidate.workspace_id, candidate.key)
    bounds = [] if candidate.key_at_most is None else [Bound(name, candidate.key_at_most)]
    if candidate.rate_starts is not None and candidate.rate_per_s is not None:
        bounds.append(Bound(name, candidate.rate_starts, candidate.rate_per_s))
    return bounds


def names_of(bounds: Sequence[Bound]) -> list[str]:
    """What to lock, once each."""
    return sorted({bound.name for bound in bounds})


def room(bounds: Sequence[Bound], used: Sequence[int]) -> int:
    """How many more may start under all of them; never less than 0."""
    return max(0, min((bound.at_most - count for bound, count in zip(bounds, used, strict=True)), default=0))


def first_full(bounds: Sequence[Bound], used: Sequence[int]) -> Bound | None:
    return next((bound for bound, count in zip(bounds, used, strict=True) if count >= bound.at_most), None)
