"""The sweeper's share of the triggers. Any number of sweepers, no leader: whoever has a trigger's row decides."""

from runs.store.read import Connection
from runs.triggers.run_end import fire_run_ends
from runs.triggers.schedule import fire_schedules


def fire_due(connection: Connection) -> int:
    """Starts what is due; how many runs. `connection` is in autocommit mode."""
    return fire_schedules(connection) + fire_run_ends(connection)


# Index: firing_age. A line whose run is still there stays with it.
FORGET = """DELETE FROM runs_firing WHERE id IN (SELECT f.id FROM runs_firing f
    WHERE f.created_at < statement_timestamp() - make_interval(days => %s) AND f.status <> 'queued'
    AND NOT EXISTS (SELECT FROM runs_run r WHERE r.id = f.run_id) ORDER BY f.created_at LIMIT %s)"""
FORGET_AT_ONCE = 1_000


def forget_old(connection: Connection, *, days: int) -> int:
    """Takes the ledgers' lines away whose runs are gone, or that never had one, after as many days as runs are kept; 0
    is for ever. How many.
    """
    return connection.execute(FORGET, (days, FORGET_AT_ONCE)).rowcount if days else 0
