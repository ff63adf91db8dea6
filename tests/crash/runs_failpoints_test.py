"""kill -9 of a real process at each named point of it: another one goes on, and nothing runs twice.

Faults 2, 4, 5, 6, 7, 8 of the fault matrix. What each point could bring back: a step that is lost (claimed by the dead,
finished and never followed), one that runs again after its success, events with a gap, counters that lie.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from builder.graph.model import Policy, Retry
from config.services.house import REPOSITORY
from runs.engine.decide import decide_step
from runs.models import Run
from tests.fleet import Fleet
from tests.interleavings.acts import ACTS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.crash]

# point -> whether the killed attempt's body may have begun (it then runs once more)
POINTS = {
    "after_claim": False,
    "before_finish": True,
    "in_finish": True,
    "after_finish": False,
    "before_wake": False,
    "after_upload": True,
    "before_body": True,  # the child dies here and in the next one; the launcher's line is written before
    "after_body": True,
    "in_heartbeat": True,
}
IN_ACTS = {"in_fork": "forks"}  # their act dies at each of its statements, in tests/interleavings
OF_SWEEPERS = ("in_sweep", "before_wake")
ONCE = ("after_claim", "after_upload", "in_heartbeat")  # these are passed once by each worker, or by its own clock
BIG = "x" * 20_000  # larger than a row holds: uploaded before the finish


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_point_costs_at_most_one_attempt(
    point: str, process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        version = fleet.world.draw(
            "S > A > E[Y] > J > O",
            configs={
                "A": {"value": BIG},
                "E": {"items": [1, 2, 3]},
                "Y": {"value": "{{ item }}"},
                "J": {"value": "{{ steps.E.output }}"},
            },
        )
        failpoints = f"{point}{'' if point in ONCE else '@2'}?marker={marker}:exit9"
        for _ in range(2):
            fleet.worker(failpoints=failpoints)
        fleet.sweeper()
        if point == "in_heartbeat":  # it dies within a second, whatever it does
            fleet.wait(marker.exists, what="a heartbeat")
        started = fleet.world.start(version)
        fleet.announce(started)
        fleet.wait_for(started.run_id, "succeeded")
        assert marker.exists(), f"the point {point} was never reached"
        assert fleet.world.output(started.run_id, "J") == [1, 2, 3]
        attempts = {path: step.attempt for path, step in fleet.world.steps(started.run_id).items() if path != "S"}
        assert sum(attempts.values()) <= len(attempts) + 1
        begun = fleet.launches()
        assert sum(begun.values()) <= len(attempts) + POINTS[point]
        fleet.check()


def test_a_step_that_is_at_most_once_waits_for_a_person_when_its_worker_dies_right_after_the_claim(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    """Nobody knows whether its body had begun, although here it had not."""
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        once = {"A": Policy(delivery="at_most_once")}
        for _ in range(2):
            fleet.worker(failpoints=f"after_claim?marker={marker}:exit9")
        fleet.sweeper()
        run = fleet.start(fleet.world.draw("S > A > O", policies=once))
        fleet.wait_for_step(run, "A", "needs_decision")
        assert marker.exists()
        assert fleet.launches()[(str(run), "A")] == 0
        command = fleet.world.command(run, "decide")
        with fleet.world.connection.transaction():
            decide_step(fleet.world.connection, command, path="A", decision="run_again")
        fleet.wait_for(run, "succeeded")
        assert fleet.launches()[(str(run), "A")] == 1
        fleet.check()


@pytest.mark.parametrize("point", OF_SWEEPERS)
def test_a_sweeper_killed_at_any_point_leaves_the_rest_to_another(
    gated_kinds: None, point: str, process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        retried = Policy(retry=Retry(attempts=3, first_delay_s=0.1))
        version = fleet.world.draw(
            "S > D > F:test_work_in_steps > O",
            configs={"D": {"seconds": 0.2}, "F": {"value": str(tmp_path / "kept")}},
            policies={"F": retried},
        )
        fleet.worker()
        for _ in range(2):
            fleet.sweeper(failpoints=f"{point}?marker={marker}:exit9")
        run = fleet.start(version)
        fleet.wait_for(run, "succeeded")
        assert marker.exists(), f"no sweeper came to {point}"
        assert fleet.world.events(run).count(("step.succeeded", "D")) == 1
        assert fleet.world.steps(run)["F"].attempt == 2
        fleet.check()


def test_a_sweeper_killed_while_it_deletes_expired_runs_leaves_them_whole(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker, days = tmp_path / "died", {"PAWL_RETENTION_DAYS": "1"}
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.worker()
        run = fleet.start(fleet.world.draw("S > A > O"))
        fleet.wait_for(run, "succeeded")
        Run.objects.filter(id=run).update(finished_at=timezone.now() - timedelta(days=2))
        mortal = fleet.sweeper(failpoints=f"in_retention?marker={marker}:exit9", **days)
        fleet.wait(lambda: not mortal.is_up, what="the death of a sweeper")
        assert marker.exists()
        assert fleet.world.run(run).status == "succeeded"
        fleet.check()
        fleet.sweeper(**days)
        fleet.wait(lambda: not Run.objects.filter(id=run).exists(), what="the end of an expired run")
        assert fleet.world.broken() == []


def test_each_named_point_is_a_moment_of_some_test() -> None:
    """Those of the triggers, bulk acts, callbacks and limits are in the tests of these."""
    folder = REPOSITORY / "runs"
    named = {name for file in folder.rglob("*.py") for name in re.findall(r'failpoint\("(\w+)"\)', file.read_text())}
    told = "".join(file.read_text() for file in (REPOSITORY / "tests").rglob("*_test.py"))
    armed = {name for name in named if re.search(rf"\b{name}\b[^\n]*(exit9|raise|pause|sleep)", told)}
    assert named == {*POINTS, *OF_SWEEPERS, *IN_ACTS} | armed
    assert set(IN_ACTS.values()) <= set(ACTS)
