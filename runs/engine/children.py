"""Delivers what runs tell each other: starts, stops, pauses and ends of child runs, each in one transaction.

Rows of one step run come in their order, whoever delivers; workspaces have their turns. A delivery holds the lock of
one run at most; it is done where its row is gone, so a process that dies in it has done nothing, and one that repeats
it finds nothing to do. Whether a child's input fits a schema that somebody wrote is looked at before, with nothing
locked.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from kit.clock import monotonic_s
from kit.errors import AppError, Conflict
from kit.failpoints import failpoint
from runs.core.children import ChildEnd, child_ended, child_refused
from runs.core.commands import cancel
from runs.core.control import pause_with_parent
from runs.core.resume import NothingToResume, resume
from runs.core.rows import CHILD, Row, Stored
from runs.core.states import FINAL_RUNS, RunStatus
from runs.core.transition import Transition
from runs.engine.calling import CHILD_OF, WAITS, Called, call_of, is_slow, key_of, look_at, version_of
from runs.engine.check_input import LookedTooEarly
from runs.engine.control import goes_on
from runs.engine.start import Parent, Start, start_run
from runs.engine.transact import RunNotFound, Told, begin, told_by
from runs.store import outbox
from runs.store.claim import FIRST
from runs.store.copy import effects_of
from runs.store.outbox import Post
from runs.store.read import Connection
from runs.store.write import write

LATER_S = 0.5  # until something that just ends has ended
AFTER_TROUBLE_S = 5.0
BUDGET_S = 1.0  # of one call
LEASE_S = 15.0  # longer than a check of an input may take
PASSED_AT_MOST = 16  # rows that one call passes over: others have them, or they are left to who may take long

logger = logging.getLogger(__name__)
# Holds the step, not its run: a cancel of the parent waits here, and then finds the child, or comes first.
LOCK_STEP = f"{WAITS} FOR UPDATE"
OF_PARENT = """SELECT r.workspace_id, coalesce(r.root_id, r.id), r.depth, r.actor, r.started_by_id, r.priority,
        r.status = 'paused'
    FROM runs_run r WHERE r.id = %s"""
# Inside a run that repeats the effects of another one: the run that the same step of that one has started on the same
# edition of its input, or of the one before it in line. Index: step_run_path, run_of_step.
REPEATED = """WITH RECURSIVE line AS (
    SELECT coalesce(r.effects_of_id, r.forked_from_id) AS id, 1 AS nth FROM runs_run r
        WHERE r.id = %(run)s AND r.key_root IS NOT NULL
    UNION ALL
    SELECT coalesce(r.effects_of_id, r.forked_from_id), l.nth + 1 FROM line l JOIN runs_run r ON r.id = l.id
        WHERE r.key_root IS NOT NULL AND l.nth < 100
) SELECT c.id, coalesce(c.key_root, c.id) FROM runs_steprun mine JOIN line l ON true
    JOIN runs_steprun s ON s.run_id = l.id AND s.path = mine.path
    JOIN runs_run c ON c.parent_step_id = coalesce(s.source_id, s.id)
        AND c.idempotency_key = 'step:' || coalesce(s.source_id, s.id) || ':' || mine.edition
    WHERE mine.id = %(step)s AND c.workflow_id = %(workflow)s ORDER BY l.nth LIMIT 1"""
RUN_OF_STEP = "SELECT run_id FROM runs_steprun WHERE id = %s"
# Whether the step waits for its child, and its run is paused. Asked after the child is locked: whatever its run does
# after that has written a row behind this one.
PARENT_IS_PAUSED = """SELECT r.status = 'paused' FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.id = %s AND s.status = 'waiting' AND s.wait_kind = 'child'"""
ENDING = "SELECT status, number, error FROM runs_run WHERE id = %s"
# Index: step_run_path. As runs.selectors.runs.run_output shows it.
OUTPUT = """SELECT output, output_ref FROM runs_steprun WHERE run_id = %s AND parent_id IS NULL AND kind = 'output'
    AND status = 'succeeded' ORDER BY finished_at DESC, id DESC LIMIT 1"""
FAILURE = """SELECT path, error FROM runs_steprun WHERE run_id = %s AND parent_id IS NULL AND status = 'failed'
    AND handled IS NULL AND error IS NOT NULL ORDER BY finished_at, id LIMIT 1"""


class ChildKeyTaken(Conflict):
    """The key by which a step's run is found again stands for another run."""

    code = "child_key_taken"


@dataclass
class Turns:
    """One deliverer's. `after` is the workspace that was served last: the others come first. One that is not patient
    leaves children whose input takes long to check to others, and says so in `left`.
    """

    after: UUID = FIRST
    is_patient: bool = True
    left: bool = False
    passed: list[int] = field(default_factory=list)


def deliver(connection: Connection, *, at_most: int = 200, turns: Turns | None = None) -> int:
    """Delivers what is due, and says how much that was; the rest waits for the next turn where this one takes long.
    `connection` is in autocommit mode.
    """
    turns = turns or Turns()
    turns.passed, turns.left = [], False
    until = monotonic_s() + BUDGET_S
    for done in range(at_most):
        if monotonic_s() > until or not deliver_next(connection, turns):
            return done
    return at_most


def deliver_next(connection: Connection, turns: Turns | None = None) -> bool:
    """Whether there was something. One that cannot be delivered must not keep all others waiting."""
    turns = turns or Turns()
    while len(turns.passed) < PASSED_AT_MOST:
        post = outbox.next_post(connection, after=turns.after, passed=turns.passed)
        if post is None:
            return False
        turns.after = post.workspace_id
        if _tried(connection, post, turns):
            return True
        turns.passed.append(post.id)
    return False


def _tried(connection: Connection, post: Post, turns: Turns) -> bool:
    """False where the row is to be passed over."""
    told: Told | None = None
    try:
        called = _look_ahead(connection, post, turns)
        with connection.transaction():
            if not outbox.take(connection, post):
                return False
            told = ACTS[post.kind](connection, post, called)
            failpoint("in_delivery")
    except _LeftAlone:
        return False
    except LookedTooEarly:  # another version was published meanwhile: at once again, by whoever comes
        outbox.later(connection, post, after_s=0)
        return False
    except Exception:
        if connection.closed:
            raise
        logger.exception("could not deliver %s to step run %s", post.kind, post.step_run_id)
        outbox.later(connection, post, after_s=AFTER_TROUBLE_S)
    if told is not None:
        told.announce()
    return True


class _LeftAlone(Exception):
    """The row is for somebody else."""


def _look_ahead(connection: Connection, post: Post, turns: Turns) -> Called | None:
    """What the schema of a child that is to be started says of its input, while nothing is locked."""
    call = call_of(connection, post) if post.kind == "call_child" else None
    if call is None:
        return None
    if is_slow(connection, call):
        turns.left = turns.left or not turns.is_patient
        if not turns.is_patient or not outbox.lease(connection, post, for_s=LEASE_S):
            raise _LeftAlone
    return look_at(connection, call)


def _done(connection: Connection, post: Post, told: Told | None = None) -> Told | None:
    connection.execute(outbox.DELIVERED, (post.id,))
    return told


def _call(connection: Connection, post: Post, called: Called | None) -> Told | None:
    """The step wants its child: it is started, or, after a resume of the step, goes on from where it failed."""
    try:
        with connection.transaction():  # what is refused leaves nothing, not even its lock
            return _done(connection, post, _ensure_child(connection, post, called))
    except AppError as refusal:
        error = {"code": refusal.code, "message": refusal.message, **({"data": refusal.data} if refusal.data else {})}
        return _done(connection, post, _on_step(connection, post, lambda tx, row: child_refused(tx, row, error)))


def _ensure_child(connection: Connection, post: Post, called: Called | None) -> Told | None:
    status, wait_kind, edition = connection.execute(LOCK_STEP, (post.step_run_id,)).fetchone() or (None, None, 0)
    if status != "waiting" or wait_kind != CHILD:
        return None
    key = key_of(post, edition)
    found = connection.execute(CHILD_OF, (post.step_run_id,)).fetchone()
    if found is None or found[2] != key:
        return _start(connection, post, key, called=called)
    child_id, child_status, _ = found
    match RunStatus(child_status):
        case RunStatus.FAILED | RunStatus.CANCELLED:
            return _resume(connection, post, child_id)
        case RunStatus.SUCCEEDED:
            connection.execute(outbox.AGAIN, (post.step_run_id, child_id))
        case RunStatus.RUNNING | RunStatus.PAUSED:
            return _pause_with_parent(connection, post, child_id)  # and its end will be told
        case RunStatus.CANCELLING:
            pass  # its end will be told
    return None


def _start(connection: Connection, post: Post, key: str, *, called: Called | None) -> Told | None:
    wanted = json.loads(post.data)
    parent = connection.execute(OF_PARENT, (post.run_id,)).fetchone()
    assert parent is not None, "a run is never deleted while a step of it waits"
    workspace_id, root_id, depth, actor, user_id, priority, is_paused = parent
    version_id = version_of(connection, wanted, workspace_id)
    if called is None or called.version_id != version_id:
        raise LookedTooEarly
    if called.refusal is not None:
        raise called.refusal
    values = {"run": post.run_id, "step": post.step_run_id, "workflow": wanted["workflow"]}
    repeated = connection.execute(REPEATED, values).fetchone()
    effects = None if repeated is None else effects_of(connection, repeated[0], key_root=repeated[1])
    start = Start(
        UUID(wanted["workflow"]), version_id, wanted.get("input"), actor, user_id=user_id, trigger="workflow",
        idempotency_key=key, priority=priority,
        parent=Parent(post.run_id, post.step_run_id, root_id, depth + 1, is_paused, effects),
    )  # fmt: skip
    started = start_run(connection, start)
    if not started.is_new:  # somebody has given a run of their own this key: its end would never be told
        raise ChildKeyTaken(f"Run {started.number} has the idempotency key '{key}', which is that of this step's run.")
    return started.told


def _resume(connection: Connection, post: Post, child_id: UUID) -> Told | None:
    tx = begin(connection, child_id, actor="system")
    if tx.run.status not in (RunStatus.FAILED, RunStatus.CANCELLED):
        return None  # somebody else did it meanwhile, and its end will be told
    tx.tell("command", None, {"operation": "resume"})
    try:
        resume(tx)
    except NothingToResume:
        connection.execute(outbox.AGAIN, (post.step_run_id, child_id))
        return None
    pause_with_parent(tx, is_paused=bool(_is_parent_paused(connection, post)))
    write(connection, tx)
    return told_by(tx)


def _pause(connection: Connection, post: Post, _: Called | None) -> Told | None:
    """The run whose step waits for this child was paused, or goes on, or the child was resumed."""
    found = connection.execute(CHILD_OF, (post.step_run_id,)).fetchone()
    return _done(connection, post, _pause_with_parent(connection, post, found[0]) if found else None)


def _pause_with_parent(connection: Connection, post: Post, child_id: UUID) -> Told | None:
    """The child does as its parent does now, not as it did when the row was written. One for which nothing waits any
    more is left alone.
    """
    tx = begin(connection, child_id, actor="system")
    is_paused = _is_parent_paused(connection, post)
    if is_paused is None or not pause_with_parent(tx, is_paused=is_paused):
        return None
    write(connection, tx)
    return goes_on(connection, tx)


def _is_parent_paused(connection: Connection, post: Post) -> bool | None:
    """None where the step does not wait for its child."""
    found = connection.execute(PARENT_IS_PAUSED, (post.step_run_id,)).fetchone()
    return None if found is None else bool(found[0])


def _stop(connection: Connection, post: Post, _: Called | None) -> Told | None:
    """The step no longer waits for its child: it was cancelled, or lost a race, or a person went past it."""
    found = connection.execute(CHILD_OF, (post.step_run_id,)).fetchone()
    if found is None:
        return _done(connection, post)
    tx = begin(connection, found[0], actor="system")
    if tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
        _later_or_done(connection, post, is_ending=tx.run.status is RunStatus.CANCELLING)
        return None
    tx.tell("command", None, {"operation": "cancel"})
    cancel(tx)
    write(connection, tx)
    is_ending = tx.run.status not in FINAL_RUNS
    _later_or_done(connection, post, is_ending=is_ending)
    return told_by(tx)


def _later_or_done(connection: Connection, post: Post, *, is_ending: bool) -> None:
    """A child that is being cancelled has ended when its bodies have: a call that comes behind must find it so."""
    if is_ending:
        outbox.later(connection, post, after_s=LATER_S)
    else:
        _done(connection, post)


def _end(connection: Connection, post: Post, _: Called | None) -> Told | None:
    """The child has ended: the step that waits for it hears how."""
    found = connection.execute(CHILD_OF, (post.step_run_id,)).fetchone()
    if found is None or found[0] != post.run_id:
        return _done(connection, post)  # an edited input has another child by now
    end = _ending(connection, post.run_id)
    if end is None:
        return _done(connection, post)  # it was resumed: another end will be told
    return _done(connection, post, _on_step(connection, post, lambda tx, row: child_ended(tx, row, end)))


def _ending(connection: Connection, child_id: UUID) -> ChildEnd | None:
    found = connection.execute(ENDING, (child_id,)).fetchone()
    status = RunStatus(found[0]) if found else RunStatus.CANCELLED
    if status not in FINAL_RUNS:
        return None
    number, error = (found[1], json.loads(found[2] or "null")) if found else (None, None)
    if status is RunStatus.SUCCEEDED:
        output = connection.execute(OUTPUT, (child_id,)).fetchone()
        return ChildEnd(status, output=Stored(*output) if output else Stored(text="null"))
    where = {"run": str(child_id), "number": number}
    if status is RunStatus.CANCELLED:
        return ChildEnd(
            status, error={"code": "child_cancelled", "message": f"Run {number} was cancelled.", "data": where}
        )
    failure = connection.execute(FAILURE, (child_id,)).fetchone()
    if failure is not None and (error or {}).get("code", "steps_failed") == "steps_failed":
        error, where["path"] = json.loads(failure[1]), failure[0]
    told = error or {"code": "child_failed", "message": f"Run {number} has failed."}
    return ChildEnd(status, error={"code": told["code"], "message": told["message"], "data": where})


def _on_step(connection: Connection, post: Post, act: Callable[[Transition, Row], bool]) -> Told | None:
    """A transition of the run whose step has the child; None where it changed nothing."""
    parent = connection.execute(RUN_OF_STEP, (post.step_run_id,)).fetchone()
    if parent is None:
        return None
    try:
        tx = begin(connection, parent[0], actor="system")
    except RunNotFound:
        return None
    row = tx.add_known(tx.loader.row(post.step_run_id))
    if not act(tx, tx.scope((row.parent_id, row.index))[row.node_id]):
        return None
    write(connection, tx)
    return told_by(tx)


ACTS: dict[str, Callable[[Connection, Post, Called | None], Told | None]] = {
    "call_child": _call,
    "stop_child": _stop,
    "pause_child": _pause,
    "child_done": _end,
}
