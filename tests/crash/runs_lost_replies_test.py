"""A reply of PostgreSQL is lost after the server did what was asked: the worker asks again and gets the same answer.

Faults 6 and 61 of the matrix. What they could bring back: a step that is claimed and that nobody knows of, running
without end; a result that is written twice; a next step that was taken in a finish whose reply never came.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from runs.models import Event
from tests.fleet import Fleet
from tests.proxy import Proxy

pytestmark = pytest.mark.crash

# The text of a statement is sent the first times only: a connection prepares what it repeats.
REQUESTS = {
    "a claim": (b"candidate AS", 1),
    "two claims in a row": (b"candidate AS", 2),
    "the first finish with its claim-next": (b"COMMIT", 1),
    "two finishes": (b"COMMIT", 2),
    "the lock of a finish": (b"FOR UPDATE", 1),
    "a heartbeat": (b"WITH me AS", 1),
}


@pytest.fixture
def proxy(servers: object) -> Iterator[Proxy]:
    with Proxy(servers.postgres.port) as proxy:  # type: ignore[attr-defined]
        yield proxy


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_lost_reply_changes_nothing(
    request_: str, proxy: Proxy, shared_environment: Mapping[str, str], tmp_path: Path
) -> None:
    through = shared_environment["DATABASE_URL"].rpartition("@")[0] + f"@127.0.0.1:{proxy.port}/"
    through += shared_environment["DATABASE_URL"].rpartition("/")[2]
    with Fleet(shared_environment, tmp_path) as fleet:
        version = fleet.world.draw("S > A > B > C > E[Y:test_echo] > J > O", configs={"E": {"items": [1, 2]}})
        worker = fleet.worker(threads=1, DATABASE_URL=through)
        fleet.sweeper()
        fleet.ready()
        pattern, times = REQUESTS[request_]
        loss = proxy.drop_reply(pattern, times=times)
        run = fleet.start(version)
        fleet.wait_for(run, "succeeded")
        fleet.wait(lambda: loss.done == times, what=f"the loss of the reply to {request_}")
        steps = fleet.world.steps(run)
        assert {path: step.attempt for path, step in steps.items() if step.attempt > 1} == {}
        told = Event.objects.filter(run_id=run, type="step.running").count()
        assert told == len([step for step in steps.values() if step.attempt == 1])
        assert sum(fleet.launches().values()) == told
        assert worker.is_up
        fleet.check()
