"""The ledger's rows. Every statement that adds one leaves an existing one alone: a tick has one row, whoever comes."""

from collections.abc import Sequence
from uuid import UUID

from runs.core.firings import Decided, Status
from runs.core.ticks import Tick
from runs.store.read import Connection

# Index: firing_once.
ADD = """INSERT INTO runs_firing (trigger_id, key, status, reason, due_at, created_at)
    SELECT %s, m.key, m.status, m.reason, m.due_at, statement_timestamp()
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[]) AS m(key, status, reason, due_at)
    ON CONFLICT (trigger_id, key) DO NOTHING"""
# A tick that never had a run gets its turn; one that has a run, or waits for it, is left alone.
ADD_AGAIN = """INSERT INTO runs_firing AS f (trigger_id, key, status, due_at, is_backfill, created_at)
    SELECT %s, m.key, 'queued', m.due_at, true, statement_timestamp()
    FROM unnest(%s::text[], %s::timestamptz[]) AS m(key, due_at)
    ON CONFLICT (trigger_id, key) DO UPDATE SET status = 'queued', reason = NULL, detail = NULL, is_backfill = true
    WHERE f.status IN ('missed', 'skipped', 'failed')"""
SKIP = """UPDATE runs_firing f SET status = 'skipped', reason = m.reason
    FROM unnest(%s::bigint[], %s::text[]) AS m(id, reason) WHERE f.id = m.id AND f.status = 'queued'"""
# Index: firing_queued.
SKIP_ALL = "UPDATE runs_firing SET status = 'skipped', reason = %s WHERE trigger_id = %s AND status = 'queued'"
FIRED = """UPDATE runs_firing SET status = 'fired', run_id = %s, reason = CASE WHEN reason = 'late' THEN reason END,
    fired_at = statement_timestamp() WHERE id = %s AND status = 'queued'"""
FAILED = """UPDATE runs_firing SET status = 'failed', reason = %s, detail = %s, fired_at = statement_timestamp()
    WHERE id = %s AND status = 'queued'"""


def key_of(tick: Tick) -> str:
    return tick.at.strftime("%Y-%m-%dT%H:%M:%SZ")


def add(connection: Connection, trigger_id: UUID, rows: Sequence[Decided]) -> int:
    """How many of the ticks were not in the ledger before."""
    if not rows:
        return 0
    columns = (
        [key_of(row.tick) for row in rows],
        [row.status.value for row in rows],
        [row.reason for row in rows],
        [row.tick.at for row in rows],
    )
    return connection.execute(ADD, (trigger_id, *columns)).rowcount


def add_again(connection: Connection, trigger_id: UUID, ticks: Sequence[Tick]) -> int:
    """How many of the ticks are to run now that were not to before."""
    return connection.execute(
        ADD_AGAIN, (trigger_id, [key_of(tick) for tick in ticks], [tick.at for tick in ticks])
    ).rowcount


def skip(connection: Connection, rows: Sequence[tuple[int, str]]) -> None:
    if rows:
        connection.execute(SKIP, ([id_ for id_, _ in rows], [reason for _, reason in rows]))


def skip_queue(connection: Connection, trigger_id: UUID, reason: str) -> None:
    connection.execute(SKIP_ALL, (reason, trigger_id))


def mark_fired(connection: Connection, firing_id: int, run_id: UUID) -> None:
    changed = connection.execute(FIRED, (run_id, firing_id)).rowcount
    assert changed == 1, f"firing {firing_id} is not {Status.QUEUED} although its trigger is locked"


def mark_failed(connection: Connection, firing_id: int, *, reason: str, detail: str) -> None:
    connection.execute(FAILED, (reason, detail, firing_id))
