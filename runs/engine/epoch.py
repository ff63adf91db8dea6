"""After a failover that may have lost commits: no worker of before it counts any more.

An asynchronous standby that takes over may lack the last moments. Workers remember them: steps that they were given, a
run as they left it. Who raises the cluster's epoch declares all of them dead at once; each starts again under a new id
and forgets what it knew, and their steps are recovered.
"""

from dataclasses import dataclass

from runs.store.read import Connection

RAISE = """WITH buried AS (
    UPDATE runs_worker SET dead_at = statement_timestamp() WHERE dead_at IS NULL RETURNING id
)
INSERT INTO runs_clusterepoch (type, actor, note, workers, at)
    SELECT 'cluster.failover', %s, %s, (SELECT count(*) FROM buried), statement_timestamp()
    RETURNING epoch, workers"""


@dataclass(frozen=True)
class Raised:
    epoch: int
    workers: int  # that were declared dead


def raise_epoch(connection: Connection, *, actor: str, note: str) -> Raised:
    """One statement. Raised twice, it does no harm: workers that have come back start again once more."""
    row = connection.execute(RAISE, (actor, note)).fetchone()
    assert row is not None
    return Raised(*row)
