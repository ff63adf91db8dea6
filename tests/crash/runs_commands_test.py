"""People's commands against running steps, dead workers and each other: each is done once, or refused with a reason.

Faults 40, 41, 42 and 49 of the fault matrix. What they could bring back: a run that is cancelled and goes on, a step
with two outcomes, two generations for one click, an answer that is counted twice.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client

from builder.graph.model import Policy
from builder.workflows.models import Version
from runs.models import Attempt, Event, Run, Wait
from teams.models import Role
from tests.engine import World
from tests.fleet import Fleet, Process
from tests.people import Cast, cast

pytestmark = pytest.mark.crash

CANCEL_S = 2.0  # promise P7
SLACK_S = 1.5  # for a machine that does other things as well


@pytest.fixture(scope="module")
def people(shared_environment: object) -> Cast:
    return cast()


@pytest.fixture(scope="module")
def fleet(
    people: Cast, shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    with Fleet(shared_environment, folder, world=World(workspace=people.acme)) as fleet:
        fleet.worker(threads=4)
        fleet.sweeper()
        fleet.ready()
        yield fleet


@pytest.fixture
def lane(fleet: Fleet) -> Iterator[Callable[[str, str], Process]]:
    """A worker of a lane of its own, which stops at failpoints; it leaves with the test."""
    started: list[Process] = []

    def start(name: str, failpoints: str) -> Process:
        started.append(fleet.worker(threads=1, failpoints=failpoints, PAWL_WORKER_QUEUES=name))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        fleet.processes.remove(process)


def post(client: Client, people: Cast, address: str, **data: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(f"/api/workspaces/{people.acme.slug}/{address}", data, content_type="application/json")
    return answer.status_code, answer.json()


def at_once(calls: list[Callable[[], tuple[int, dict[str, Any]]]]) -> list[tuple[int, dict[str, Any]]]:
    """What each of these answers, all sent at the same moment from threads of their own."""
    start, answers = threading.Barrier(len(calls)), []

    def call(act: Callable[[], tuple[int, dict[str, Any]]]) -> None:
        start.wait()
        try:
            answers.append(act())
        finally:
            connection.close()

    threads = [threading.Thread(target=call, args=(act,)) for act in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def cancel(people: Cast, run: UUID) -> None:
    status, answer = post(people.client(Role.OPERATOR), people, f"runs/{run}/cancel", command_id=str(uuid4()))
    assert status == 200, answer


def seconds(run: UUID, first: str, second: str) -> float:
    at = {event.type: event.at for event in Event.objects.filter(run_id=run)}
    return float((at[second] - at[first]).total_seconds())


def outcomes(run: UUID) -> list[str]:
    return list(Attempt.objects.filter(run_id=run).order_by("fence").values_list("outcome", flat=True))


# ------------------------------------------------------------------ cancel


def test_cancel_reaches_running_bodies_in_time_and_nothing_follows_them(
    fleet: Fleet, people: Cast, tmp_path: Path
) -> None:
    gate = {"folder": str(tmp_path)}
    run = fleet.start(fleet.world.draw("S > A:test_gate + B:test_gate > J > O", configs={"A": gate, "B": gate}))
    fleet.wait(lambda: len(list(tmp_path.iterdir())) == 2, what="two bodies that run")
    cancel(people, run)
    fleet.wait_for(run, "cancelled")
    assert seconds(run, "command", "run.cancelled") < CANCEL_S + SLACK_S
    assert {fleet.world.statuses(run)[path] for path in "ABJO"} == {"cancelled"}
    assert set(outcomes(run)) == {"cancelled"}
    fleet.check()


def test_a_run_whose_worker_is_dead_is_cancelled_as_well(
    fleet: Fleet, people: Cast, tmp_path: Path, lane: Callable[[str, str], Process]
) -> None:
    doomed = lane("doomed", "")
    version = fleet.world.draw(
        "S > A:test_gate > O", configs={"A": {"folder": str(tmp_path)}}, policies={"A": Policy(queue="doomed")}
    )
    run = fleet.start(version)
    fleet.wait((tmp_path / "A.1").exists, what="a body that runs")
    sweeper = fleet.processes[1]
    sweeper.freeze()
    doomed.kill()
    cancel(people, run)
    assert fleet.world.run(run).status == "cancelling"
    sweeper.thaw()
    fleet.wait_for(run, "cancelled")
    assert outcomes(run) == ["cancelled"]
    fleet.check()


def race(fleet: Fleet, folder: Path, name: str, **policy: Any) -> Version:
    """S > A > B > O, where A runs on the lane of that name."""
    configs = {"A": {"folder": str(folder), "holds": []}, "B": {"folder": str(folder)}}
    return fleet.world.draw(
        "S > A:test_gate > B:test_gate > O", configs=configs, policies={"A": Policy(queue=name, **policy)}
    )


def test_cancelled_before_its_result_is_committed_a_step_keeps_its_result_and_the_run_ends(
    fleet: Fleet, people: Cast, tmp_path: Path, lane: Callable[[str, str], Process]
) -> None:
    """The body has ended, and its effect with it: to throw the result away would be a lie."""
    marker, go_on = tmp_path / "marker", tmp_path / "go-on"
    lane("late", f"before_finish?marker={marker}:pause={go_on}")
    run = fleet.start(race(fleet, tmp_path, "late"))
    fleet.wait(marker.exists, what="a worker before its finish")
    cancel(people, run)
    assert fleet.world.run(run).status == "cancelling"
    go_on.touch()
    fleet.wait_for(run, "cancelled")
    assert [fleet.world.statuses(run)[path] for path in "ABO"] == ["succeeded", "cancelled", "cancelled"]
    assert outcomes(run) == ["succeeded"]
    fleet.check()


def test_a_cancel_that_waits_for_a_finish_cancels_what_that_made_ready(
    fleet: Fleet, people: Cast, tmp_path: Path, lane: Callable[[str, str], Process]
) -> None:
    marker, go_on = tmp_path / "marker", tmp_path / "go-on"
    lane("early", f"in_finish?marker={marker}:pause={go_on}")
    run = fleet.start(race(fleet, tmp_path, "early"))
    fleet.wait(marker.exists, what="a worker in its finish")
    threading.Timer(1.0, go_on.touch).start()
    began = time.monotonic()
    cancel(people, run)  # the run's row is locked meanwhile
    assert time.monotonic() - began > 0.5
    fleet.wait_for(run, "cancelled")
    assert [fleet.world.statuses(run)[path] for path in "ABO"] == ["succeeded", "cancelled", "cancelled"]
    fleet.check()


# ------------------------------------------------------------------ time limits


def test_a_result_that_was_there_before_the_limit_counts_however_late_it_is_committed(
    fleet: Fleet, tmp_path: Path, lane: Callable[[str, str], Process]
) -> None:
    marker, go_on = tmp_path / "marker", tmp_path / "go-on"
    lane("slow-commit", f"before_finish?marker={marker}:pause={go_on}")
    run = fleet.start(race(fleet, tmp_path, "slow-commit", limit_s=1))
    fleet.wait(marker.exists, what="a worker before its finish")
    time.sleep(2)
    go_on.touch()
    (tmp_path / "go").touch()
    fleet.wait_for(run, "succeeded")
    assert outcomes(run)[0] == "succeeded"
    assert fleet.world.steps(run)["A"].attempt == 1
    fleet.check()


def test_a_result_that_comes_after_the_limit_does_not_count(
    fleet: Fleet, tmp_path: Path, lane: Callable[[str, str], Process]
) -> None:
    lane("slow-answer", f"after_body?marker={tmp_path / 'marker'}:sleep=3")
    run = fleet.start(race(fleet, tmp_path, "slow-answer", limit_s=1))
    fleet.wait_for(run, "failed")
    step = fleet.world.steps(run)["A"]
    assert (step.attempt, step.output, json.loads(step.error or "{}")["code"]) == (1, None, "timed_out")
    assert outcomes(run) == ["timed_out"]
    fleet.check()


# ------------------------------------------------------------------ two people at once


def failed_run(fleet: Fleet, folder: Path) -> UUID:
    gate = {"folder": str(folder), "holds": [], "fails": [1]}
    run = fleet.start(fleet.world.draw("S > A:test_gate > O", configs={"A": gate}))
    fleet.wait_for(run, "failed")
    return run


def test_a_double_click_on_resume_is_one_resume(fleet: Fleet, people: Cast, tmp_path: Path) -> None:
    run = failed_run(fleet, tmp_path)
    client, id_ = people.client(Role.OPERATOR), str(uuid4())
    click = lambda: post(client, people, f"runs/{run}/resume", command_id=id_, generation=1)  # noqa: E731
    answers = at_once([click] * 4)
    assert [status for status, _ in answers] == [200] * 4, answers
    assert [answer for _, answer in answers] == [{"generation": 2, "status": "running", "again": ["A", "O"]}] * 4
    fleet.wait_for(run, "succeeded")
    assert fleet.world.steps(run)["A"].attempt == 2
    assert Event.objects.filter(run_id=run, type="command").count() == 1
    fleet.check()


def test_two_people_who_resume_at_once_are_told_who_was_first(fleet: Fleet, people: Cast, tmp_path: Path) -> None:
    run = failed_run(fleet, tmp_path)
    clients = [people.client(role) for role in (Role.OPERATOR, Role.OWNER)]
    answers = at_once(
        [
            lambda client=client: post(  # type: ignore[misc]
                client, people, f"runs/{run}/resume", command_id=str(uuid4()), generation=1
            )
            for client in clients
        ]
    )
    assert sorted(status for status, _ in answers) == [200, 409], answers
    refusal = next(answer for status, answer in answers if status == 409)
    assert (refusal["code"], refusal["data"]["generation"]) == ("generation_changed", 2)
    fleet.wait_for(run, "succeeded")
    assert Run.objects.get(id=run).generation == 2
    assert fleet.world.steps(run)["A"].attempt == 2
    fleet.check()


def test_five_answers_to_one_question_are_one_answer(fleet: Fleet, people: Cast) -> None:
    version = fleet.world.draw("S > P:test_approval > O", configs={"P": {"value": "Pay?"}})
    run = fleet.start(version)
    wait = fleet.wait(lambda: Wait.objects.filter(run_id=run, status="open").first(), what="the question")
    clients = [people.client(Role.OPERATOR) for _ in range(5)]
    answers = at_once(
        [
            lambda client=client, number=number: post(  # type: ignore[misc]
                client, people, f"waits/{wait.id}/answer", command_id=str(uuid4()), decision="approved",
                comment=f"by {number}",
            )
            for number, client in enumerate(clients)
        ]
    )  # fmt: skip
    assert sorted(status for status, _ in answers) == [200, 410, 410, 410, 410], answers
    assert {answer.get("code") for status, answer in answers if status == 410} == {"wait_closed"}
    fleet.wait_for(run, "succeeded")
    told = Event.objects.filter(run_id=run, path="P", type="step.succeeded")
    assert told.count() == 1
    wait.refresh_from_db()
    assert wait.status == "answered"
    assert json.loads(wait.answer)["comment"] == fleet.world.output(run, "P")["comment"]
    fleet.check()
