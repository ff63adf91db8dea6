"""Sums of runs by the hour in which they were started, made by the sweeper and always whole: an hour of which a run
changed is counted anew, so that doing it twice, or again after a crash, changes nothing.

An hour is *rolled* once it lies before `edge`, the hour of the look's row less a margin; the overview counts what is
younger by itself. What changes later is noticed by three questions, each by its index: runs that ended since the last
look, resumed runs that are open again, and hours that no look has reached.
"""

from datetime import UTC, datetime, timedelta

from runs.store.read import Connection

NAME = "hours"
KEPT_DAYS = 31  # the longest period of the overview, and a day
# A transition's time is that of its statement; it may commit so much later (runs/link.py bounds both).
MARGIN = timedelta(minutes=5)
AT_ONCE = timedelta(days=1)  # of a first look, or after a long silence
OPEN_AGAIN = 1_000

BEGIN = """INSERT INTO runs_look (name, looked_to)
    VALUES (%s, date_trunc('hour', statement_timestamp()) - make_interval(days => %s)) ON CONFLICT (name) DO NOTHING"""
TAKE = """SELECT looked_to, statement_timestamp() FROM runs_look WHERE name = %s FOR UPDATE SKIP LOCKED"""
LOOKED = "UPDATE runs_look SET looked_to = %s WHERE name = %s"

# Indexes: run_finished; run_open; run_measured, a probe for each workspace and hour.
DIRTY = """SELECT r.workspace_id, date_trunc('hour', r.created_at, 'UTC') FROM runs_run r
        WHERE r.status IN ('succeeded', 'failed', 'cancelled') AND r.finished_at > %(since)s
            AND r.finished_at <= %(to)s AND r.created_at < %(edge)s AND r.created_at >= %(oldest)s
    UNION SELECT again.workspace_id, date_trunc('hour', again.created_at, 'UTC') FROM (
        SELECT r.workspace_id, r.created_at FROM runs_run r WHERE r.status IN ('running', 'paused', 'cancelling')
            AND r.generation > 1 AND r.created_at < %(edge)s AND r.created_at >= %(oldest)s LIMIT %(most)s) again
    UNION SELECT w.id, h.hour FROM teams_workspace w
        CROSS JOIN generate_series(%(before)s::timestamptz, %(edge)s::timestamptz - interval '1 hour', '1 hour')
            AS h(hour)
        WHERE EXISTS (SELECT FROM runs_run r WHERE r.workspace_id = w.id AND r.created_at >= h.hour
            AND r.created_at < h.hour + interval '1 hour' OFFSET 0)"""
FORGET_HOUR = "DELETE FROM runs_runhour WHERE workspace_id = %s AND hour = %s"
# Index: run_measured.
COUNT_HOUR = """INSERT INTO runs_runhour (workspace_id, workflow_id, hour, open, succeeded, failed, cancelled)
    SELECT %(workspace)s, r.workflow_id, %(hour)s,
        count(*) FILTER (WHERE r.status IN ('running', 'paused', 'cancelling')),
        count(*) FILTER (WHERE r.status = 'succeeded'), count(*) FILTER (WHERE r.status = 'failed'),
        count(*) FILTER (WHERE r.status = 'cancelled')
    FROM runs_run r WHERE r.workspace_id = %(workspace)s AND r.created_at >= %(hour)s
        AND r.created_at < %(hour)s::timestamptz + interval '1 hour' GROUP BY r.workflow_id"""
FORGET_OLD = "DELETE FROM runs_runhour WHERE hour < %s"


def edge_of(looked_to: datetime) -> datetime:
    """The first moment that no hour of the table holds."""
    return (looked_to - MARGIN).astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def roll(connection: Connection) -> bool:
    """One look; whether more is left to look at. False also where another sweeper looks just now. `connection` is in
    autocommit mode.
    """
    connection.execute(BEGIN, (NAME, KEPT_DAYS))
    with connection.transaction():
        taken = connection.execute(TAKE, (NAME,)).fetchone()
        if taken is None:
            return False
        looked_to, now = taken
        to = min(now, looked_to + AT_ONCE)
        oldest = edge_of(now) - timedelta(days=KEPT_DAYS)
        before, edge = max(edge_of(looked_to), oldest), edge_of(to)
        values = {
            "since": looked_to - MARGIN, "to": to, "edge": edge, "before": before, "oldest": oldest,
            "most": OPEN_AGAIN,
        }  # fmt: skip
        dirty = connection.execute(DIRTY, values).fetchall()
        for workspace, hour in dirty:
            connection.execute(FORGET_HOUR, (workspace, hour))
            connection.execute(COUNT_HOUR, {"workspace": workspace, "hour": hour})
        if before < edge:
            connection.execute(FORGET_OLD, (oldest,))
        connection.execute(LOOKED, (to, NAME))
    return bool(to < now)
