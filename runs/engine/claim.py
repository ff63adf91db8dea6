"""Claim: the next ready step for a worker, started in the same statement that takes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from kit.failpoints import failpoint
from runs.publish import hint
from runs.store import claim as store
from runs.store.claim import Held
from runs.store.read import Connection


@dataclass(frozen=True)
class Claimed:
    result: Literal["claimed", "empty", "contended"]
    held: Held | None = None


def claim(
    connection: Connection, again: bool = False, *, worker: UUID, claim_id: UUID, queue: str, kinds: Sequence[str]
) -> Claimed:
    """One step for this worker. `again` says that an earlier call with this claim id got no reply: it may have taken a
    step.

    'contended' means that something is ready, but its run was locked just now: try again soon, it is not 'nothing to
    do'.
    """
    earlier = store.claimed(connection, worker=worker, claim_id=claim_id) if again else None
    found = earlier or store.claim(connection, worker=worker, claim_id=claim_id, queue=queue, kinds=kinds)
    if isinstance(found, store.Contended):
        return Claimed("contended")
    if found is None:
        return Claimed("empty")
    failpoint("after_claim")
    hint(found.run_id, workspace_id=found.workspace_id, seq=found.fence, status="running")
    return Claimed("claimed", found)
