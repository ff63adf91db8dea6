"""Finish and advance: attempts' results, what follows from them, and the workers' next steps, in one commit.

Two round trips: the first begins, locks the run and reads the steps' siblings; the second writes and commits. A worker
process that goes on with the same run needs only the second, while nobody else changes the run. Several results of one
run may be finished together: they would only wait for each other's commits. Fences are compared under the lock: a
result of an attempt that is no longer the present one is refused and changes nothing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

import psycopg

from kit.failpoints import failpoint
from runs.core.advance import propagate
from runs.core.limits import queue_limit, workspace_limit
from runs.core.outcomes import Error, Failed, Fans, Outcome, Reused, Succeeded, Waits
from runs.core.rows import Row, Stored
from runs.core.settle import settle_attempt
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import ScopeKey, Transition
from runs.engine.definitions import definition_of
from runs.engine.transact import Told, told_by
from runs.payloads import KEEP_PAYLOAD, NotJson, stored
from runs.store.claim import Held, claimed
from runs.store.read import (
    LOCK_RUN,
    NOT_AS_EXPECTED,
    READ_CHANGED,
    READ_ITEM,
    READ_READY,
    READ_ROW,
    READ_TOP,
    Connection,
    Rows,
    run_row,
    step_row,
)
from runs.store.write import ClaimerIsDead, write


@dataclass(frozen=True)
class Wish:
    """That the worker would take a next step of the same run, and which ones it may take."""

    worker: UUID
    claim: UUID  # made by the worker, so that a lost reply can be asked again
    queues: Collection[str]
    kinds: Collection[str]
    limited: Collection[str] = ()  # names of limits of lanes and workspaces: their steps take a claim of their own


@dataclass(frozen=True)
class Finished:
    """What became of one result. `told` comes with one of those that shared a commit."""

    result: Literal["committed", "already", "fenced_out"]
    next: Held | None = None
    told: Told | None = None


@dataclass(frozen=True)
class Done:
    """What became of results that were finished together, in their order; and what the process now knows of the run."""

    results: list[Finished]
    given: list[Held | None]  # to threads that had nothing to do, one for each of their wishes
    known: Transition | None = None


@dataclass(frozen=True)
class Kept:
    """An outcome whose values are already where they will stay."""

    outcome: Outcome
    output: Stored | None = None
    input: Stored | None = None
    input_hash: bytes | None = None
    size: int = 0  # characters of the output's JSON


def keep_values(connection: Connection, outcome: Outcome) -> Kept:
    """Uploads what is too large for a row, before the transaction that refers to it (so no reference ever dangles).

    A value that is not JSON makes the attempt a failure.
    """
    try:
        return _keep_values(connection, outcome)
    except NotJson as problem:
        return Kept(Failed(Error(problem.code, problem.message)))


def _keep_values(connection: Connection, outcome: Outcome) -> Kept:
    output = input_ = None
    size = 0
    if isinstance(outcome, Reused):
        output = outcome.output
    elif isinstance(outcome, Succeeded | Waits):
        output, size = _keep(connection, outcome.output)
    elif isinstance(outcome, Fans):
        output, size = _keep(connection, list(outcome.items))
    resolved = getattr(outcome, "input", None)
    if resolved is not None and not isinstance(outcome, Fans):
        input_, _ = _keep(connection, resolved)
    input_hash = outcome.input_hash if isinstance(outcome, Succeeded) else None
    return Kept(outcome, output, input_, input_hash, size)


def _keep(connection: Connection, value: Any) -> tuple[Stored, int]:
    where, text = stored(value)
    if text is None:
        return where, len(where.text or "")
    connection.execute(KEEP_PAYLOAD, (where.ref, text, len(text)))
    failpoint("after_upload")
    return where, len(text)


@dataclass(frozen=True)
class Request:
    """One result of an attempt, and whether its thread would take a next step."""

    held: Held
    kept: Kept
    wish: Wish | None
    jitter: float

    @property
    def scope(self) -> ScopeKey:
        return (self.held.parent_id, self.held.item_index)


@dataclass(frozen=True)
class _Advanced:
    """What a transition made of one request, before it is written."""

    was_settled: bool
    next: Row | None


def _finish_once(
    connection: Connection,
    requests: Sequence[Request],
    *,
    idle: Sequence[Wish] = (),
    known: Transition | None = None,
    others: int,
) -> Done:
    if known is not None:
        known.loader = Rows(connection, known.run.id)  # another thread's connection made it
    if known is not None and known.is_alone and all(known.knows(request.scope) for request in requests):
        done = _finish_as_known(connection, known, requests, idle=idle, others=others)
        if done is not None:
            return done
        known = None
    tx = _begin(connection, requests, known)
    current = [request for request in requests if _is_current(tx, request)]
    if not current:
        connection.execute("ROLLBACK")
        late_results = [_too_late(connection, tx, request) for request in requests]
        return Done(late_results, [claimed(connection, worker=wish.worker, claim_id=wish.claim) for wish in idle])
    advanced = _advance(tx, current)
    given = [_take_next(tx, wish) for wish in idle]
    failpoint("in_finish")
    with connection.pipeline():
        name_opened = write(connection, tx)
        connection.execute("COMMIT")
    name_opened()
    late = {id(request): _too_late(connection, tx, request) for request in requests if request not in current}
    done = _done(tx, current, advanced, given=given, others=others)
    committed = dict(zip(map(id, current), done.results, strict=True))
    return replace(done, results=[committed.get(id(request)) or late[id(request)] for request in requests])


def finish(
    connection: Connection,
    requests: Sequence[Request],
    *,
    idle: Sequence[Wish] = (),
    known: Transition | None = None,
    others: int = 0,
) -> Done:
    """Writes the results of attempts of one run. `connection` is in autocommit mode and outside a transaction.

    `idle` are wishes of threads that have nothing to finish: they get what else is ready in the run. `known` is what
    this process's last finish of the run left behind; `others` is how many more steps of the run it holds. May be
    called again (without `known`) after any database error: a result that was committed is answered with 'already',
    together with the next step that was taken with it.
    """
    try:
        return _finish_once(connection, requests, idle=idle, known=known, others=others)
    except ClaimerIsDead:  # its results count as long as nobody took the steps from it, and it gets no others
        wishless = [replace(request, wish=None) for request in requests]
        return replace(_finish_once(connection, wishless, others=others), given=[None] * len(idle))


def _begin(connection: Connection, requests: Sequence[Request], known: Transition | None) -> Transition:
    """Begins, locks the run, and reads the steps' siblings, their containers and what is ready, in one round trip. Of
    siblings at the top that are known, only what others changed: there may be thousands, and others at work on them.
    """
    held = requests[0].held
    scopes = {request.scope: request.held for request in requests}
    if known is not None and set(scopes) == {(None, None)} and known.knows((None, None)):
        return _catch_up(connection, known)
    parents = {parent_id for parent_id, _ in scopes if parent_id is not None}
    with connection.pipeline():
        connection.execute("BEGIN")
        locked = connection.execute(LOCK_RUN, (held.run_id,))
        siblings = {key: connection.execute(*_read_scope(key, held)) for key in scopes}
        containers = [connection.execute(READ_ROW, (parent_id,)) for parent_id in parents]
        ready = connection.execute(READ_READY, (held.run_id,))
    run_values = locked.fetchone()
    assert run_values is not None, "a run is never deleted while a step of it is held"
    definition = definition_of(connection, held.version_id)
    tx = Transition(definition, run_row(run_values), Rows(connection, held.run_id), actor="system")
    for cursor in containers:
        tx.add_known(step_row(cursor.fetchone() or ()))
    for key, cursor in siblings.items():
        tx.adopt([step_row(values) for values in cursor.fetchall()], key)
    tx.spare = [tx.add_known(step_row(values)) for values in ready.fetchall()]
    return tx


def _catch_up(connection: Connection, known: Transition) -> Transition:
    with connection.pipeline():
        connection.execute("BEGIN")
        locked = connection.execute(LOCK_RUN, (known.run.id,))
        changed = connection.execute(READ_CHANGED, (known.run.id, known.first_seq))
        ready = connection.execute(READ_READY, (known.run.id,))
    run_values = locked.fetchone()
    assert run_values is not None, "a run is never deleted while a step of it is held"
    known.catch_up(run_row(run_values), [step_row(values) for values in changed.fetchall()])
    known.spare = [known.add_known(step_row(values)) for values in ready.fetchall()]
    return known


def _read_scope(key: ScopeKey, held: Held) -> tuple[Any, Sequence[Any]]:
    return (READ_TOP, (held.run_id,)) if key[0] is None else (READ_ITEM, key)


def _is_current(tx: Transition, request: Request) -> bool:
    row = tx.scope(request.scope)[request.held.node_id]
    # The claim as well: after a failover that lost commits, another attempt may have been given the same fence.
    is_mine = row.fence == request.held.fence and row.claim == request.held.claim
    return is_mine and row.status is StepStatus.RUNNING


def _finish_as_known(
    connection: Connection, tx: Transition, requests: Sequence[Request], *, idle: Sequence[Wish], others: int
) -> Done | None:
    """Decides from what is known and writes it by one statement, if the run's event number is still the known one.

    Every transition of a run raises that number under the run's lock, so the same number means the same rows. None
    where the run has moved on: nothing is written, and what was known is of no use any more.
    """
    if not all(_is_current(tx, request) for request in requests):
        return None
    advanced = _advance(tx, requests)
    given = [_take_next(tx, wish) for wish in idle]
    failpoint("in_finish")
    try:
        write(connection, tx)()
    except psycopg.DatabaseError as error:
        if error.sqlstate != NOT_AS_EXPECTED:
            raise
        return None
    return _done(tx, requests, advanced, given=given, others=others)


def _advance(tx: Transition, requests: Sequence[Request]) -> list[_Advanced]:
    """Settles the attempts, lets the rules decide what follows, and takes the threads' next steps."""
    settled = []
    for request in requests:
        row = tx.scope(request.scope)[request.held.node_id]
        # Another result of this same transaction may have ended it: a map that fails fast cancels its other items.
        settled.append(_is_current(tx, request))
        if not settled[-1]:
            continue
        row.input, row.input_hash = request.kept.input, request.kept.input_hash
        settle_attempt(tx, row, request.kept.outcome, output=request.kept.output, jitter=request.jitter)
        propagate(tx, (row.parent_id, row.index))
    return [
        _Advanced(was_settled, _take_next(tx, request.wish))
        for was_settled, request in zip(settled, requests, strict=True)
    ]


def _done(
    tx: Transition,
    requests: Sequence[Request],
    advanced: Sequence[_Advanced],
    *,
    given: Sequence[Row | None],
    others: int,
) -> Done:
    failpoint("after_finish")
    told: Told | None = told_by(tx)
    results = []
    for request, each in zip(requests, advanced, strict=True):
        following = _held(request.held, each.next) if each.next is not None else None
        results.append(Finished("committed" if each.was_settled else "fenced_out", following, told))
        told = None
    gifts = [_held(requests[0].held, row) if row is not None else None for row in given]
    tx.carry_on()
    taken = [each.next for each in advanced if each.next] + [row for row in given if row]
    tx.is_alone = tx.run.running_count <= others + len(taken)
    return Done(results, gifts, tx if tx.run.running_count else None)


def _too_late(connection: Connection, tx: Transition, request: Request) -> Finished:
    """Either this very result was committed and the reply lost, or another attempt owns the step.

    A step that was taken with it, if the reply to that commit was lost, is looked up by its claim.
    """
    row, held, wish = tx.scope(request.scope)[request.held.node_id], request.held, request.wish
    following = claimed(connection, worker=wish.worker, claim_id=wish.claim) if wish else None
    is_mine = row.fence == held.fence and row.status is not StepStatus.CANCELLED
    return Finished("already" if is_mine else "fenced_out", following)


def _take_next(tx: Transition, wish: Wish | None) -> Row | None:
    """A step that this transaction made ready, or one of the run that was ready before, for the thread that asked. None
    whose start is counted under a limit: those take a claim (runs/engine/limits.py).
    """
    if wish is None or tx.run.status is not RunStatus.RUNNING or _is_limited_workspace(tx, wish):
        return None
    for row in (*tx.readied, *tx.spare):
        node = tx.node(row)
        may = node.policy.queue in wish.queues and node.kind in wish.kinds
        may = may and node.policy.limit_key is None and queue_limit(node.policy.queue) not in wish.limited
        if row.status is StepStatus.READY and not row.delay_s and may:
            tx.claim(row, worker=wish.worker, claim=wish.claim)
            return row
    return None


def _is_limited_workspace(tx: Transition, wish: Wish) -> bool:
    workspace_id = tx.run.workspace_id
    return bool(wish.limited) and workspace_id is not None and workspace_limit(workspace_id) in wish.limited


def _held(held: Held, row: Row) -> Held:
    assert row.id is not None
    assert row.fence is not None
    assert row.claim is not None
    return Held(
        row.id, held.run_id, held.run_number, held.workspace_id, held.version_id, row.path, row.node_id,
        row.parent_id, row.index, row.attempt, row.fence, row.edition, row.claim, held.key_root,
        held.run_is_counted,
    )  # fmt: skip
