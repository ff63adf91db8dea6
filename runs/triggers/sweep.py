"""The sweeper's share of the triggers. Any number of sweepers, no leader: whoever has a trigger's row decides."""

from dataclasses import dataclass
from datetime import UTC, datetime

from runs.store.read import Connection
from runs.triggers.run_end import fire_run_ends
from runs.triggers.schedule import fire_schedules

# Indexes: trigger_due, firing_queued.
LOOK = """SELECT EXISTS (SELECT FROM runs_trigger WHERE next_at <= statement_timestamp())
    OR EXISTS (SELECT FROM runs_firing WHERE status = 'queued')"""


def fire_due(connection: Connection) -> int:
    """Starts what is due; how many runs. `connection` is in autocommit mode."""
    if connection.execute(LOOK).fetchone() == (False,):
        return 0
    return fire_schedules(connection) + fire_run_ends(connection)


# The next lines in the order of their age, and of these what may go: a line whose run is still there stays with it. A
# look costs the same however many lines stay. Indexes: firing_age, and the primary keys (OFFSET 0: run by run, never a
# join with all runs).
FORGET = """WITH looked AS (
    SELECT f.id, f.created_at FROM runs_firing f WHERE (f.created_at, f.id) > (%(at)s, %(id)s)
        AND f.created_at < statement_timestamp() - make_interval(days => %(days)s)
    ORDER BY f.created_at, f.id LIMIT %(batch)s
), gone AS (
    DELETE FROM runs_firing f USING looked l WHERE f.id = l.id AND f.status <> 'queued'
        AND NOT EXISTS (SELECT FROM runs_run r WHERE r.id = f.run_id OFFSET 0) RETURNING f.id
)
SELECT (SELECT count(*) FROM gone), l.created_at, l.id FROM looked l ORDER BY l.created_at DESC, l.id DESC LIMIT 1"""
FORGET_AT_ONCE = 1_000
OLDEST = (datetime(1, 1, 1, tzinfo=UTC), 0)


@dataclass
class Forgetting:
    """One sweeper's round through the ledgers: where its last look ended. It begins anew where there is no more."""

    after: tuple[datetime, int] = OLDEST

    def look(self, connection: Connection, *, days: int) -> int:
        """Takes lines away whose runs are gone, or that never had one, after as many days as runs are kept; 0 is for
        ever. How many.
        """
        if not days:
            return 0
        at, id_ = self.after
        values = {"at": at, "id": id_, "days": days, "batch": FORGET_AT_ONCE}
        found = connection.execute(FORGET, values).fetchone()
        if found is None:
            self.after = OLDEST
            return 0
        gone, *after = found
        self.after = (after[0], after[1])
        return int(gone)
