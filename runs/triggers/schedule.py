"""The sweeper's work on schedules: due ticks enter the ledger, and what the ledger has queued is started in its turn.

Whoever decides about a schedule holds its row. The lock leaves foreign keys alone (NO KEY), and no other run's row is
locked under it: a run that is to make room is cancelled in a transaction of its own.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from kit.clock import monotonic_s
from kit.failpoints import failpoint
from runs.core.commands import NotPossibleNow
from runs.core.firings import Waiting, next_turn, plan_ticks
from runs.core.ticks import next_tick
from runs.engine.cancel import cancel_run
from runs.engine.check_input import LookedTooEarly
from runs.engine.commands import Command
from runs.engine.start import Started
from runs.masking import masked
from runs.store.read import Connection
from runs.triggers import ledger
from runs.triggers.fire import Firing, Look, actor_of, fire, look_at
from runs.triggers.shapes import ScheduleSettings, schedule_of

BATCH = 100  # schedules of one sweep
TURNS = 25  # transactions of one schedule in one sweep
BUDGET_S = 1.0  # of one schedule in one sweep: its input is checked by a schema that somebody wrote

# Index: trigger_due.
DUE = """SELECT id FROM runs_trigger WHERE next_at <= statement_timestamp() ORDER BY next_at LIMIT %s"""
# Schedules with something in their queue that may go on now. Indexes: firing_queued, run_open_of_trigger.
QUEUED = """SELECT DISTINCT f.trigger_id FROM runs_firing f JOIN runs_trigger t ON t.id = f.trigger_id
    WHERE f.status = 'queued' AND t.kind = 'schedule' AND (t.overlap = 'allow'
        OR (t.overlap = 'skip' AND NOT f.is_backfill)
        OR NOT EXISTS (SELECT FROM runs_run r WHERE r.trigger_id = t.id
            AND r.status IN ('running', 'paused', 'cancelling'))
        OR (t.overlap = 'cancel_other' AND EXISTS (SELECT FROM runs_run r WHERE r.trigger_id = t.id
            AND r.status IN ('running', 'paused')))) LIMIT %s"""
SETTINGS = "SELECT workspace_id, settings FROM runs_trigger WHERE id = %s AND kind = 'schedule'"
LOCK = """SELECT id, workspace_id, name, settings, decided_to, next_at <= statement_timestamp(), statement_timestamp()
    FROM runs_trigger WHERE id = %s AND kind = 'schedule' FOR NO KEY UPDATE"""
DECIDED = "UPDATE runs_trigger SET decided_to = %s, next_at = %s WHERE id = %s"
# Index: firing_queued.
READ_QUEUE = """SELECT id, is_backfill FROM runs_firing WHERE trigger_id = %s AND status = 'queued'
    ORDER BY due_at, id LIMIT 2000"""
# Index: run_open_of_trigger.
IS_OPEN = "SELECT FROM runs_run WHERE trigger_id = %s AND status IN ('running', 'paused', 'cancelling') LIMIT 1"
TO_CANCEL = "SELECT id FROM runs_run WHERE trigger_id = %s AND status IN ('running', 'paused')"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Locked:
    """A schedule whose row the transaction holds, and the database's time."""

    id: UUID
    workspace_id: UUID
    name: str
    settings: ScheduleSettings
    decided_to: datetime
    is_due: bool
    now: datetime


@dataclass(frozen=True)
class Turned:
    """What one transaction did. `more`: another one may find something to do at once."""

    started: Started | None = None
    more: bool = False
    cancels: tuple[Command, ...] = ()


def fire_schedules(connection: Connection) -> int:
    """Decides what is due and starts what may start. How many runs were started. `connection` is in autocommit mode."""
    ids = dict.fromkeys(id_ for query in (DUE, QUEUED) for (id_,) in connection.execute(query, (BATCH,)))
    started = 0
    for id_ in ids:
        try:
            started += work_off(connection, id_)
        except Exception:
            if connection.closed:
                raise
            logger.exception("the sweeper could not fire schedule %s", id_)
    return started


def work_off(connection: Connection, trigger_id: UUID) -> int:
    started, until = 0, monotonic_s() + BUDGET_S
    look: Look | None = None  # at the input: only where something is to start, and again where it holds no more
    for _ in range(TURNS):
        try:
            with connection.transaction():
                turned = take_turn(connection, trigger_id, look=look)
        except LookedTooEarly:
            look = _look(connection, trigger_id)
            continue
        failpoint("after_firing")
        if turned.started is not None and turned.started.told is not None:
            turned.started.told.announce()
            started += 1
        for command in turned.cancels:
            cancel(connection, command)
        if not turned.more or monotonic_s() > until:
            break
    return started


def _look(connection: Connection, trigger_id: UUID) -> Look | None:
    found = connection.execute(SETTINGS, (trigger_id,)).fetchone()
    if found is None:
        return None
    workspace_id, settings = found
    return look_at(connection, trigger_id, masked(workspace_id, schedule_of(settings).input))


def take_turn(connection: Connection, trigger_id: UUID, *, look: Look | None = None) -> Turned:
    """One transaction's share of a schedule: some of its due ticks, and at most one run. Raises LookedTooEarly."""
    schedule = lock(connection, trigger_id, or_skip=True)
    if schedule is None:  # somebody else is at it
        return Turned()
    caught_up = decide_due(connection, schedule) if schedule.is_due else True
    queue = [Waiting(*row) for row in connection.execute(READ_QUEUE, (trigger_id,))]
    if not queue:
        return Turned(more=not caught_up)
    is_open = connection.execute(IS_OPEN, (trigger_id,)).fetchone() is not None
    turn = next_turn(schedule.settings.overlap, queue, is_open=is_open)
    ledger.skip(connection, turn.skip)
    if turn.start is None:
        cancels = _cancels(connection, schedule, queue[-1].id) if turn.cancels else ()
        return Turned(more=not caught_up, cancels=cancels)
    given = masked(schedule.workspace_id, schedule.settings.input)  # a connection may be younger than the schedule
    firing = Firing(turn.start, trigger_id, "schedule", schedule.name, given)
    fired = fire(connection, firing, look)
    failpoint("in_firing")
    return Turned(fired if isinstance(fired, Started) else None, more=True)


def lock(connection: Connection, trigger_id: UUID, *, or_skip: bool = False) -> Locked | None:
    """None where it is gone, or (`or_skip`) somebody else has it."""
    found = connection.execute(f"{LOCK} SKIP LOCKED" if or_skip else LOCK, (trigger_id,)).fetchone()
    if found is None:
        return None
    id_, workspace_id, name, settings, decided_to, is_due, now = found
    return Locked(id_, workspace_id, name, schedule_of(settings), decided_to, bool(is_due), now)


def decide_due(connection: Connection, schedule: Locked) -> bool:
    """Puts due ticks into the ledger, the oldest first. Whether that were all."""
    settings = schedule.settings
    plan = plan_ticks(
        settings.timing(), after=schedule.decided_to, now=schedule.now, misfire=settings.misfire,
        at_most=settings.misfire_limit,
    )  # fmt: skip
    ledger.add(connection, schedule.id, plan.rows)
    following = next_tick(settings.timing(), plan.decided_to)
    connection.execute(DECIDED, (plan.decided_to, following and following.at, schedule.id))
    return following is None or following.at > schedule.now


def _cancels(connection: Connection, schedule: Locked, firing_id: int) -> tuple[Command, ...]:
    """One command for each run that makes room; the same one each time that it is asked for."""
    actor = actor_of("schedule", schedule.name)
    return tuple(
        Command(uuid5(run_id, f"firing {firing_id}"), run_id, "cancel", actor)
        for (run_id,) in connection.execute(TO_CANCEL, (schedule.id,))
    )


def cancel(connection: Connection, command: Command) -> None:
    try:
        with connection.transaction():
            done = cancel_run(connection, command)
    except NotPossibleNow:  # it ended meanwhile
        return
    if done.told is not None:
        done.told.announce()
