"""The sweeper's work: whatever nobody else would notice. Any number of sweepers, no leader.

Each scan is bounded; each row is acted on in a transaction of its own that takes the run's row without waiting and
looks again under the lock, so that two sweepers, or a sweeper and a worker, never do the same thing twice.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kit.clock import monotonic_s
from kit.failpoints import failpoint
from runs.core.advance import cancel_row, propagate
from runs.core.commands import expire, recompute, retry_due, timer_due
from runs.core.control import pass_deadline
from runs.core.rows import Row
from runs.core.settle import crash
from runs.core.standstill import standing_still
from runs.core.states import FINAL_RUNS, RunStatus, StepStatus
from runs.core.time_limits import queue_limit_passed, total_limit_passed
from runs.core.transition import Transition
from runs.dispatch import wake
from runs.engine import limits
from runs.engine.children import Turns, deliver
from runs.engine.definitions import definition_of
from runs.engine.stuck import Looks, stuck_runs
from runs.engine.transact import told_by
from runs.engine.wait import unanswered
from runs.store import fleet, looks, outbox
from runs.store.read import RUN_COLUMNS, Connection, Rows, run_row
from runs.store.write import write

BATCH = 200
# Other hosts: a worker is dead when it was not heard for this long, and PostgreSQL and this sweeper were up all the
# while.
SILENCE_S = 12.0
STUCK_EVERY_S = 5.0  # a defect, which must never happen: the only look that reads every open run, or what lies aside

TRY_LOCK_RUN = f"SELECT {RUN_COLUMNS} FROM runs_run WHERE id = %s FOR UPDATE SKIP LOCKED"
IS_DUE = """SELECT status, wait_kind, not_before <= statement_timestamp() FROM runs_steprun WHERE id = %s"""
# An attempt that runs is ended by its worker; while its run is paused no limit passes.
BETWEEN_ATTEMPTS = (StepStatus.READY, StepStatus.RETRY_WAIT, StepStatus.WAITING)
IS_OVER_LIMIT = """SELECT status, total_until <= statement_timestamp(), total_limit_s,
    queue_until <= statement_timestamp(), queue_limit_s FROM runs_steprun WHERE id = %s"""
IS_OVERDUE = "SELECT deadline_s FROM runs_run WHERE id = %s AND deadline_at <= statement_timestamp()"
IS_EXPIRED = """SELECT id, data FROM runs_wait
    WHERE step_run_id = %s AND status = 'open' AND expires_at <= statement_timestamp()"""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Swept:
    """How much each scan found, for the log."""

    buried: int
    recovered: int
    due: int
    expired: int
    delivered: int
    overdue: int
    let_go: int
    over_limit: int
    woken: int
    stuck: int


@contextmanager
def _on_run(connection: Connection, run_id: UUID) -> Iterator[Transition | None]:
    """A transition on a run whose lock is free, written and committed at the end; None where somebody else holds it."""
    told = None
    with connection.transaction():
        values = connection.execute(TRY_LOCK_RUN, (run_id,)).fetchone()
        if values is None:
            yield None
            return
        run = run_row(values)
        assert run.version_id is not None
        definition = definition_of(connection, run.version_id)
        tx = Transition(definition, run, Rows(connection, run_id), actor="sweeper")
        yield tx
        if tx.events:
            failpoint("in_sweep")
            write(connection, tx)
            told = told_by(tx)
    if told is not None:
        told.announce()


def _row(tx: Transition, step_run_id: int) -> Row:
    row = tx.add_known(tx.loader.row(step_run_id))
    return tx.scope((row.parent_id, row.index))[row.node_id]


def recover(connection: Connection, run_id: UUID, *, step_run_id: int, fence: int, detail: str) -> bool:
    """Ends an attempt whose worker will not: it is dead, or never heard that it had claimed. False where it ended
    meanwhile.
    """
    with _on_run(connection, run_id) as tx:
        if tx is None:
            return False
        row = _row(tx, step_run_id)
        if row.status is not StepStatus.RUNNING or row.fence != fence:
            return False
        if tx.run.status is RunStatus.CANCELLING:
            cancel_row(tx, row)
        else:
            crash(tx, row, detail)
        row.fence = None  # whatever that attempt still writes is refused
        propagate(tx, (row.parent_id, row.index))
        return True


def _each(connection: Connection, rows: Iterable[tuple[Any, ...]], act: Callable[..., bool]) -> int:
    """Acts on each row, and says on how many it did. One that cannot be acted on must not keep all others waiting."""
    done = 0
    for row in rows:
        try:
            done += act(*row)
        except Exception:
            if connection.closed:  # not this row's fault
                raise
            logger.exception("the sweeper could not act on %s", row)
    return done


def recover_dead(connection: Connection) -> int:
    def act(step_run_id: int, run_id: UUID, fence: int) -> bool:
        detail = "The worker that ran this step is gone."
        return recover(connection, run_id, step_run_id=step_run_id, fence=fence, detail=detail)

    return _each(connection, connection.execute(fleet.HELD_BY_DEAD, (BATCH,)).fetchall(), act)


def bury_dead(
    connection: Connection,
    *,
    contact_s: float,
    is_gone: Callable[[fleet.WorkerIdentity], bool | None],
    alive: Sequence[tuple[Any, ...]] | None = None,
) -> int:
    """Declares workers dead: those of this host whose process is gone (`is_gone` tells), at once; others by their
    silence. So it is for a process that is still there and frozen. `alive` is what fleet.ALIVE has just answered.
    """
    buried = 0
    rows = connection.execute(fleet.ALIVE).fetchall() if alive is None else alive
    for id_, boot_id, namespace, pid, started, silent_s in rows:
        gone = is_gone(fleet.WorkerIdentity(id_, "", boot_id, namespace, pid, started))
        is_silent = float(silent_s) > SILENCE_S and contact_s > SILENCE_S
        if (gone or is_silent) and fleet.bury(connection, id_):
            logger.warning("worker %s is dead", id_)
            buried += 1
    return buried


def due(connection: Connection) -> int:
    """Timers that ran out, and retries whose time has come."""

    def act(step_run_id: int, run_id: UUID, _: str) -> bool:
        with _on_run(connection, run_id) as tx:
            if tx is None or tx.run.status is not RunStatus.RUNNING:
                return False
            status, wait_kind, is_due = connection.execute(IS_DUE, (step_run_id,)).fetchone() or (None, None, False)
            if is_due and status == StepStatus.RETRY_WAIT:
                retry_due(tx, _row(tx, step_run_id))
            elif is_due and status == StepStatus.WAITING and wait_kind == "timer":
                timer_due(tx, _row(tx, step_run_id))
            else:
                return False
            return True

    return _each(connection, connection.execute(fleet.DUE, (BATCH,)).fetchall(), act)


def expire_waits(connection: Connection) -> int:
    def act(step_run_id: int, run_id: UUID) -> bool:
        with _on_run(connection, run_id) as tx:
            if tx is None:
                return False
            found = connection.execute(IS_EXPIRED, (step_run_id,)).fetchone()
            if found is None:
                return False
            expire(tx, _row(tx, step_run_id), rejected=unanswered(connection, *found))
            return True

    return _each(connection, connection.execute(fleet.EXPIRED_WAITS, (BATCH,)).fetchall(), act)


def fail_over_limit(connection: Connection) -> int:
    """Steps that waited too long for a worker, and those whose attempts together took too long, between two of them."""

    def act(step_run_id: int, run_id: UUID) -> bool:
        with _on_run(connection, run_id) as tx:
            if tx is None or tx.run.status is not RunStatus.RUNNING:
                return False
            found = connection.execute(IS_OVER_LIMIT, (step_run_id,)).fetchone()
            status, is_total_over, total_s, is_queue_over, queue_s = found or (None, False, 0.0, False, 0.0)
            if is_total_over and status in BETWEEN_ATTEMPTS:
                total_limit_passed(tx, _row(tx, step_run_id), limit_s=total_s)
            elif is_queue_over and status == StepStatus.READY:
                queue_limit_passed(tx, _row(tx, step_run_id), limit_s=queue_s)
            else:
                return False
            return True

    found = [
        row for scan in (fleet.TOTAL_OVER, fleet.QUEUE_OVER) for row in connection.execute(scan, (BATCH,)).fetchall()
    ]
    return _each(connection, found, act)


def stop_overdue(connection: Connection) -> int:
    """Runs whose deadline has passed: stopped, and failed as soon as what runs has ended."""

    def act(run_id: UUID) -> bool:
        with _on_run(connection, run_id) as tx:
            if tx is None or tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
                return False
            found = connection.execute(IS_OVERDUE, (run_id,)).fetchone()
            if found is None:  # resumed meanwhile, with as much time again
                return False
            pass_deadline(tx, deadline_s=found[0])
            return True

    return _each(connection, connection.execute(fleet.OVERDUE, (BATCH,)).fetchall(), act)


def wake_unclaimed(connection: Connection) -> int:
    """Ready work that nobody took: its wake-up was lost, or every worker is busy (then the message is one too many)."""
    lanes = connection.execute(fleet.UNCLAIMED, (BATCH,)).fetchall()
    for queue, steps in lanes:
        wake(queue, steps=steps)
    return sum(steps for _, steps in lanes)


def unstick(connection: Connection, standing: Looks | None = None) -> int:
    """Runs that are open although something of theirs will never go on, in a container too: a defect. Decided anew, and
    told loudly; how many.
    """

    def act(run_id: UUID) -> bool:
        with _on_run(connection, run_id) as tx:
            if tx is None or tx.run.status in FINAL_RUNS:
                return False
            still = standing_still(tx.run.status, tx.loader.open_rows())
            if still:
                logger.error("run %s is stuck: nothing will ever decide %s", run_id, still[:10])
                recompute(tx)
            return bool(still)

    def hear(step_run_id: int, run_id: UUID, child_id: UUID | None) -> bool:
        logger.error("run %s is stuck: step run %s waits for a run that tells it nothing", run_id, step_run_id)
        return child_id is not None and connection.execute(outbox.AGAIN, (step_run_id, child_id)).rowcount == 1

    suspects = stuck_runs(connection, standing or Looks(is_first_look_enough=True))
    return _each(connection, suspects.runs, act) + _each(connection, suspects.waiting, hear)


@dataclass
class Memory:
    """What one sweeper keeps between its sweeps: where the last look at limits ended, whose post was delivered last,
    which runs it has seen standing, and when.
    """

    held: limits.Rounds = field(default_factory=limits.Rounds)
    turns: Turns = field(default_factory=Turns)
    standing: Looks = field(default_factory=lambda: Looks(is_first_look_enough=True))
    looked_for_stuck_at: float | None = None

    def is_time_for_stuck(self) -> bool:
        now = monotonic_s()
        if self.looked_for_stuck_at is not None and now - self.looked_for_stuck_at < STUCK_EVERY_S:
            return False
        self.looked_for_stuck_at = now
        return True


def sweep(
    connection: Connection,
    *,
    sweeper: UUID,
    host: str,
    is_gone: Callable[[fleet.WorkerIdentity], bool | None],
    memory: Memory | None = None,
) -> Swept:
    """One look, and each scan for which it found something. `connection` is in autocommit mode."""
    memory = memory or Memory()
    seen = looks.look(connection, sweeper=sweeper, host=host)
    buried = bury_dead(connection, contact_s=seen.contact_s, is_gone=is_gone, alive=seen.alive)

    is_round = memory.is_time_for_stuck()

    def act(*names: str, scan: Callable[[], int]) -> int:
        return scan() if not seen.wanted.isdisjoint(names) else 0

    # What lies aside does so as long as its run is paused. That it still does when the run goes on is a defect as well.
    held = ("held", "starts", "aside") if is_round else ("held", "starts")

    return Swept(
        buried=buried,
        recovered=recover_dead(connection) if buried else act("dead", scan=lambda: recover_dead(connection)),
        due=act("due", scan=lambda: due(connection)),
        expired=act("expired", scan=lambda: expire_waits(connection)),
        delivered=act("post", scan=lambda: deliver(connection, turns=memory.turns)),
        overdue=act("overdue", scan=lambda: stop_overdue(connection)),
        let_go=act(*held, scan=lambda: limits.let_all_go(connection, memory.held)),
        over_limit=act("over_limit", scan=lambda: fail_over_limit(connection)),
        woken=act("unclaimed", scan=lambda: wake_unclaimed(connection)),
        stuck=unstick(connection, memory.standing) if is_round else 0,
    )
