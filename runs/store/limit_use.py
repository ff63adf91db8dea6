"""What is used of limits just now, counted from rows: for people who look at them, never for a decision."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from runs.store.limits import COUNTS
from runs.store.read import Connection

HEARD_S = 15  # a worker that was not heard for longer counts as away
MOST_KEYS = 500

READ = """SELECT name, workspace_id, at_most, set_at, set_by FROM runs_limit
    WHERE workspace_id = %(workspace)s OR name LIKE 'queue:%%' ORDER BY name"""
READ_LANES = """SELECT name, workspace_id, at_most, set_at, set_by FROM runs_limit
    WHERE name LIKE 'queue:%' ORDER BY name"""

# Indexes: step_run_running; step_run_turn for what is ready.
STEPS_OF_WORKSPACE = """SELECT queue, count(*) FILTER (WHERE status = 'running'),
        count(*) FILTER (WHERE status = 'ready')
    FROM runs_steprun WHERE workspace_id = %(workspace)s AND status IN ('running', 'ready') GROUP BY queue"""
STEPS_OF_LANES = """SELECT queue, count(*) FILTER (WHERE status = 'running'), count(*) FILTER (WHERE status = 'ready')
    FROM runs_steprun WHERE status IN ('running', 'ready') GROUP BY queue"""
WORKERS_OF_LANES = """SELECT lane, count(*) FROM runs_worker, unnest(string_to_array(queues, ',')) AS lane
    WHERE dead_at IS NULL AND heartbeat_at >= statement_timestamp() - make_interval(secs => %s) GROUP BY lane"""
# Steps with a key that run or would: the same key with other numbers is another line. Index: step_run_limited.
KEYS = """SELECT limit_key, limit_at_most, rate_starts, rate_per_s, count(*) FILTER (WHERE status = 'running'),
        count(*) FILTER (WHERE held_by = 'key:' || workspace_id || ':' || limit_key)
    FROM runs_steprun WHERE workspace_id = %(workspace)s AND status IN ('running', 'ready') AND limit_key IS NOT NULL
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT %(most)s"""
# Index: run_begun.
RUNS = """SELECT workflow_id, limit_key, limit_at_most, count(*) FROM runs_run
    WHERE begun_at IS NOT NULL AND workspace_id = %(workspace)s GROUP BY 1, 2, 3 ORDER BY 2, 3 LIMIT %(most)s"""
# Runs, not steps, wait for a limit of runs. Index: step_run_held.
HELD_RUNS = """SELECT held_by, count(DISTINCT run_id) FROM runs_steprun
    WHERE status = 'ready' AND held_by IS NOT NULL AND workspace_id = %(workspace)s
        AND (held_by LIKE 'workflow:%%' OR held_by LIKE 'run:%%') GROUP BY held_by"""


@dataclass(frozen=True)
class SetLimit:
    """A limit that somebody has set, by its name (runs/core/limits.py)."""

    name: str
    workspace_id: UUID | None
    at_most: int
    set_at: datetime
    set_by: str


@dataclass(frozen=True)
class KeyUse:
    """Steps of a key: how many run, how many are held by it, and how many started in the rate's last period."""

    key: str
    at_most: int | None
    rate_starts: int | None
    rate_per_s: float | None
    used: int
    waiting: int
    started: int | None


@dataclass(frozen=True)
class WorkspaceUse:
    """`steps`: lane -> (running, ready); `runs`: (workflow, key, at most, begun); `held`: name -> runs that wait."""

    limits: list[SetLimit]
    steps: dict[str, tuple[int, int]]
    keys: list[KeyUse]
    runs: list[tuple[UUID, str | None, int | None, int]]
    held: dict[str, int]


@dataclass(frozen=True)
class LanesUse:
    """Of the whole installation: lane -> (running, ready), and how many workers that are alive serve it."""

    limits: list[SetLimit]
    steps: dict[str, tuple[int, int]]
    workers: dict[str, int]


def use_of_workspace(connection: Connection, workspace_id: UUID) -> WorkspaceUse:
    values: dict[str, Any] = {"workspace": workspace_id, "most": MOST_KEYS}
    rows = connection.execute(KEYS, values).fetchall()
    keys = [KeyUse(*(*row, _started(connection, workspace_id, row))) for row in rows]
    return WorkspaceUse(
        limits=[SetLimit(*row) for row in connection.execute(READ, values)],
        steps={lane: (running, ready) for lane, running, ready in connection.execute(STEPS_OF_WORKSPACE, values)},
        keys=keys,
        runs=[(row[0], row[1], row[2], row[3]) for row in connection.execute(RUNS, values)],
        held=dict(connection.execute(HELD_RUNS, values).fetchall()),
    )


def _started(connection: Connection, workspace_id: UUID, row: tuple[Any, ...]) -> int | None:
    key, _, starts, per_s, *_ = row
    if starts is None or per_s is None:
        return None
    found = connection.execute(COUNTS["rate"], (f"key:{workspace_id}:{key}", per_s)).fetchone()
    return found[0] if found else 0


def use_of_lanes(connection: Connection) -> LanesUse:
    return LanesUse(
        limits=[SetLimit(*row) for row in connection.execute(READ_LANES)],
        steps={lane: (running, ready) for lane, running, ready in connection.execute(STEPS_OF_LANES)},
        workers=dict(connection.execute(WORKERS_OF_LANES, (HEARD_S,)).fetchall()),
    )
