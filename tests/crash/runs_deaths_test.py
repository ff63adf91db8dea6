"""Workers and sweepers die, freeze, and come back from the dead: their steps go on elsewhere, once.

Faults 3, 9, 38, 39, 43 of the fault matrix. What they could bring back: steps that stay with the dead for ever, timers
that two sweepers fire, a result of a worker that was taken for dead which overwrites the owner's.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest
import redis
from django.db import connection
from django.utils import timezone

from config import health
from kit.ids import new_id
from runs.engine.claim import claim
from runs.engine.resume import resume_run
from runs.models import Attempt, Event, LateEffect, StepRun
from runs.store import fleet as fleet_store
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

END_S = 8  # Ctrl-C of `make run` kills after five
SILENCE_S = 12  # after which a worker that exists and says nothing is taken for dead


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(shared_environment, folder) as fleet:
        yield fleet


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    folder = tmp_path / "gates"
    folder.mkdir()
    return folder


def test_steps_of_a_machine_that_lost_its_power_run_again_once_another_is_there(fleet: Fleet, gates: Path) -> None:
    gate = {"folder": str(gates)}
    version = fleet.world.draw("S > A > B:test_gate + C:test_gate > J > O", configs={"B": gate, "C": gate})
    killed = [fleet.worker(), fleet.worker(), fleet.sweeper()]
    run = fleet.start(version)
    fleet.wait(lambda: len(list(gates.iterdir())) == 2, what="two bodies that run")
    for process in killed:
        process.kill()
    assert fleet.world.statuses(run)["B"] == "running"
    fleet.worker()
    fleet.sweeper()
    fleet.wait_for(run, "succeeded")
    assert {path: step.attempt for path, step in fleet.world.steps(run).items() if step.attempt} == {
        "A": 1, "B": 2, "C": 2, "J": 1, "O": 1,
    }  # fmt: skip
    assert fleet.launches()[(str(run), "B")] == 2
    fleet.check()


def test_a_worker_that_is_told_to_end_gives_its_steps_back_at_once(fleet: Fleet, gates: Path) -> None:
    """A deployment: no sweeper is needed, and no try of the user's is used up."""
    version = fleet.world.draw("S > A:test_gate > B > O", configs={"A": {"folder": str(gates)}})
    leaving = fleet.worker()
    run = fleet.start(version)
    fleet.wait((gates / "A.1").exists, what="a body that runs")
    leaving.popen.terminate()
    assert leaving.popen.wait(END_S) == 0
    step = fleet.world.steps(run)["A"]
    assert (step.status, step.attempt, step.tries, step.crash_count) == ("ready", 1, 0, 0)
    fleet.worker()
    fleet.wait_for(run, "succeeded")
    assert fleet.world.output(run, "A")["attempt"] == 2
    fleet.check()


def test_three_sweepers_fire_each_timer_once_although_one_is_killed_in_the_middle(fleet: Fleet, tmp_path: Path) -> None:
    many = {"E": {"items": list(range(60)), "window": 60}, "D": {"seconds": 0.5}}
    drawings = [fleet.world.draw("S > E[D:delay] > O", configs=many)]
    drawings += [fleet.world.draw("S > D + D1 + D2 + D3 > J > O", configs={"delay": {"seconds": 0.5}})] * 10
    marker = tmp_path / "died"
    fleet.is_supervised = True
    fleet.worker(threads=4)
    for _ in range(3):
        fleet.sweeper(failpoints=f"in_sweep@5?marker={marker}:exit9")
    runs = [fleet.start(version) for version in drawings]
    for run in runs:
        fleet.wait_for(run, "succeeded")
    assert marker.exists(), "no sweeper died in the middle of a sweep"
    fired: Counter[tuple[object, str | None]] = Counter(
        Event.objects.filter(run_id__in=runs, type="step.succeeded", path__contains="D").values_list("run_id", "path")
    )
    assert len(fired) == 100
    assert set(fired.values()) == {1}
    fleet.check()


def test_without_a_sweeper_wake_ups_do_and_what_they_lose_waits_for_one(fleet: Fleet, redis_url: str) -> None:
    version = fleet.world.draw("S > A > B + C > J > O")
    fleet.worker()
    fleet.wait_for(fleet.start(version), "succeeded")
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
        time.sleep(1)  # what rang for the first run has been heard: a worker that is awake looks for other work as well
        lost = fleet.start(version, announced=False)
        client.flushall()
    time.sleep(2)
    assert fleet.world.statuses(lost)["A"] == "ready"
    fleet.sweeper()
    fleet.wait_for(lost, "succeeded")
    fleet.check()


def attempts_of(worker: UUID, runs: list[UUID]) -> list[tuple[str, int, str]]:
    """Path, number and outcome, of these runs alone: one that an earlier test has left may have been taken up."""
    paths = dict(StepRun.objects.filter(run_id__in=runs).values_list("id", "path"))
    rows = Attempt.objects.filter(run_id__in=runs, worker=worker).values_list("step_run_id", "number", "outcome")
    return sorted((paths[step], number, outcome) for step, number, outcome in rows)


def test_a_worker_back_from_the_dead_is_refused_and_works_on_under_a_new_id(fleet: Fleet, gates: Path) -> None:
    """It freezes with three steps: in a body, before the finish of one, and in a body whose run is resumed by a person
    meanwhile. Frozen it still exists, so only its silence tells: the slow way, as on another host."""
    configs = {name: {"folder": str(gates)} for name in ("A", "B")}
    configs["C"] = {"folder": str(gates), "fails": [2]}  # type: ignore[dict-item]
    paused = f"before_finish?marker={gates / 'paused'}:pause={gates / 'go-on'}"
    zombie = fleet.worker(threads=3, failpoints=paused)
    first = fleet.world.draw("S > A:test_gate > Z > O", configs={"A": {"folder": str(gates), "holds": []}})
    before_finish = fleet.start(first)
    fleet.wait((gates / "paused").exists, what="a worker before its finish")
    in_body = fleet.start(fleet.world.draw("S > B:test_gate > Z > O", configs=configs))
    resumed = fleet.start(fleet.world.draw("S > C:test_gate > Z > O", configs=configs))
    fleet.wait(lambda: {"B.1", "C.1"} <= {each.name for each in gates.iterdir()}, what="two bodies that run")
    zombie_id = StepRun.objects.get(run_id=in_body, path="B").worker
    zombie.freeze()
    fleet.worker(threads=3)
    fleet.sweeper()
    began = time.monotonic()
    fleet.wait_for(before_finish, "succeeded")
    assert time.monotonic() - began > SILENCE_S - 4, "a worker that exists was buried before its silence was long"
    fleet.wait_for(in_body, "succeeded")
    fleet.wait_for(resumed, "failed")
    with fleet.world.connection.transaction():
        commanded = resume_run(fleet.world.connection, fleet.world.command(resumed, "resume", generation=1))
    assert commanded.told is not None
    zombie.thaw()
    (gates / "go-on").touch()
    (gates / "go").touch()
    commanded.told.announce()
    fleet.wait_for(resumed, "succeeded")
    fleet.wait(lambda: zombie.says("came too late and was refused"), what="the refusal")
    fleet.wait(lambda: zombie.says("was declared dead and starts again"), what="the zombie's new life")
    outputs = [fleet.world.output(run, step)["attempt"] for run, step in
               ((before_finish, "A"), (in_body, "B"), (resumed, "C"))]  # fmt: skip
    assert outputs == [2, 2, 3]
    assert attempts_of(zombie_id, [before_finish, in_body, resumed]) == [(path, 1, "lost") for path in "ABC"]
    fleet.processes[1].kill()  # the other one: the zombie must do the work now
    fleet.wait_for(fleet.start(first), "succeeded")
    fleet.check()


def test_the_effect_of_a_frozen_worker_that_comes_late_carries_the_same_key_and_an_older_fence(
    fleet: Fleet, gates: Path
) -> None:
    """Nothing can stop it: the outside tells the two apart by the key and the fence, and one result counts."""
    version = fleet.world.draw("S > A:test_late_effect > O", configs={"A": {"folder": str(gates)}})
    frozen = fleet.worker()
    run = fleet.start(version)
    fleet.wait((gates / "A.1").exists, what="a body before its effect")
    frozen.freeze()
    fleet.worker()
    fleet.sweeper()
    fleet.wait_for(run, "succeeded")
    assert [line.split()[0] for line in (gates / "effects").read_text().splitlines()] == ["2"]
    (gates / "go").touch()
    frozen.thaw()
    fleet.wait(lambda: len((gates / "effects").read_text().splitlines()) == 2, what="the late effect")
    (_, fence, key), (late, late_fence, late_key) = (
        line.split() for line in (gates / "effects").read_text().splitlines()
    )
    assert (late, late_key) == ("1", key)
    assert int(late_fence) < int(fence)
    fleet.wait(lambda: frozen.says("was declared dead and starts again"), what="the zombie's new life")
    assert fleet.world.output(run, "A")["attempt"] == 2
    fleet.wait(LateEffect.objects.exists, what="the late effect's own row")
    late = LateEffect.objects.get()
    assert (late.step_run.path, late.attempt, late.fence, late.act) == ("A", 1, int(late_fence), "write")
    assert not health.check_late_effects()["ok"]
    fleet.check()


def test_a_step_that_the_sweeper_cannot_recover_keeps_no_other_one_waiting(fleet: Fleet) -> None:
    """A row that contradicts another must never be there; if it is, one run stands still, and not all of them."""
    world = fleet.world
    bad = fleet.start(world.draw("S > A:test_sleep > O", configs={"A": {"value": 60}}), announced=False)
    good = fleet.start(world.draw("S > D > O", configs={"D": {"seconds": 0.01}}), announced=False)
    gone = StepRun.objects.get(run_id=bad, path="A")
    claimed = claim(world.connection, worker=world.process.id, claim_id=new_id(), queue="default", kinds=["test_sleep"])
    assert claimed.held is not None
    world.work()
    Attempt.objects.create(
        run_day=gone.run_day, run_id=bad, step_run_id=gone.id, number=1, fence=1, worker=world.process.id,
        outcome="lost", started_at=timezone.now(), finished_at=timezone.now(),
    )  # fmt: skip
    fleet_store.bury(world.connection, world.process.id)
    time.sleep(0.1)
    swept = world.sweep()
    assert swept.recovered == 0
    assert world.statuses(bad)["A"] == "running"
    assert world.statuses(good)["D"] == "succeeded"
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_attempt WHERE run_id = %s", [bad])
