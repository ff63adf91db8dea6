"""Who a worker is, and what its clock says: identical workers, clocks that are wrong, processes that others cannot see.

Faults 35, 37 and 64 of the fault matrix. What they could bring back: two workers under one id, a timer that fires by a
worker's own clock, a healthy worker that is taken for dead because a sweeper cannot see its process.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.utils import timezone

from builder.graph.model import Policy, Retry
from kit.ids import new_id
from runs import host
from runs.models import Attempt, StepRun, Worker
from runs.store import fleet as store
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

HOUR_S = 3600
SWEEPS_S = 4.0  # several of them: a sweeper buries at once what it sees to be gone
NO_PROCESS = 2**22 - 1
UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(shared_environment, folder) as fleet:
        yield fleet


def are_permitted() -> bool:
    """Whether this machine gives PID namespaces to us."""
    if shutil.which(UNSHARE[0]) is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


def with_clock(by_s: int) -> dict[str, str]:
    """The environment of a process whose wall clock is so many seconds wrong; its clock of intervals is right."""
    found = find_spec("libfaketime")
    assert found is not None
    assert found.submodule_search_locations
    library = Path(found.submodule_search_locations[0]) / "vendor" / "libfaketime" / "src" / "libfaketime.so.1"
    return {"LD_PRELOAD": str(library), "FAKETIME": f"{by_s:+d}", "DONT_FAKE_MONOTONIC": "1"}


def test_two_workers_started_alike_are_two(fleet: Fleet) -> None:
    for _ in range(2):
        fleet.worker()
    fleet.ready()
    rows = list(fleet.workers().filter(dead_at=None).values_list("id", "host", "boot_id", "queues"))
    assert len({id_ for id_, *_ in rows}) == len(rows) == 2
    assert len({tuple(rest) for _, *rest in rows}) == 1


@pytest.mark.parametrize("by_s", [HOUR_S, -HOUR_S], ids=["an hour ahead", "an hour behind"])
def test_a_worker_whose_clock_is_wrong_does_everything_in_time(fleet: Fleet, by_s: int) -> None:
    """A timer, a retry, a limit and the times in the tables go by the database's clock."""
    wrong = fleet.worker(threads=3, **with_clock(by_s))
    fleet.sweeper()
    fleet.ready()
    version = fleet.world.draw(
        "S > A > D > F > B > O",
        kinds={"F": "test_work_in_steps"},
        configs={"D": {"seconds": 1}, "F": {"value": str(fleet.folder / "kept")}},
        policies={"F": Policy(retry=Retry(attempts=3, first_delay_s=0.5)), "A": Policy(limit_s=5)},
    )
    began, at = time.monotonic(), timezone.now()
    run = fleet.start(version)
    fleet.wait_for(run, "succeeded")
    assert 1.0 < time.monotonic() - began < 30
    steps = fleet.world.steps(run)
    assert (steps["A"].attempt, steps["D"].attempt, steps["F"].attempt) == (1, 1, 2)
    for attempt in Attempt.objects.filter(run_id=run):
        for told in (attempt.started_at, attempt.finished_at):
            assert at - timedelta(seconds=5) < told < timezone.now() + timedelta(seconds=5)
    assert not fleet.workers().filter(heartbeat_at__gt=timezone.now() + timedelta(minutes=1)).exists()
    assert wrong.is_up
    [worker] = set(Attempt.objects.filter(run_id=run).exclude(worker=None).values_list("worker", flat=True))
    assert Worker.objects.get(id=worker).dead_at is None
    fleet.check()


def test_a_limit_is_kept_by_a_worker_whose_clock_is_wrong(fleet: Fleet) -> None:
    fleet.worker(**with_clock(HOUR_S))
    version = fleet.world.draw(
        "S > A:test_sleep > O", configs={"A": {"value": 60}}, policies={"A": Policy(limit_s=1.0)}
    )
    began = time.monotonic()
    run = fleet.start(version)
    fleet.wait_for(run, "failed")
    assert 1.0 < time.monotonic() - began < 15
    assert Attempt.objects.get(run_id=run).outcome == "timed_out"


def test_a_worker_whose_process_a_sweeper_cannot_see_is_judged_by_its_silence_alone(fleet: Fleet) -> None:
    """Same machine and boot, another PID namespace: that pid means somebody else here, or nobody."""
    connection = fleet.world.connection
    walled, seen = new_id(), new_id()
    for id_, namespace in ((walled, "4026539999"), (seen, host.pid_namespace())):
        identity = store.WorkerIdentity(id_, "here", host.boot_id(), namespace, NO_PROCESS, 1)
        store.register(connection, identity, queues=["nowhere"], threads=1)
    fleet.sweeper()
    ends_at = time.monotonic() + SWEEPS_S
    while time.monotonic() < ends_at:
        store.heartbeat(connection, worker=walled, held=[])
        time.sleep(0.5)
    assert Worker.objects.get(id=seen).dead_at is not None, "in this namespace the process is seen to be gone"
    assert Worker.objects.get(id=walled).dead_at is None


if are_permitted():  # else the test above shows the same by a row alone

    def test_a_real_worker_in_a_pid_namespace_of_its_own_is_not_taken_for_dead(fleet: Fleet) -> None:
        walled = fleet.worker(within=UNSHARE)
        fleet.sweeper()
        run = fleet.start(fleet.world.draw("S > A:test_sleep > B > O", configs={"A": {"value": SWEEPS_S}}))
        fleet.wait_for(run, "succeeded")
        step = StepRun.objects.get(run_id=run, key="A")
        assert (step.attempt, step.crash_count) == (1, 0)
        row = Worker.objects.get(id=Attempt.objects.get(step_run_id=step.id).worker)
        assert row.dead_at is None
        assert row.pid_namespace != host.pid_namespace()
        assert walled.is_up
        fleet.check()
