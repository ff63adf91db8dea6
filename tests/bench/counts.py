"""What a step of a chain costs in round trips and commits, counted on the wire: figures that no busy machine changes.

Counted: everything that the worker's own connection says for one run of 12 steps, from the claim of the first step and
what that step reads to the commit that ends the run. Not counted: the worker's look for other work afterwards, which
is measured alone and taken off; and the heartbeat, which is one statement a second for the whole process.
"""

from dataclasses import dataclass

from django.conf import settings

from builder.workflows.models import Version
from tests.bench.wire import Count, Proxy
from tests.bench.workflows import INPUT, STEPS, chain
from tests.engine import World

WORKER = "pawl worker"
REPEATS = 3  # PostgreSQL's own housekeeping may write in between: the quietest one counts
WARM_UPS = 3  # prepared statements, the child and the workflow's definition: each worker pays for them once


@dataclass(frozen=True)
class Counts:
    round_trips_per_step: float
    commits_per_step: float
    bytes_per_step: int  # of PostgreSQL's log
    transactions: int  # that wrote during the run, counted by PostgreSQL itself: it checks the count of commits
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
        return min((_count(world, version, proxy, look=look) for _ in range(REPEATS)), key=lambda one: one.transactions)


def _count(world: World, version: Version, proxy: Proxy, *, look: Count) -> Counts:
    run = world.start(version, INPUT)
    written, transactions = _position(world)
    world.work()
    whole = proxy.count(WORKER)
    written_now, transactions_now = _position(world)
    assert world.run(run.run_id).status == "succeeded"
    assert look.commits == 0, "a look for work that finds none writes nothing"
    trips = whole.trips[: whole.round_trips - look.round_trips]
    return Counts(
        len(trips) / STEPS,
        whole.commits / STEPS,
        (written_now - written) // STEPS,
        transactions_now - transactions,
        trips,
    )


def _position(world: World) -> tuple[int, int]:
    """Bytes of log so far, and transactions so far that wrote anything."""
    query = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    row = world.connection.execute(query).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])
