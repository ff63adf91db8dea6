"""What a step of a chain costs in round trips and commits, counted on the wire: figures that no busy machine changes.

Counted: everything that the worker's own connection says for one run of 12 steps, from the claim of the first step and
what that step reads to the commit that ends the run. Not counted: the worker's look for other work afterwards, which
is measured alone and taken off; and the heartbeat, which is one statement a second for the whole process.
"""

from dataclasses import dataclass

from django.conf import settings

from tests.bench.wire import Count, Proxy
from tests.bench.workflows import INPUT, STEPS, chain
from tests.engine import World

WORKER = "pawl worker"
WARM_UPS = 3  # prepared statements, the child and the workflow's definition: each worker pays for them once


@dataclass(frozen=True)
class Counts:
    round_trips_per_step: float
    commits_per_step: float
    bytes_per_step: int  # of PostgreSQL's log
    trips: list[list[str]]  # the statements of each round trip


def count_chain(world: World) -> Counts:
    """In this process, by a real worker thread with a real child; no other worker may run meanwhile."""
    database = settings.DATABASES["default"]
    direct = database["PORT"]
    version = world.publish(chain())
    with Proxy(upstream=(str(database["HOST"]), int(direct))) as proxy:
        database["PORT"] = str(proxy.port)
        try:
            world.slot.link.connection  # noqa: B018 - opens it through the proxy
        finally:
            database["PORT"] = direct
        for _ in range(WARM_UPS):
            world.start(version, INPUT)
            world.work()
        proxy.count(WORKER)
        world.work()
        look = proxy.count(WORKER)
        run = world.start(version, INPUT)
        before = _log_position(world)
        world.work()
        whole = proxy.count(WORKER)
        assert world.run(run.run_id).status == "succeeded"
        return _counts(whole, look, written=_log_position(world) - before)


def _counts(whole: Count, look: Count, *, written: int) -> Counts:
    trips = whole.trips[: whole.round_trips - look.round_trips]
    assert look.commits == 0, "a look for work that finds none writes nothing"
    return Counts(len(trips) / STEPS, whole.commits / STEPS, written // STEPS, trips)


def _log_position(world: World) -> int:
    row = world.connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])
