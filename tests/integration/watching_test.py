"""What the page of a run asks while somebody watches: the pulse of its steps, and how long they usually take."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from runs.core.outcomes import Error, Failed, Succeeded
from runs.engine.checkpoint import keep_checkpoint
from runs.live import hub as live_hub
from runs.live.hub import Hub, Watcher
from runs.models import Run, StepRun, Worker
from runs.selectors.watching import ROWS_LOOKED_AT, paths_of, usual_of
from teams.models import Role
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def acme(people: Cast) -> Iterator[World]:
    with World(workspace=people.acme) as world:
        yield world


@pytest.fixture
def hand(acme: World) -> Iterator[Hand]:
    hand = Hand()
    yield hand
    hand.close()


def ask(people: Cast, run_id: UUID, what: str) -> list[dict[str, Any]]:
    answer = people.client(Role.VIEWER).get(f"/api/workspaces/{people.acme.slug}/runs/{run_id}/{what}")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_the_pulse_says_when_the_worker_of_a_running_step_was_heard(people: Cast, acme: World, hand: Hand) -> None:
    run_id = acme.start(acme.draw("S > A > B")).run_id
    held = hand.take()
    while StepRun.objects.get(id=held.step_run_id).path != "A":
        hand.finish(held, Succeeded(None))
        held = hand.take()
    Worker.objects.filter(id=hand.id).update(heartbeat_at=F("heartbeat_at") - timedelta(seconds=40))
    (pulse,) = ask(people, run_id, "pulse")
    assert (pulse["path"], pulse["attempt"], pulse["progress"]) == ("A", 1, None)
    assert 40 <= pulse["heard_s"] < 60
    hand.finish(held, Succeeded(1))
    assert [one["path"] for one in ask(people, run_id, "pulse")] == []  # it is at work no more


def test_the_pulse_keeps_how_far_a_step_got_that_died(people: Cast, acme: World, hand: Hand) -> None:
    run_id = acme.start(acme.draw("S > A > B")).run_id
    held = hand.take()
    while StepRun.objects.get(id=held.step_run_id).path != "A":
        hand.finish(held, Succeeded(None))
        held = hand.take()
    value = {"done": 640, "total": 1000, "text": "row 640"}
    keep_checkpoint(acme.connection, held, kind="progress", key="", value=value, ordinal=1)
    hand.finish(held, Failed(Error("broken", "It broke.")))
    assert StepRun.objects.get(run_id=run_id, path="A").status == "failed"
    (pulse,) = ask(people, run_id, "pulse")
    assert pulse["heard_s"] is None
    assert {key: pulse["progress"][key] for key in ("done", "total", "text", "attempt")} == {**value, "attempt": 1}


def _as_if(run_id: UUID, path: str, *, queued_s: float, took_s: float) -> None:
    run = Run.objects.get(id=run_id)
    ready = run.created_at + timedelta(seconds=10)
    started = ready + timedelta(seconds=queued_s)
    with transaction.atomic(), connection.cursor() as cursor:  # a finished row is frozen: past that, for the numbers
        cursor.execute("ALTER TABLE runs_steprun DISABLE TRIGGER USER")
        StepRun.objects.filter(run_id=run_id, path=path).update(
            ready_at=ready, started_at=started, finished_at=started + timedelta(seconds=took_s)
        )
        cursor.execute("ALTER TABLE runs_steprun ENABLE TRIGGER USER")


def test_what_is_usual_is_the_median_of_other_runs_of_the_workflow(people: Cast, acme: World) -> None:
    version = acme.draw("S > A > B")
    runs = [acme.start(version).run_id for _ in range(4)]
    acme.work()
    for number, run_id in enumerate(runs):
        _as_if(run_id, "A", queued_s=number, took_s=60 * (number + 1))
    found = {one["node"]: one for one in ask(people, runs[3], "usual")}
    usual = found[StepRun.objects.get(run_id=runs[3], path="A").node_id]
    assert (usual["runs"], usual["took_ms"], usual["queued_ms"]) == (3, 120_000, 1000)  # of 60, 120 and 180 s
    assert usual["began_ms"] == 11_000
    assert 120_000 < usual["took_p95_ms"] <= 180_000


def test_a_first_run_has_nothing_that_is_usual(people: Cast, acme: World) -> None:
    run_id = acme.start(acme.draw("S > A")).run_id
    acme.work()
    assert ask(people, run_id, "usual") == []


def test_the_first_items_of_a_container_tell_what_is_usual_in_it_in_two_questions(people: Cast, acme: World) -> None:
    version = acme.draw("S > E[Y] > O", configs={"E": {"items": list(range(12))}, "Y": {"value": 1}})
    runs = [acme.start(version).run_id for _ in range(2)]
    acme.work()
    found = {one["node"] for one in ask(people, runs[1], "usual")}
    assert found == {"n_E", "n_Y", "n_O"}  # the start is no work
    run = Run.objects.select_related("version").get(id=runs[1])
    graph = {"nodes": [{"id": f"n{at}", "key": f"k{at}", "parent": None} for at in range(3 * ROWS_LOOKED_AT)]}
    with CaptureQueriesContext(connection) as asked:
        usual_of(run, graph)
    assert len(asked) <= 2


def test_the_paths_that_are_looked_at_are_few_in_each_container_and_end_in_a_ring() -> None:
    nodes = [
        {"id": "1", "key": "each", "parent": None},
        {"id": "2", "key": "inner", "parent": "1"},
        {"id": "3", "key": "leaf", "parent": "2"},
        {"id": "4", "key": "ring", "parent": "4"},
    ]
    found = paths_of({"nodes": nodes[:3]})
    assert found[:4] == ["each", "each[0].inner", "each[1].inner", "each[2].inner"]
    assert found[4:] == [f"each[{at}].inner[0].leaf" for at in range(3)]
    assert len(paths_of({"nodes": nodes})) < 20


async def test_a_hub_that_cannot_read_gives_no_sign_of_life(monkeypatch: Any) -> None:
    clock = [100.0]
    monkeypatch.setattr(live_hub, "monotonic_s", lambda: clock[0])
    hub = Hub()

    async def send(message: dict[str, Any]) -> None: ...

    watcher = Watcher(UUID(int=1), 0, send)
    hub.watch(watcher)
    assert not hub.is_blind
    hub._asked_at = 100.0
    clock[0] += 2 * live_hub.BLIND_S
    assert hub.is_blind
    hub.unwatch(watcher)
    assert not hub.is_blind  # nobody waits for an answer
