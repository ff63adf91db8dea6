"""What a hostile reader found in what a page is shown while a run goes on: sockets, logs, snapshots."""

import tracemalloc
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from kit.ids import new_id
from runs.attempt import Notes
from runs.live import consumers
from runs.live.hub import Hub, Watcher
from runs.models import Run, StepRun
from runs.selectors.runs import snapshot
from runs.selectors.steps import log_page
from teams.models import Role
from tests.engine import World
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


async def test_a_socket_that_breaks_off_leaves_no_watcher_and_no_task_behind(monkeypatch: Any) -> None:
    hub = Hub()
    made: list[consumers.LiveConsumer] = []

    class Watched(consumers.LiveConsumer):
        async def connect(self) -> None:
            self.scope["user"] = type("Person", (), {"pk": new_id()})()
            await super().connect()
            watcher = Watcher(new_id(), 0, self.say)
            self.watchers[watcher.run] = (watcher, "acme")
            self.hub.watch(watcher)
            made.append(self)

    def away(*_: Any) -> None:
        raise OperationalError("the database is restarting")

    monkeypatch.setattr(consumers, "current_hub", lambda: hub)
    monkeypatch.setattr(consumers, "_run_visible", away)
    socket = WebsocketCommunicator(Watched.as_asgi(), "/ws/live")
    await socket.connect()
    await socket.send_json_to({"subscribe": {"workspace": "acme", "run": str(new_id()), "after": 0}})
    with pytest.raises(OperationalError):
        await socket.receive_output(timeout=2)
    consumer = made[0]
    assert hub._watchers == {}
    assert consumer.checking is not None
    assert consumer.checking.cancelling() or consumer.checking.done()


def test_what_follows_a_nul_in_a_log_is_shown() -> None:
    with World() as world:
        started = world.start(world.draw("S > A > O", configs={"A": {"value": 1}}))
        world.work()
        step = StepRun.objects.get(run_id=started.run_id, path="A")
        held = type("Held", (), {"step_run_id": step.id, "attempt": 1, "fence": 1})()
        log = Notes(world.link, held)
        log.write("a\x00\x00\x00\n")
        run = Run.objects.get(id=started.run_id)
        first = log_page(run, step, attempt=1, after=0)
        log.write("the rest\n")
        assert log_page(run, step, attempt=1, after=first["next_offset"])["text"] == "the rest\n"


def test_a_snapshot_takes_no_more_questions_the_more_containers_lie_in_a_container() -> None:
    with World() as world:
        version = world.draw(
            "S > E[F[Y]] > O",
            configs={"E": {"items": list(range(12))}, "F": {"items": [1, 2]}, "Y": {"value": 1}},
        )
        started = world.start(version)
        world.work()
        assert world.run(started.run_id).status == "succeeded"
        with CaptureQueriesContext(connection) as asked:
            shown = snapshot(Run.objects.get(id=started.run_id))
        assert len(shown["steps"]) == 3 + 12 + 24
        assert len(asked) < 15


def test_the_page_of_a_map_reads_no_more_of_its_output_than_it_shows(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw(
            "S > E[Y] > O", configs={"E": {"items": list(range(40))}, "Y": {"value": "{{ run.input }}"}}
        )
        started = world.start(version, "y" * 200_000)
        world.work()
        client = people.client(Role.VIEWER)
        address = f"/api/workspaces/{people.acme.slug}/runs/{started.run_id}/steps/E"
        client.get(address)
        tracemalloc.start()
        try:
            output = client.get(address).json()["output"]
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert output["truncated"]
        assert output["size"] >= 40 * 200_000
        assert output["value"].startswith('["yyy')
        assert len(output["value"]) == 256 * 1024
        assert most < 6_000_000, f"{most} bytes for a page that shows 262144 characters"
