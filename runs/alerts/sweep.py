"""The sweeper's share of the alerts."""

from runs.alerts.deliver import forget, make_deliveries, send_due
from runs.alerts.facts import gather
from runs.store.read import Connection


def watch(connection: Connection) -> int:
    """Finds what happened, sends what is due; how many deliveries were tried. `connection` is in autocommit mode."""
    gather(connection)
    make_deliveries(connection)
    return send_due(connection)


__all__ = ["forget", "watch"]
