"""How soon what died goes on elsewhere, and that nobody else notices: promise P7, with real processes.

Faults 1, 2, 8 and 11 of the fault matrix. What they could bring back: a step that waits for the silence of a worker
whose process is seen to be gone, a crash that takes the steps of other threads along, work that is found only by the
next lucky claim, a heartbeat that a busy body starves.
"""

import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest
from django.utils.timezone import now

from builder.graph.model import Policy
from runs.models import Attempt, Event, StepRun
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

NOTICED_S = 2.0  # promise P7: a lost wake-up, a worker that died on a host with a sweeper
SLACK_S = 6.0  # for a machine that does other things as well; a silence takes 12 s
SILENCE_S = 12.0


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


def seconds_to_start(run: UUID, path: str, moment: datetime) -> float:
    """From the moment to the step's latest start."""
    at = Event.objects.filter(run_id=run, path=path, type="step.running").order_by("seq").values_list("at", flat=True)
    return float((list(at)[-1] - moment).total_seconds())


def child_of(fleet: Fleet, path: str) -> int:
    """The process that runs that body."""
    [line] = [line.split() for line in fleet.launch_log.read_text().splitlines() if line.split()[1] == path]
    return int(line[4])


def attempts(run: UUID) -> dict[str, int]:
    return {step.path: step.attempt for step in StepRun.objects.filter(run_id=run) if step.attempt}


def test_a_child_killed_in_a_body_costs_that_step_alone_one_attempt_and_two_seconds(fleet: Fleet, gates: Path) -> None:
    gate = {"folder": str(gates)}
    fleet.worker(threads=2)
    fleet.sweeper()
    run = fleet.start(fleet.world.draw("S > A:test_gate + B:test_gate > J > O", configs={"A": gate, "B": gate}))
    fleet.wait(lambda: len(list(gates.iterdir())) == 2, what="two bodies that run")
    struck_at = now()
    os.kill(child_of(fleet, "A"), signal.SIGKILL)
    fleet.wait_for_step(run, "A", "succeeded")
    assert seconds_to_start(run, "A", struck_at) < NOTICED_S + SLACK_S
    assert fleet.world.statuses(run)["B"] == "running", "the worker's other thread goes on"
    (gates / "go").touch()
    fleet.wait_for(run, "succeeded")
    assert attempts(run) == {"A": 2, "B": 1, "J": 1, "O": 1}
    lost = Attempt.objects.filter(run_id=run, outcome="lost").values_list("step_run_id", "number")
    assert list(lost) == [(fleet.world.steps(run)["A"].id, 1)]
    assert not fleet.workers().exclude(dead_at=None).exists(), "the worker lives"
    fleet.check()


def test_steps_of_a_killed_worker_start_elsewhere_within_two_seconds(fleet: Fleet, gates: Path) -> None:
    gate = {"folder": str(gates)}
    doomed = fleet.worker(threads=2)
    fleet.sweeper()
    run = fleet.start(fleet.world.draw("S > A:test_gate + B:test_gate > J > O", configs={"A": gate, "B": gate}))
    fleet.wait(lambda: len(list(gates.iterdir())) == 2, what="two bodies that run")
    fleet.worker(threads=2)
    fleet.ready()
    bodies = [child_of(fleet, path) for path in "AB"]
    struck_at = now()
    os.kill(doomed.pids()[0], signal.SIGKILL)
    fleet.wait_for(run, "succeeded")
    assert max(seconds_to_start(run, path, struck_at) for path in "AB") < NOTICED_S + SLACK_S
    assert not any(Path(f"/proc/{pid}").exists() for pid in bodies), "its children are gone with it"
    assert attempts(run) == {"A": 2, "B": 2, "J": 1, "O": 1}
    fleet.check()


@pytest.mark.parametrize("point", ["after_finish", "before_wake"])
def test_what_a_step_made_ready_starts_within_two_seconds_though_its_worker_died_before_it_told(
    fleet: Fleet, point: str, tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    for _ in range(2):
        fleet.worker(threads=1, failpoints=f"{point}?marker={marker}:exit9")
    fleet.sweeper()
    fleet.ready()
    run = fleet.start(fleet.world.draw("S > A > B + C + D1 > J > O", kinds={"D1": "pass_through"}))
    fleet.wait_for(run, "succeeded")
    assert marker.exists()
    made_ready_at = Event.objects.get(run_id=run, path="A", type="step.succeeded").at
    assert max(seconds_to_start(run, path, made_ready_at) for path in ("B", "C", "D1")) < NOTICED_S + SLACK_S
    fleet.check()


def test_bodies_that_keep_the_processors_busy_for_longer_than_a_silence_starve_no_heartbeat(fleet: Fleet) -> None:
    """They spin until their limit: one attempt each, and a worker that nobody took for dead meanwhile."""
    fleet.worker(threads=3)
    fleet.sweeper()
    fleet.ready()
    limit = Policy(limit_s=SILENCE_S + 2)
    run = fleet.start(fleet.world.draw("S > A:test_spin + B:test_spin > O", policies={"A": limit, "B": limit}))
    fleet.wait_for_step(run, "B", "running")
    longest_s = 0.0
    while fleet.world.run(run).status == "running":
        [heard_at] = fleet.workers().values_list("heartbeat_at", flat=True)
        longest_s = max(longest_s, (now() - heard_at).total_seconds())
        time.sleep(0.2)
    assert longest_s < SILENCE_S
    assert attempts(run) == {"A": 1, "B": 1}
    assert {json.loads(fleet.world.steps(run)[path].error or "{}")["code"] for path in "AB"} == {"timed_out"}
    assert not fleet.workers().exclude(dead_at=None).exists()
    fleet.check()
