"""Starts a step that is counted under limits, or holds it back; and lets go what was held as room comes.

The one place where such a step starts: a claim that meets one comes here, a finish takes none along. Under the locks of
its limits' names, so that two starts never count the same room. Who finds a limit full holds no worker: the step run is
marked with the limit's name and leaves the index that claims read. Room comes back when something ends, and by time;
whoever ended it lets go, and the sweeper looks at every name once a second, since anybody may die before that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.failpoints import failpoint
from runs.core.limits import (
    PAUSED,
    Bound,
    Candidate,
    bounds_of,
    first_full,
    key_bounds,
    key_limit,
    names_of,
    room,
    run_limit,
    workflow_limit,
)
from runs.dispatch import wake
from runs.store import limits as store
from runs.store.claim import Claim, Held, Limited
from runs.store.read import Connection

NAMES_AT_ONCE = 500  # of a sweep


@dataclass(frozen=True)
class Full:
    """A limit had no room. What the claim found is held, or its whole lane or workspace is to be passed over."""

    bound: Bound
    candidate: Candidate


def start_limited(connection: Connection, wanted: Claim, found: Limited) -> Held | Full | None:
    """None where somebody else took the step or its run meanwhile. `connection` is outside a transaction."""
    values: dict[str, Any] = {"step": found.step_run_id, "worker": wanted.worker, "kinds": list(wanted.kinds)}
    with connection.transaction():
        row = connection.execute(store.LOCK_CANDIDATE, values).fetchone()
        if row is None:
            return None
        candidate = store.candidate_of(row)
        bounds = bounds_of(candidate, store.set_limits(connection, candidate))
        lock_names(connection, names_of(bounds))
        full = first_full(bounds, store.count(connection, bounds, candidate))
        failpoint("limits_counted")
        if full is None:
            return _start(connection, wanted, candidate=candidate, bounds=bounds)
        if full.holds:
            _hold(connection, full, candidate)
        return Full(full, candidate)


def lock_names(connection: Connection, names: Sequence[str]) -> None:
    connection.execute(store.LOCK_NAMES, (list(names),))


def _start(connection: Connection, wanted: Claim, *, candidate: Candidate, bounds: Sequence[Bound]) -> Held:
    rates = [bound for bound in bounds if bound.per_s is not None]
    counts_runs = any(bound.name.startswith(("workflow:", "run:")) for bound in bounds)
    values = {
        "step": candidate.step_run_id, "run": candidate.run_id, "worker": wanted.worker, "claim": wanted.id,
        "rates": [bound.name for bound in rates], "periods": [bound.per_s for bound in rates], "begins": counts_runs,
    }  # fmt: skip
    started = connection.execute(store.START, values).fetchone()
    assert started is not None, "both rows are locked"
    return Held(*started)


def _hold(connection: Connection, full: Bound, candidate: Candidate) -> None:
    key = candidate.key if full in key_bounds(candidate) else None
    values = {
        "name": full.name, "step": candidate.step_run_id, "workspace": candidate.workspace_id, "key": key,
    }  # fmt: skip
    connection.execute(store.HOLD, values)


# ---------------------------------------------------------------------- room comes back


def let_go(connection: Connection, name: str) -> int:
    """Lets as many go as have room, the first in turn first, and wakes their lanes; how many. Whoever then wants to
    start counts again, so one too many does no harm.
    """
    row = connection.execute(store.FIRST_HELD, (name,)).fetchone()
    if row is None:
        return 0
    candidate = store.candidate_of(row)
    bounds = [bound for bound in bounds_of(candidate, store.set_limits(connection, candidate)) if bound.name == name]
    # A limit that is set no more, or no longer counts this run, keeps nothing back.
    free = room(bounds, store.count(connection, bounds, candidate)) if bounds else NAMES_AT_ONCE
    if not free:
        return 0
    freed = connection.execute(store.LET_GO, (name, free)).fetchall()
    for queue in {queue for (queue,) in freed}:
        wake(queue, steps=len(freed))
    return len(freed)


def after_step(connection: Connection, held: Held, key: str) -> None:
    let_go(connection, key_limit(held.workspace_id, key))


def after_run(connection: Connection, held: Held) -> None:
    """The run has ended: another one may begin."""
    row = connection.execute("SELECT workflow_id, limit_key FROM runs_run WHERE id = %s", (held.run_id,)).fetchone()
    if row is None:
        return
    let_go(connection, workflow_limit(row[0]))
    if row[1] is not None:
        let_go(connection, run_limit(held.workspace_id, row[1]))


@dataclass
class Rounds:
    """Where a sweeper's next look at the names goes on, and at what paused runs hold; from the first one at first."""

    after: str = ""
    after_step: int = 0


def let_all_go(connection: Connection, rounds: Rounds) -> int:
    """Looks at a number of the names by which something is held; how many step runs went. Forgets old starts."""
    rows = connection.execute(store.HELD_NAMES, {"after": rounds.after, "limit": NAMES_AT_ONCE}).fetchall()
    names = [name for (name,) in rows]
    rounds.after = names[-1] if len(names) == NAMES_AT_ONCE else ""
    connection.execute(store.FORGET)
    return sum(let_go(connection, name) if name != PAUSED else _bring_back(connection, rounds) for name in names)


def _bring_back(connection: Connection, rounds: Rounds) -> int:
    values = {"after": rounds.after_step, "limit": NAMES_AT_ONCE}
    back, looked, last = connection.execute(store.BRING_BACK, values).fetchone() or (0, 0, 0)
    rounds.after_step = int(last) if looked == NAMES_AT_ONCE else 0
    return int(back)


# ---------------------------------------------------------------------- what an installation sets


def set_limit(
    connection: Connection, name: str, at_most: int | None, *, workspace_id: UUID | None = None, actor: str
) -> int | None:
    """Sets, changes or (None) takes away a limit of a lane, a workspace or a workflow's runs; what it was before. What
    runs by then goes on; workers' finishes know of it within a heartbeat. The same again changes nothing, not even who
    set it and when.
    """
    with connection.transaction():
        lock_names(connection, [name])  # two who set it come one after the other, so each is told the other's number
        found = connection.execute("SELECT at_most FROM runs_limit WHERE name = %s", (name,)).fetchone()
        before: int | None = found[0] if found else None
        if at_most == before:
            return before
        if at_most is None:
            connection.execute("DELETE FROM runs_limit WHERE name = %s", (name,))
        else:
            connection.execute(store.SET, (name, workspace_id, at_most, actor))
        return before
