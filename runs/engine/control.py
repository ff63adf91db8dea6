"""Pause and unpause a run, and say before which steps it pauses by itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from runs.core.breakpoints import Breakpoints, as_json
from runs.core.commands import cancel
from runs.core.control import pause, set_breakpoints, unpause
from runs.core.plan import Plan, finished_before
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.engine.operations import Operation, Preview, preview
from runs.engine.transact import Told, told_by
from runs.payloads import json_text
from runs.store.read import Connection, Rows

# Index: step_run_ready_of_run.
READY_LANES = """SELECT queue, count(*) FROM runs_steprun WHERE run_id = %s AND status = 'ready'
    AND not_before <= statement_timestamp() GROUP BY queue"""
# Index: step_run_ready_of_run. While the run was paused no worker could have taken them.
COUNT_QUEUE_ANEW = """UPDATE runs_steprun SET queue_until = statement_timestamp() + make_interval(secs => queue_limit_s)
    WHERE run_id = %s AND status = 'ready' AND queue_limit_s IS NOT NULL"""
KEEP_BREAKPOINTS = "UPDATE runs_run SET breakpoints = %s WHERE id = %s"


def pause_run(connection: Connection, wanted: Command) -> Commanded:
    """Raises NotPossibleNow where the run is not running."""

    def act(tx: Transition) -> dict[str, Any]:
        pause(tx)
        return {"status": tx.run.status.value}

    return command(connection, wanted, act)


def unpause_run(connection: Connection, wanted: Command) -> Commanded:
    """Raises NotPossibleNow where the run is not paused. Workers are woken for what became ready meanwhile."""

    def act(tx: Transition) -> dict[str, Any]:
        unpause(tx)
        return {"status": tx.run.status.value}

    done = command(connection, wanted, act)
    return done if done.told is None else replace(done, told=_wake_ready(connection, done.told))


def goes_on(connection: Connection, tx: Transition) -> Told:
    """What others must hear of a run that was paused or goes on by a transition, which is written."""
    return _wake_ready(connection, told_by(tx))


def _wake_ready(connection: Connection, told: Told) -> Told:
    if told.status != RunStatus.RUNNING:
        return told
    connection.execute(COUNT_QUEUE_ANEW, (told.run_id,))
    lanes = connection.execute(READY_LANES, (told.run_id,)).fetchall()
    return replace(told, ready=tuple((queue, steps) for queue, steps in lanes))


def change_breakpoints(connection: Connection, wanted: Command, breakpoints: Breakpoints) -> Commanded:
    """Raises BadBreakpoint, and NotPossibleNow where the run has succeeded."""

    def act(tx: Transition) -> dict[str, Any]:
        set_breakpoints(tx, breakpoints, ready=Rows(connection, wanted.run_id).ready_rows())
        connection.execute(KEEP_BREAKPOINTS, (breakpoints_text(breakpoints), wanted.run_id))
        return {"status": tx.run.status.value, "breakpoints": as_json(breakpoints), "paused_at": [*tx.run.paused_at]}

    return command(connection, wanted, act)


# ---------------------------------------------------------------------- previews

# The runs inside, level by level, that an operation reaches: those for which steps wait. Index: step_run_asks,
# run_of_step.
INSIDE = """WITH RECURSIVE inside AS (
    SELECT %(run)s::uuid AS id, 0 AS depth
    UNION ALL
    SELECT c.id, i.depth + 1 FROM inside i
        JOIN runs_steprun s ON s.run_id = i.id AND s.status = 'waiting' AND s.wait_kind = 'child'
        JOIN runs_run c ON c.parent_step_id = s.id
    WHERE {reached}
) SELECT count(*) FROM inside i JOIN runs_run r ON r.id = i.id WHERE i.depth > 0 AND r.status = ANY(%(open)s)"""
REACHED = {
    "pause": ("c.status IN ('running', 'paused')", ["running"]),
    "unpause": ("c.status = 'paused' AND c.paused_by = 'parent'", ["paused"]),
    "cancel": ("c.status IN ('running', 'paused')", ["running", "paused"]),
}
ACTS: dict[str, Callable[[Transition], None]] = {"pause": pause, "unpause": unpause, "cancel": cancel}


def _planning(operation: str) -> Operation:
    """The act's own function; what runs again is what may start because of it."""

    def act(tx: Transition) -> Plan:
        kept = finished_before(tx)
        ACTS[operation](tx)
        goes_on = tx.run.status is RunStatus.RUNNING
        ready = tx.loader.open_rows() if goes_on else []
        return Plan(kept=kept, again=[row.path for row in ready if row.status is StepStatus.READY])

    return act


def preview_control(connection: Connection, run_id: UUID, operation: str) -> Preview:
    """What pause, unpause or cancel would do, and to how many runs inside this one. Call it in one snapshot (REPEATABLE
    READ). Raises NotPossibleNow.
    """
    shown = preview(connection, run_id, _planning(operation))
    reached, open_ = REACHED[operation]
    found = connection.execute(INSIDE.format(reached=reached), {"run": run_id, "open": open_}).fetchone()
    return replace(shown, child_runs=found[0] if found else 0)


def breakpoints_text(breakpoints: Breakpoints) -> str | None:
    """As the run's row keeps them."""
    return json_text(named) if (named := as_json(breakpoints)) else None
