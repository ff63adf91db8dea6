"""A transition's begin, with the run locked, and what is told to others after its commit."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from kit.errors import NotFound
from kit.failpoints import failpoint
from runs.core.transition import Transition
from runs.dispatch import wake
from runs.engine.definitions import definition_of
from runs.publish import hint
from runs.store.read import Connection, Rows, lock_run


class RunNotFound(NotFound):
    code = "run_not_found"


@dataclass(frozen=True)
class Told:
    """What others must hear once the transaction is committed."""

    run_id: UUID
    workspace_id: UUID | None
    seq: int
    status: str
    ready: tuple[tuple[str, int], ...]  # (lane, how many steps became ready there)
    has_post: bool = False  # whether another run must hear of it; whoever can delivers it now, else a sweeper

    def announce(self) -> None:
        """Never raises, and nothing depends on it (promise P5)."""
        failpoint("before_wake")
        for queue, steps in self.ready:
            wake(queue, steps=steps)
        hint(self.run_id, workspace_id=self.workspace_id, seq=self.seq, status=self.status)


def told_by(tx: Transition) -> Told:
    ready = [tx.node(row).policy.queue for row in tx.readied if not row.delay_s]
    lanes = Counter(ready) if ready else {}  # in a chain the next step is started at once, and none is ready
    run = tx.run
    return Told(
        run.id, run.workspace_id, run.event_seq, run.status.value, tuple(lanes.items()), has_post=bool(tx.outbox)
    )


def begin(connection: Connection, run_id: UUID, *, actor: str) -> Transition:
    """Locks the run and opens a transition on it. Raises RunNotFound."""
    run = lock_run(connection, run_id)
    if run is None or run.version_id is None:
        raise RunNotFound("There is no such run.")
    return Transition(definition_of(connection, run.version_id), run, Rows(connection, run_id), actor=actor)
