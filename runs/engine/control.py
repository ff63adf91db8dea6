"""Pause and unpause a run, and say before which steps it pauses by itself."""

from dataclasses import replace
from typing import Any

from runs.core.breakpoints import Breakpoints, as_json
from runs.core.control import pause, set_breakpoints, unpause
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
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
    if done.told is None:
        return done
    connection.execute(COUNT_QUEUE_ANEW, (wanted.run_id,))
    lanes = connection.execute(READY_LANES, (wanted.run_id,)).fetchall()
    return replace(done, told=replace(done.told, ready=tuple((queue, steps) for queue, steps in lanes)))


def change_breakpoints(connection: Connection, wanted: Command, breakpoints: Breakpoints) -> Commanded:
    """Raises BadBreakpoint, and NotPossibleNow where the run has succeeded."""

    def act(tx: Transition) -> dict[str, Any]:
        set_breakpoints(tx, breakpoints, ready=Rows(connection, wanted.run_id).ready_rows())
        connection.execute(KEEP_BREAKPOINTS, (breakpoints_text(breakpoints), wanted.run_id))
        return {"status": tx.run.status.value, "breakpoints": as_json(breakpoints), "paused_at": [*tx.run.paused_at]}

    return command(connection, wanted, act)


def breakpoints_text(breakpoints: Breakpoints) -> str | None:
    """As the run's row keeps them."""
    return json_text(named) if (named := as_json(breakpoints)) else None
