"""Counts what is used of a limit, holds back what finds it full, and lets go as room comes.

The lock of a limit is PostgreSQL's advisory one of its name, held until the transaction ends. It is taken after the
run's row, several in the order of their numbers; whoever holds one waits for nothing else. (A number that two names
share makes them wait for each other, no more.)
"""

from collections.abc import Sequence
from typing import Any

from runs.core.limits import PAUSED, Bound, Candidate
from runs.store.claim import MAY_GO, READY, STARTED, TURN, starting
from runs.store.read import Connection

# Again what the claim has seen, now in a transaction that goes on.
LOCK_CANDIDATE = f"""SELECT s.id, s.run_id, s.queue, s.workspace_id, r.workflow_id, s.limit_key, s.limit_at_most,
        s.rate_starts, s.rate_per_s, r.limit_key, r.limit_at_most, r.begun_at IS NOT NULL
    FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.id = %(step)s AND {READY} AND {MAY_GO}
        AND EXISTS (SELECT FROM runs_worker w WHERE w.id = %(worker)s AND w.dead_at IS NULL)
    FOR UPDATE OF s, r SKIP LOCKED"""
SET = """INSERT INTO runs_limit (name, workspace_id, at_most, set_at, set_by)
    VALUES (%s, %s, %s, statement_timestamp(), %s)
    ON CONFLICT (name) DO UPDATE SET at_most = excluded.at_most, set_at = excluded.set_at, set_by = excluded.set_by"""
READ_SET = "SELECT name, at_most FROM runs_limit WHERE name = ANY(%s)"
ALL_NAMES = "SELECT name FROM runs_limit WHERE name LIKE 'queue:%' OR name LIKE 'workspace:%'"

LOCK_NAMES = """SELECT pg_advisory_xact_lock(l.number) FROM (
    SELECT DISTINCT hashtextextended(n, 1869) AS number FROM unnest(%s::text[]) AS n ORDER BY 1) l"""

# Counted after the lock is there, so a statement of its own: it sees what was committed while it waited. Running steps
# are as few as the fleet has threads (index: step_run_running); runs that have begun under a limit are in run_begun.
COUNTS = {
    "queue": "SELECT count(*) FROM runs_steprun WHERE status = 'running' AND queue = %s",
    "workspace": "SELECT count(*) FROM runs_steprun WHERE status = 'running' AND workspace_id = %s",
    "key": "SELECT count(*) FROM runs_steprun WHERE status = 'running' AND workspace_id = %s AND limit_key = %s",
    "workflow": "SELECT count(*) FROM runs_run WHERE begun_at IS NOT NULL AND workspace_id = %s AND workflow_id = %s",
    "run": "SELECT count(*) FROM runs_run WHERE begun_at IS NOT NULL AND workspace_id = %s AND limit_key = %s",
    # Index: limit_start_by_name.
    "rate": """SELECT count(*) FROM runs_limitstart
        WHERE name = %s AND at > statement_timestamp() - make_interval(secs => %s)""",
}

# The start of a step under limits. Its run has begun where a limit counts runs: what of it was held for that may go.
START = f"""WITH candidate AS (SELECT %(step)s::bigint AS id, %(run)s::uuid AS run_id
), noted AS (
    INSERT INTO runs_limitstart (name, at, expires_at)
    SELECT m.name, statement_timestamp(), statement_timestamp() + make_interval(secs => m.per_s)
    FROM unnest(%(rates)s::text[], %(periods)s::float8[]) AS m(name, per_s)
), let_go AS (
    UPDATE runs_steprun s SET held_by = NULL WHERE %(begins)s::boolean AND s.run_id = %(run)s AND s.status = 'ready'
        AND s.held_by IS NOT NULL AND s.id <> %(step)s
), {starting(", begun_at = CASE WHEN %(begins)s::boolean THEN statement_timestamp() ELSE begun_at END")}
{STARTED}"""

# With it, what else would only find the same: a flood is put aside by the hundred. Index: step_run_limited.
HOLD = """UPDATE runs_steprun SET held_by = %(name)s WHERE id = %(step)s OR id IN (
    SELECT s.id FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by IS NULL AND s.workspace_id = %(workspace)s
        AND s.limit_key = %(key)s LIMIT 200 FOR UPDATE SKIP LOCKED)"""

# Every name by which something is held, from the one after the last that was looked at. Index: step_run_held.
HELD_NAMES = """WITH RECURSIVE names AS (
    (SELECT s.held_by FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by > %(after)s ORDER BY s.held_by LIMIT 1)
    UNION ALL
    SELECT (SELECT s.held_by FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by > n.held_by
        ORDER BY s.held_by LIMIT 1) FROM names n WHERE n.held_by IS NOT NULL
) SELECT held_by FROM names WHERE held_by IS NOT NULL LIMIT %(limit)s"""
FIRST_HELD = f"""SELECT s.id, s.run_id, s.queue, s.workspace_id, r.workflow_id, s.limit_key, s.limit_at_most,
        s.rate_starts, s.rate_per_s, r.limit_key, r.limit_at_most, r.begun_at IS NOT NULL
    FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status = 'ready' AND s.held_by = %s AND r.status = 'running' ORDER BY {TURN}, s.id LIMIT 1"""
LET_GO = f"""UPDATE runs_steprun SET held_by = NULL WHERE id IN (
    SELECT s.id FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status = 'ready' AND s.held_by = %s AND r.status = 'running'
    ORDER BY {TURN}, s.id LIMIT %s FOR UPDATE OF s SKIP LOCKED) RETURNING queue"""
# What stayed aside of a run that goes on: a process of the version before let it go on, and knew of no rows aside. So
# many are looked at. Index: step_run_held.
BRING_BACK = f"""WITH looked AS (
    SELECT s.id, s.run_id FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by = '{PAUSED}' AND s.id > %(after)s
    ORDER BY s.id LIMIT %(limit)s
), back AS (
    UPDATE runs_steprun s SET held_by = NULL FROM looked l JOIN runs_run r ON r.id = l.run_id
    WHERE s.id = l.id AND s.status = 'ready' AND s.held_by = '{PAUSED}' AND r.status = 'running' RETURNING s.id
) SELECT (SELECT count(*) FROM back), (SELECT count(*) FROM looked), (SELECT max(id) FROM looked)"""
# Index: limit_start_expiry.
EXPIRED_STARTS = "SELECT id FROM runs_limitstart WHERE expires_at < statement_timestamp() ORDER BY expires_at LIMIT %s"
FORGET = f"DELETE FROM runs_limitstart WHERE id IN ({EXPIRED_STARTS.replace('%s', '5000')})"


def candidate_of(values: Sequence[Any]) -> Candidate:
    return Candidate(*values)


def count_of(bound: Bound, candidate: Candidate) -> tuple[str, tuple[Any, ...]]:
    """The statement that counts what is used of a limit, and its values."""
    if bound.per_s is not None:
        return COUNTS["rate"], (bound.name, bound.per_s)
    sort = bound.name.partition(":")[0]
    workspace = candidate.workspace_id
    values: dict[str, tuple[Any, ...]] = {
        "queue": (candidate.queue,),
        "workspace": (workspace,),
        "key": (workspace, candidate.key),
        "workflow": (workspace, candidate.workflow_id),
        "run": (workspace, candidate.run_key),
    }
    return COUNTS[sort], values[sort]


def count(connection: Connection, bounds: Sequence[Bound], candidate: Candidate) -> list[int]:
    """What is used of each, in one round trip."""
    with connection.pipeline():
        cursors = [connection.execute(*count_of(bound, candidate)) for bound in bounds]
    return [(cursor.fetchone() or (0,))[0] for cursor in cursors]


def set_limits(connection: Connection, candidate: Candidate) -> dict[str, int]:
    return dict(connection.execute(READ_SET, (list(candidate.named),)).fetchall())


def limited_names(connection: Connection) -> frozenset[str]:
    """Lanes and workspaces that have a limit: their steps are never taken by a finish."""
    return frozenset(name for (name,) in connection.execute(ALL_NAMES))
