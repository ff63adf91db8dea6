"""The sweeper's share of the triggers. Any number of sweepers, no leader: whoever has a trigger's row decides."""

from runs.store.read import Connection
from runs.triggers.run_end import fire_run_ends
from runs.triggers.schedule import fire_schedules


def fire_due(connection: Connection) -> int:
    """Starts what is due; how many runs. `connection` is in autocommit mode."""
    return fire_schedules(connection) + fire_run_ends(connection)
