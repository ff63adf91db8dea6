"""Claim: the next ready step for a worker, started in the same statement that takes it, unless limits count it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from kit.failpoints import failpoint
from runs.engine.limits import Full, start_limited
from runs.publish import hint
from runs.store import claim as store
from runs.store.claim import FIRST, Claim, Held
from runs.store.read import Connection

FULL_AT_MOST = 64  # steps and workspaces without room that one claim looks at; the next one goes on


@dataclass(frozen=True)
class Claimed:
    result: Literal["claimed", "empty", "contended"]
    held: Held | None = None


def claim(
    connection: Connection,
    again: bool = False,
    *,
    worker: UUID,
    claim_id: UUID,
    queue: str,
    kinds: Sequence[str],
    after: UUID = FIRST,
) -> Claimed:
    """One step for this worker. `again` says that an earlier call with this claim id got no reply: it may have taken a
    step. `after` is the workspace that was served last: the others come first.

    'contended' means that something is ready, but its run was locked just now: try again soon, it is not 'nothing to
    do'.
    """
    found = store.claimed(connection, worker=worker, claim_id=claim_id) if again else None
    if found is None:
        taken = _take(connection, Claim(worker, claim_id, queue, kinds, after))
        if not isinstance(taken, Held):
            return Claimed(taken)
        found = taken
    failpoint("after_claim")
    hint(found.run_id, workspace_id=found.workspace_id, seq=found.fence, status="running")
    return Claimed("claimed", found)


def _take(connection: Connection, wanted: Claim) -> Held | Literal["empty", "contended"]:
    for _ in range(FULL_AT_MOST):
        found = store.claim(connection, wanted)
        if isinstance(found, store.Limited):
            started = start_limited(connection, wanted, found)
            if isinstance(started, Held):
                return started
            if isinstance(started, Full):
                if started.bound.name.startswith("queue:"):
                    return "empty"
                if started.bound.name.startswith("workspace:"):
                    wanted = replace(wanted, full=(*wanted.full, started.candidate.workspace_id))
                continue
            return "contended"
        if isinstance(found, store.Contended):
            return "contended"
        return "empty" if found is None else found
    return "contended"
