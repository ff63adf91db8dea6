"""Joins and maps with real workers, and ten thousand items with workers killed all the while.

Fault 50 of the fault matrix, and the join rule as a whole process sees it. What they could bring back: a join that runs
twice because two workers end its branches at once, an item that is lost or done twice, results out of order.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from runs.models import Attempt, Event, StepRun
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

ITEMS, BOUND_S = 10_000, 300
EVERY_S, KILLS = 5.0, 6  # a worker is killed so often, while another one works


@pytest.fixture(scope="module")
def fleet(shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path_factory.mktemp("fleet")) as fleet:
        fleet.is_supervised = True
        for _ in range(2):
            fleet.worker(threads=4)
        fleet.sweeper()
        fleet.ready()
        yield fleet


def pause(s: float) -> Callable[[], bool]:
    ends_at = time.monotonic() + s
    return lambda: time.monotonic() > ends_at


def starts(run: UUID, path: str) -> int:
    return Event.objects.filter(run_id=run, path=path, type="step.running").count()


def test_a_join_runs_once_after_a_skipped_branch_and_after_two_true_ones(fleet: Fleet) -> None:
    drawing = (
        "S > I, I ?true> B1 > B2, I ?false> C, S > G1 > G2, S > F1 > F2, B2 + C > M > J, G2 + F2 > K, J + K > L > O"
    )
    version = fleet.world.draw(drawing, configs={"I": {"condition": "{{ run.input % 2 == 0 }}"}})
    runs = [(number, fleet.start(version, number)) for number in range(12)]
    for number, run in runs:
        fleet.wait_for(run, "succeeded")
        steps = fleet.world.steps(run)
        skipped = {path for path, step in steps.items() if step.status == "skipped"}
        assert skipped == ({"C"} if number % 2 == 0 else {"B1", "B2"})
        assert {starts(run, path) for path in ("J", "K", "L", "O")} == {1}
    fleet.check()


def test_a_map_of_nothing_gives_nothing_and_the_run_goes_on(fleet: Fleet) -> None:
    configs = {"E": {"items": "{{ run.input }}"}, "J": {"value": "{{ steps.E.output }}"}}
    run = fleet.start(fleet.world.draw("S > E[Y:test_echo > Z] > J > O", configs=configs), [])
    fleet.wait_for(run, "succeeded")
    assert fleet.world.output(run, "J") == []
    assert set(fleet.world.statuses(run)) == {"S", "E", "J", "O"}
    fleet.check()


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_ten_thousand_items_survive_the_kill_of_a_worker_every_five_seconds(fleet: Fleet) -> None:
    configs: dict[str, Any] = {
        "E": {"items": "{{ run.input }}", "window": 32},
        "Y": {"value": "{{ item * 3 }}"},
        "J": {"value": "{{ [steps.E.output | length, steps.E.output[:3], steps.E.output[-1]] }}"},
    }
    began = time.monotonic()
    run = fleet.start(fleet.world.draw("S > E[Y] > J > O", configs=configs), list(range(ITEMS)))
    done = StepRun.objects.filter(run_id=run, key="Y", status="succeeded")
    killed = 0
    while killed < KILLS and done.count() < ITEMS * 0.9:
        fleet.wait(pause(EVERY_S), what="the next kill")
        next(each for each in fleet.processes if "dramatiq" in each.command).kill()
        killed += 1
    assert killed >= 2
    fleet.wait_for(run, "succeeded", patience_s=BOUND_S)
    assert time.monotonic() - began < BOUND_S
    assert fleet.world.output(run, "J") == [ITEMS, [0, 3, 6], (ITEMS - 1) * 3]
    values = done.order_by("item_index").values_list("output", flat=True)
    assert list(values) == [str(index * 3) for index in range(ITEMS)]
    successes = Event.objects.filter(run_id=run, type="step.succeeded", path__startswith="E[")
    assert successes.count() == ITEMS
    lost = Attempt.objects.filter(run_id=run, outcome="lost").count()
    again = StepRun.objects.filter(run_id=run, attempt__gt=1).values_list("attempt", flat=True)
    assert sum(number - 1 for number in again) == lost <= killed * 4, (
        "each kill costs the steps of four threads at most"
    )
    fleet.check()
