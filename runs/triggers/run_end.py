"""Another workflow's end: the run that ended added its firings in its own transaction (runs/store/parts.py); here each
becomes a run, once.

What the input takes from the run that ended is read and checked before the transaction; in it, the firing's row is
locked, so that of several sweepers one starts the run. The run that ended is not locked: it is over.
"""

import json
import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.clock import monotonic_s
from kit.errors import AppError, Conflict
from kit.failpoints import failpoint
from runs.engine.check_input import LookedTooEarly
from runs.engine.start import Started
from runs.masking import masked
from runs.store.read import Connection
from runs.triggers import ledger
from runs.triggers.answer import answer_of
from runs.triggers.fire import Firing, Look, fire, look_at
from runs.triggers.mapping import mapped, wants
from runs.triggers.shapes import run_end_of

BATCH = 200
BUDGET_S = 5.0  # of one sweep
DEEPEST = 10  # runs, each of which the end of the one before has started

# Index: firing_queued.
QUEUED = """SELECT f.id FROM runs_firing f JOIN runs_trigger t ON t.id = f.trigger_id
    WHERE f.status = 'queued' AND t.kind = 'run_end' ORDER BY f.id LIMIT %s"""
# A run that a step of another one started is as deep as the run at the root of both.
READ = """SELECT t.id, t.workspace_id, t.name, t.settings, f.key, r.id, r.number, w.name, r.input, r.error,
        greatest(r.trigger_depth, q.trigger_depth)
    FROM runs_firing f JOIN runs_trigger t ON t.id = f.trigger_id
    LEFT JOIN runs_run r ON r.id = f.source_run_id LEFT JOIN workflows_workflow w ON w.id = r.workflow_id
    LEFT JOIN runs_run q ON q.id = r.root_id
    WHERE f.id = %s AND f.status = 'queued'"""
LOCK = """SELECT t.settings FROM runs_firing f JOIN runs_trigger t ON t.id = f.trigger_id
    WHERE f.id = %s AND f.status = 'queued' FOR UPDATE OF f SKIP LOCKED FOR KEY SHARE OF t"""
# A run that ended while somebody deleted the trigger.
DROP_ORPHANS = """DELETE FROM runs_firing WHERE id IN (SELECT f.id FROM runs_firing f
    LEFT JOIN runs_trigger t ON t.id = f.trigger_id WHERE f.status = 'queued' AND t.id IS NULL LIMIT 100)"""

logger = logging.getLogger(__name__)


class ChainTooDeep(Conflict):
    code = "chain_too_deep"


class SourceGone(Conflict):
    code = "source_gone"


@dataclass(frozen=True)
class Ended:
    """A run that ended, and the trigger that waits for it. `status` is that of this end: it may be resumed by now."""

    trigger_id: UUID
    workspace_id: UUID
    name: str
    settings: str
    run_id: UUID | None
    status: str
    number: int
    workflow: str
    input: str
    error: str | None
    depth: int


def fire_run_ends(connection: Connection) -> int:
    """How many runs were started. `connection` is in autocommit mode."""
    connection.execute(DROP_ORPHANS)
    started, until = 0, monotonic_s() + BUDGET_S
    for (firing_id,) in connection.execute(QUEUED, (BATCH,)).fetchall():
        if monotonic_s() > until:  # the rest waits for the next sweep, and schedules have their turn before
            break
        try:
            started += start_after(connection, firing_id)
        except Exception:
            if connection.closed:
                raise
            logger.exception("the sweeper could not fire %s", firing_id)
    return started


def start_after(connection: Connection, firing_id: int) -> bool:
    ended = _read(connection, firing_id)
    if ended is None:  # somebody else has
        return False
    given = _input(connection, ended)
    look = None if isinstance(given, AppError) else look_at(connection, ended.trigger_id, given)
    try:
        return _start(connection, firing_id, ended, given=given, look=look)
    except LookedTooEarly:  # another version was published meanwhile: the next sweep looks anew
        return False


def _start(connection: Connection, firing_id: int, ended: Ended, *, given: Any, look: Look | None) -> bool:
    with connection.transaction():
        locked = connection.execute(LOCK, (firing_id,)).fetchone()
        if locked is None or locked[0] != ended.settings:  # changed meanwhile: the next sweep reads it anew
            return False
        if isinstance(given, AppError):
            ledger.mark_failed(connection, firing_id, reason=given.code, detail=given.message)
            return False
        firing = Firing(firing_id, ended.trigger_id, "run_end", ended.name, given, depth=ended.depth + 1)
        fired = fire(connection, firing, look)
        failpoint("in_firing")
    if not isinstance(fired, Started):
        return False
    if fired.told is not None:
        fired.told.announce()
    return True


def _read(connection: Connection, firing_id: int) -> Ended | None:
    found = connection.execute(READ, (firing_id,)).fetchone()
    if found is None:
        return None
    trigger_id, workspace_id, name, settings, key, run_id, number, workflow, run_input, error, depth = found
    status = key.rpartition(" ")[2]
    return Ended(
        trigger_id, workspace_id, name, settings, run_id, status, number, workflow, run_input, error, depth or 0
    )  # fmt: skip


def _input(connection: Connection, ended: Ended) -> Any:
    """The new run's input; the error that stands against it, as a value."""
    try:
        if ended.run_id is None:
            raise SourceGone("The run that ended is deleted, and with it what this one should start with.")
        if ended.depth >= DEEPEST:
            raise ChainTooDeep(
                f"{DEEPEST} runs have started each other by their ends. Take a trigger out of the circle, or give it a"
                " condition."
            )
        template = run_end_of(ended.settings).input
        output = answer_of(connection, ended.run_id) if wants(template, "output") else None
        run = {
            "id": str(ended.run_id), "number": ended.number, "status": ended.status, "workflow": ended.workflow,
            "input": json.loads(ended.input), "output": output if ended.status == "succeeded" else None,
            "error": json.loads(ended.error) if ended.error else None,
        }  # fmt: skip
        return masked(ended.workspace_id, mapped(template, run))
    except AppError as error:
        return error
