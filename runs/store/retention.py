"""What may be taken away: payloads that nothing refers to, runs whose time is over, days without runs, old processes.

A payload is referred to by a `bytea` column whose name ends in `_ref`, in any table of `runs_*`: tests/integration/
retention_test.py wants an index on each.
"""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from runs.store.read import Connection

REFERENCES = """SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relname LIKE 'runs\\_%%' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT a.attisdropped
        AND a.attname LIKE '%%\\_ref' AND a.atttypid = 'bytea'::regtype ORDER BY 1, 2"""

# One look at the next payloads in the order of their hashes. Whoever refers to one touches it in the same statement
# (pawl_hold_payloads): a row that was judged by an older look is then read again under its lock, and left.
SWEEP_PAYLOADS = """WITH looked AS (
    SELECT hash FROM runs_payload WHERE hash > %(after)s ORDER BY hash LIMIT %(batch)s
), unused AS (
    SELECT p.hash FROM runs_payload p JOIN looked l ON l.hash = p.hash
    WHERE p.touched_at < statement_timestamp() - make_interval(secs => %(grace_s)s) AND NOT ({is_used})
    FOR UPDATE OF p SKIP LOCKED
), gone AS (
    DELETE FROM runs_payload p USING unused u WHERE p.hash = u.hash RETURNING p.hash
)
SELECT (SELECT hash FROM looked ORDER BY hash DESC LIMIT 1), (SELECT count(*) FROM gone)"""

# A final run whose workspace keeps it no longer, and that no other run refers to. `kept_by` is written for each such
# reference that the tables have.
EXPIRED = """r.status IN ('succeeded', 'failed', 'cancelled') AND r.finished_at < statement_timestamp() - make_interval(
    days => coalesce((SELECT k.days FROM runs_retention k WHERE k.workspace_id = r.workspace_id), %(days)s))
    AND coalesce((SELECT k.days FROM runs_retention k WHERE k.workspace_id = r.workspace_id), %(days)s) > 0 {kept_by}"""
# Index: run_finished. The oldest first; one that somebody works on just now is passed over.
TAKE_EXPIRED = """SELECT r.id, r.run_day FROM runs_run r WHERE {expired}
    ORDER BY r.finished_at LIMIT %(batch)s FOR UPDATE OF r SKIP LOCKED"""
# Index: run_day. Days with partitions of their own, of which no run is to be kept.
ENDED_DAYS = """SELECT d.day FROM (
        SELECT to_date(right(c.relname, 8), 'YYYYMMDD') AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'runs_event'::regclass AND c.relname ~ '_[0-9]{{8}}$') d
    WHERE d.day < (statement_timestamp() AT TIME ZONE 'UTC')::date
        AND NOT EXISTS (SELECT FROM runs_run r WHERE r.run_day = d.day AND NOT coalesce({expired}, false)) ORDER BY 1"""

# The tables that are partitioned by the day of the run; no foreign key tells of them.
FORGET_STEPS = tuple(
    f"""DELETE FROM {table} c USING runs_steprun s
    WHERE s.run_id = ANY(%s) AND c.step_run_id = s.id AND c.run_day = s.run_day"""
    for table in ("runs_attempt", "runs_checkpoint", "runs_logchunk")
)
FORGET_EVENTS = "DELETE FROM runs_event e WHERE e.run_id = ANY(%s) AND e.run_day = ANY(%s)"

# A dead worker's id is of no use any more: whatever it held was taken from it when it was buried.
OLD_WORKERS = """DELETE FROM runs_worker w WHERE w.dead_at < statement_timestamp() - interval '7 days'
    AND NOT EXISTS (SELECT FROM runs_steprun s WHERE s.worker = w.id AND s.status = 'running')"""
OLD_SWEEPERS = "DELETE FROM runs_sweeper WHERE seen_at < statement_timestamp() - interval '1 day'"


def payload_references(connection: Connection) -> list[tuple[str, str]]:
    """(table, column) of everything that may refer to a payload."""
    return connection.execute(REFERENCES, ()).fetchall()


def sweep_payloads(
    connection: Connection, references: Sequence[tuple[str, str]], *, after: bytes, batch: int, grace_s: float
) -> tuple[bytes | None, int]:
    """Looks at the payloads with a hash above `after`. Answers the last hash (None: there is no other), and how many it
    took away.
    """
    used = " OR ".join(f"EXISTS (SELECT FROM {table} WHERE {column} = p.hash)" for table, column in references)
    values = {"after": after, "batch": batch, "grace_s": grace_s}
    last, gone = connection.execute(SWEEP_PAYLOADS.format(is_used=used), values).fetchone() or (None, 0)
    return last, gone


def take_expired(connection: Connection, *, days: int, kept_by: str, batch: int) -> list[tuple[UUID, date]]:
    """(id, day) of expired runs, locked until the caller's transaction ends."""
    query = TAKE_EXPIRED.format(expired=EXPIRED.format(kept_by=kept_by))
    return connection.execute(query, {"days": days, "batch": batch}).fetchall()


def ended_days(connection: Connection, *, days: int, kept_by: str) -> list[date]:
    query = ENDED_DAYS.format(expired=EXPIRED.format(kept_by=kept_by))
    return [day for (day,) in connection.execute(query, {"days": days})]


def drop_day(connection: Connection, day: date, *, lock_ms: int) -> bool:
    """Drops the day's partitions; False where a run of that day is left. Raises LockNotAvailable: somebody reads."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{int(lock_ms)}ms'")
        found = connection.execute("SELECT pawl_drop_day(%s)", (day,)).fetchone()
    return bool(found and found[0])
