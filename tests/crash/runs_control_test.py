"""Pause, breakpoints and deadlines with real processes, and bulk operations whose sweepers die.

Faults 38 and 59 of the fault matrix, and 2, 9 with a run that is paused. What they could bring back: a paused run that
starts a step after its worker died, a breakpoint that is forgotten with a process, a deadline that a blocking body
outlives, a run that two sweepers resume, a stop that does not stop.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models import Max
from django.test import Client
from django.utils.timezone import now

from runs.core.breakpoints import Breakpoints
from runs.models import BulkRun, Event, Run
from teams.models import Role
from tests.bulk import BROKEN
from tests.engine import World
from tests.fleet import Fleet
from tests.hands import Hand
from tests.people import Cast, cast

pytestmark = pytest.mark.crash

NOTICED_S, STOPPED_S = 2.0, 2.0  # promise P7: what passes is noticed, and running bodies hear of it
SLACK_S = 1.5  # for a machine that does other things as well
BULK_RUNS = 1_000 if os.environ.get("PAWL_PROVE") else 240


SWEEPING = "SELECT id FROM runs_sweeper WHERE seen_at > statement_timestamp() - interval '2 seconds'"
SOON = "UPDATE runs_run SET deadline_at = statement_timestamp() + interval '1 second' WHERE id = %s"


@pytest.fixture(scope="module")
def people(shared_environment: object) -> Cast:
    return cast()


@pytest.fixture
def fleet(people: Cast, shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    (tmp_path / "fleet").mkdir()
    with Fleet(shared_environment, tmp_path / "fleet", world=World(workspace=people.acme)) as fleet:
        yield fleet


@pytest.fixture
def post(people: Cast) -> Callable[..., dict[str, Any]]:
    client: Client = people.client(Role.OPERATOR)

    def send(address: str, **data: Any) -> dict[str, Any]:
        answer = client.post(f"/api/workspaces/{people.acme.slug}/{address}", data, content_type="application/json")
        assert answer.status_code in (200, 201), answer.json()
        found: dict[str, Any] = answer.json()
        return found

    return send


def order(post: Callable[..., dict[str, Any]], run: UUID, what: str) -> None:
    post(f"runs/{run}/{what}", command_id=str(uuid4()))


def seconds_after(moment: datetime, run: UUID, kind: str) -> float:
    at = Event.objects.filter(run_id=run, type=kind).aggregate(at=Max("at"))["at"]
    return float((at - moment).total_seconds())


# ---------------------------------------------------------------------- one run


def test_a_paused_run_whose_worker_is_killed_starts_nothing_until_it_goes_on(
    fleet: Fleet, post: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    worker = fleet.worker()
    fleet.sweeper()
    run = fleet.start(fleet.world.draw("S > A:test_gate > B > O", configs={"A": {"folder": str(tmp_path)}}))
    fleet.wait((tmp_path / "A.1").exists, what="the body")
    order(post, run, "pause")
    worker.kill()
    fleet.worker()
    fleet.wait_for_step(run, "A", "ready")
    time.sleep(2.5)  # longer than a lost wake-up takes to be noticed
    assert fleet.world.statuses(run)["A"] == "ready"
    assert not (tmp_path / "A.2").exists()
    order(post, run, "unpause")
    fleet.wait_for(run, "succeeded")
    paused, went_on = (Event.objects.filter(run_id=run, type=kind).aggregate(seq=Max("seq"))["seq"]
                       for kind in ("run.paused", "run.running"))  # fmt: skip
    assert not Event.objects.filter(run_id=run, type="step.running", seq__gt=paused, seq__lt=went_on).exists()
    fleet.check()


def test_breakpoints_outlive_every_process(fleet: Fleet, post: Callable[..., dict[str, Any]]) -> None:
    version = fleet.world.draw("S > A > B > C > O")
    processes = [fleet.worker(), fleet.sweeper()]
    started = fleet.world.start(version, breakpoints=Breakpoints(frozenset({"n_B", "n_C"})))
    fleet.announce(started)
    run = started.run_id
    fleet.wait_for(run, "paused")
    for process in processes:
        process.kill()
    fleet.worker()
    fleet.sweeper()
    for held in ("B", "C"):
        fleet.wait_for(run, "paused")
        assert fleet.world.run(run).paused_at == f'["{held}"]'
        assert fleet.world.steps(run)[held].attempt == 0
        order(post, run, "unpause")
    fleet.wait_for(run, "succeeded")
    assert {count for (run_id, _), count in fleet.launches().items() if run_id == str(run)} == {1}
    fleet.check()


def test_a_deadline_stops_bodies_that_block_in_time_and_a_resume_goes_on(
    fleet: Fleet, post: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    fleet.worker()
    fleet.sweeper()
    fleet.wait(lambda: fleet.world.connection.execute(SWEEPING).fetchone(), what="a sweeper")
    gate = {"folder": str(tmp_path)}
    version = fleet.world.draw("S > A:test_gate + B:test_gate > O", configs={"A": gate, "B": gate})
    started = fleet.world.start(version, deadline_s=600.0)
    fleet.announce(started)
    run = started.run_id
    fleet.wait(lambda: (tmp_path / "A.1").exists() and (tmp_path / "B.1").exists(), what="two bodies")
    fleet.world.connection.execute(SOON, (run,))
    deadline_at = fleet.world.run(run).deadline_at
    assert deadline_at is not None
    failed = fleet.wait_for(run, "failed")
    assert "run_deadline" in (failed.error or "")
    assert 0 < seconds_after(deadline_at, run, "run.cancelling") < NOTICED_S + SLACK_S
    assert seconds_after(deadline_at, run, "run.failed") < NOTICED_S + STOPPED_S + SLACK_S
    assert {step.reason for path, step in fleet.world.steps(run).items() if path != "S"} == {"deadline"}
    (tmp_path / "go").touch()
    post(f"runs/{run}/resume", command_id=str(uuid4()), generation=1)
    fleet.wait_for(run, "succeeded")
    fleet.check()


# ---------------------------------------------------------------------- many runs


def failed_runs(world: World, count: int) -> list[UUID]:
    version = world.draw("S > A > B")
    hand = Hand(world.link)
    runs = [world.start(version).run_id for _ in range(count)]
    for _ in runs:
        hand.finish(hand.take(), BROKEN)
    return runs


def test_many_runs_are_resumed_once_each_though_sweepers_die_and_an_operator_stops_in_the_middle(
    fleet: Fleet, post: Callable[..., dict[str, Any]], people: Cast
) -> None:
    runs = failed_runs(fleet.world, BULK_RUNS)
    fleet.is_supervised = True
    marks = [fleet.folder / f"died-{number}" for number in range(2)]
    for number, mark in enumerate(marks):
        fleet.sweeper(failpoints=f"in_bulk@{5 + 10 * number}?marker={mark}:exit9")
    fleet.sweeper()
    asked = {"operation": "resume", "ids": [str(run) for run in runs]}
    bulk = post("bulk", command_id=str(uuid4()), expected_count=None, **asked)
    address = f"bulk/{bulk['id']}"
    results = BulkRun.objects.filter(bulk_id=bulk["id"])
    fleet.wait(lambda: results.exclude(status="pending").count() >= BULK_RUNS // 3, what="a third of the runs")
    asked_at = now()
    stopped = post(f"{address}/stop")
    assert (now() - asked_at).total_seconds() < STOPPED_S + SLACK_S
    done = stopped["counts"]["done"]
    assert stopped["status"] == "stopped"
    assert BULK_RUNS // 3 <= done < BULK_RUNS
    time.sleep(1.5)
    assert post_counts(post, address, people) == {"total": BULK_RUNS, "done": done, "pending": BULK_RUNS - done}
    assert Run.objects.filter(id__in=runs, generation=2).count() == done
    post(f"{address}/continue", revision=stopped["revision"])
    fleet.wait(lambda: not results.filter(status="pending").exists(), what="the rest", patience_s=180)
    assert post_counts(post, address, people) == {"total": BULK_RUNS, "done": BULK_RUNS}
    assert set(Run.objects.filter(id__in=runs).values_list("generation", "status")) == {(2, "running")}
    resumed = Event.objects.filter(run_id__in=runs, type="run.running").count()
    assert resumed == 2 * BULK_RUNS, "each run tells of its start and of one resume"
    assert any(mark.exists() for mark in marks), "no sweeper died in the middle"
    fleet.check()


def post_counts(post: Callable[..., dict[str, Any]], address: str, people: Cast) -> dict[str, int]:
    answer = people.client(Role.VIEWER).get(f"/api/workspaces/{people.acme.slug}/{address}").json()
    return {name: count for name, count in answer["counts"].items() if count}
