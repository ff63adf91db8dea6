"""Finish and advance: the attempt's result, what follows from it, and the worker's next step, in one commit.

Two round trips: the first begins, locks the run and reads the step's siblings; the second writes and commits. A worker
that goes on with the same run needs only the second, while nobody else changes the run. The fence
is compared under the lock: a result of an attempt that is no longer the present one is refused and changes nothing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import psycopg

from kit.failpoints import failpoint
from runs.core.advance import propagate
from runs.core.outcomes import Fans, Outcome, Succeeded, Waits
from runs.core.rows import Row, Stored
from runs.core.settle import settle_attempt
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import ScopeKey, Transition
from runs.engine.definitions import definition_of
from runs.engine.transact import Told, told_by
from runs.payloads import KEEP_PAYLOAD, stored
from runs.store.claim import Held, claimed
from runs.store.read import (
    LOCK_RUN,
    LOCK_RUN_AS_KNOWN,
    NOT_AS_EXPECTED,
    READ_ITEM,
    READ_ROW,
    READ_TOP,
    Connection,
    Rows,
    run_row,
    step_row,
)
from runs.store.write import write


@dataclass(frozen=True)
class Wish:
    """That the worker would take a next step of the same run, and which ones it may take."""

    worker: UUID
    claim: UUID  # made by the worker, so that a lost reply can be asked again
    queues: Collection[str]
    kinds: Collection[str]


@dataclass(frozen=True)
class Finished:
    result: Literal["committed", "already", "fenced_out"]
    next: Held | None = None
    told: Told | None = None
    size: int = 0  # characters of the output's JSON
    known: Transition | None = None  # for the next finish of the same run by the same thread


@dataclass(frozen=True)
class Kept:
    """An outcome whose values are already where they will stay."""

    outcome: Outcome
    output: Stored | None = None
    input: Stored | None = None
    size: int = 0  # characters of the output's JSON


def keep_values(connection: Connection, outcome: Outcome) -> Kept:
    """Uploads what is too large for a row, before the transaction that refers to it (so no reference ever dangles).

    Raises NotJson where a value cannot be kept.
    """
    output = input_ = None
    size = 0
    if isinstance(outcome, Succeeded | Waits):
        output, size = _keep(connection, outcome.output)
    elif isinstance(outcome, Fans):
        output, size = _keep(connection, list(outcome.items))
    resolved = getattr(outcome, "input", None)
    if resolved is not None and not isinstance(outcome, Fans):
        input_, _ = _keep(connection, resolved)
    return Kept(outcome, output, input_, size)


def _keep(connection: Connection, value: Any) -> tuple[Stored, int]:
    where, text = stored(value)
    if text is None:
        return where, len(where.text or "")
    connection.execute(KEEP_PAYLOAD, (where.ref, text, len(text)))
    failpoint("after_upload")
    return where, len(text)


def finish(
    connection: Connection, held: Held, kept: Kept, *, wish: Wish | None, jitter: float, known: Transition | None = None
) -> Finished:
    """Writes the outcome of an attempt. `connection` is in autocommit mode and outside a transaction.

    `known` is what this worker's last transition of the same run left behind: where nobody has changed the run since,
    one round trip is enough. May be called again (without `known`) after any database error: a result that was
    committed is answered with 'already', together with the next step that was taken with it.
    """
    key: ScopeKey = (held.parent_id, held.item_index)
    if known is not None and known.run.id == held.run_id and known.knows(key):
        finished = _finish_as_known(connection, known, held, kept=kept, wish=wish, jitter=jitter)
        if finished is not None:
            return finished
    tx = _begin(connection, held, key)
    row = tx.scope(key)[held.node_id]
    if row.fence != held.fence or row.status is not StepStatus.RUNNING:
        connection.execute("ROLLBACK")
        return _too_late(connection, held, row, wish=wish)
    taken = _advance(tx, row, kept, wish=wish, jitter=jitter)
    failpoint("in_finish")
    with connection.pipeline():
        name_opened = write(connection, tx)
        connection.execute("COMMIT")
    name_opened()
    return _finished(tx, held, taken, size=kept.size)


def _begin(connection: Connection, held: Held, key: ScopeKey) -> Transition:
    """Begins, locks the run, and reads the step's siblings (and the container around them), in one round trip."""
    with connection.pipeline() as pipeline:
        connection.execute("BEGIN")
        locked = connection.execute(LOCK_RUN, (held.run_id,))
        siblings = connection.execute(*_read_scope(held))
        container = connection.execute(READ_ROW, (held.parent_id,)) if held.parent_id is not None else None
        pipeline.sync()
        run_values = locked.fetchone()
        rows = [step_row(values) for values in siblings.fetchall()]
    assert run_values is not None, "a run is never deleted while a step of it is held"
    definition = definition_of(connection, held.version_id)
    tx = Transition(definition, run_row(run_values), Rows(connection, held.run_id), actor="system")
    if container is not None:
        tx.add_known(step_row(container.fetchone() or ()))
    tx.adopt(rows, key)
    return tx


def _finish_as_known(
    connection: Connection, tx: Transition, held: Held, *, kept: Kept, wish: Wish | None, jitter: float
) -> Finished | None:
    """Decides from what is known and commits in one round trip, if the run's event number is still the known one.

    Every transition of a run raises that number under the run's lock, so the same number means the same rows. None
    where the run has moved on: nothing is written, and what was known is of no use any more.
    """
    row = tx.scope((held.parent_id, held.item_index))[held.node_id]
    taken = _advance(tx, row, kept, wish=wish, jitter=jitter)
    failpoint("in_finish")
    try:
        with connection.pipeline():
            connection.execute("BEGIN")
            connection.execute(LOCK_RUN_AS_KNOWN, (held.run_id, str(tx.first_seq)))
            name_opened = write(connection, tx)
            connection.execute("COMMIT")
    except psycopg.DatabaseError as error:
        if error.sqlstate != NOT_AS_EXPECTED:
            raise
        connection.execute("ROLLBACK")
        return None
    name_opened()
    return _finished(tx, held, taken, size=kept.size)


def _advance(tx: Transition, row: Row, kept: Kept, *, wish: Wish | None, jitter: float) -> Row | None:
    """Settles the attempt, lets the rules decide what follows, and takes the worker's next step."""
    row.input = kept.input
    settle_attempt(tx, row, kept.outcome, output=kept.output, jitter=jitter)
    propagate(tx, (row.parent_id, row.index))
    return _take_next(tx, wish)


def _finished(tx: Transition, held: Held, taken: Row | None, *, size: int) -> Finished:
    failpoint("after_finish")
    told = told_by(tx)
    following = _held(held, taken) if taken is not None else None
    goes_on = tx.carry_on() and following is not None
    return Finished("committed", following, told, size, tx if goes_on else None)


def _read_scope(held: Held) -> tuple[Any, Sequence[Any]]:
    if held.parent_id is None:
        return READ_TOP, (held.run_id,)
    return READ_ITEM, (held.parent_id, held.item_index)


def _too_late(connection: Connection, held: Held, row: Row, *, wish: Wish | None) -> Finished:
    """Either this very result was committed and the reply lost, or another attempt owns the step."""
    if row.fence == held.fence and row.status is not StepStatus.CANCELLED:
        taken = claimed(connection, worker=wish.worker, claim_id=wish.claim) if wish else None
        return Finished("already", taken)
    return Finished("fenced_out")


def _take_next(tx: Transition, wish: Wish | None) -> Row | None:
    """One of the steps that this transaction made ready, for the worker that asked."""
    if wish is None or tx.run.status is not RunStatus.RUNNING:
        return None
    for row in tx.readied:
        node = tx.node(row)
        if (
            row.status is StepStatus.READY
            and not row.delay_s
            and node.policy.queue in wish.queues
            and node.kind in wish.kinds
        ):
            tx.claim(row, worker=wish.worker, claim=wish.claim)
            return row
    return None


def _held(held: Held, row: Row) -> Held:
    assert row.id is not None
    assert row.fence is not None
    assert row.claim is not None
    return Held(
        row.id, held.run_id, held.run_number, held.workspace_id, held.version_id, row.path, row.node_id,
        row.parent_id, row.index, row.attempt, row.fence, row.edition, row.claim,
    )  # fmt: skip
