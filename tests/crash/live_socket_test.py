"""The live socket of a real web process: cut, without Redis, killed, and asked by those who may not see.

Faults 18, 54, 55 and 56 of the fault matrix. What they could bring back: a page that misses an event or shows one
twice, a page that stands still, a socket that outlives its owner's access.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from config.services import ports
from config.services.valkey import Valkey
from runs.models import Event
from teams.models import Membership, Role
from tests.engine import World
from tests.fleet import Fleet, Process
from tests.people import Cast, cast
from tests.proxy import Proxy

pytestmark = pytest.mark.crash

LIVE_S, WITHOUT_REDIS_S, REMOVED_S = 0.5, 2.0, 5.0  # promise P7, and fault 56
SLACK_S = 1.0  # for a machine that does other things as well


@pytest.fixture(scope="module")
def people(shared_environment: object) -> Cast:
    return cast()


@pytest.fixture(scope="module")
def fleet(
    people: Cast, shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    with Fleet(shared_environment, folder, world=World(workspace=people.acme)) as fleet:
        fleet.worker(threads=2)
        fleet.sweeper()
        fleet.ready()
        yield fleet


@dataclass
class Web:
    port: int
    process: Process


@pytest.fixture(scope="module")
def web(fleet: Fleet) -> Web:
    port = ports.free_port()
    return Web(port, fleet.web(port))


@dataclass
class Page:
    """What a browser keeps of one run: its events in the order in which they came, and how late each was."""

    run: UUID
    workspace: str
    seen: list[dict[str, Any]] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)

    @property
    def last(self) -> int:
        return int(self.seen[-1]["seq"]) if self.seen else 0

    def follow(self, socket: ClientConnection, *, until: str = "", count: int = 0, patience_s: float = 30) -> None:
        """Subscribes after the last event, and takes events until one of that type, or so many more, have come."""
        wanted = {"workspace": self.workspace, "run": str(self.run), "after": self.last}
        socket.send(json.dumps({"subscribe": wanted}))
        more = 0
        while True:
            message = json.loads(socket.recv(timeout=patience_s))
            assert message["type"] == "events", message
            now = datetime.now(UTC)
            self.seen += message["events"]
            self.late_s += [(now - datetime.fromisoformat(each["at"])).total_seconds() for each in message["events"]]
            more += len(message["events"])
            if until in {each["type"] for each in message["events"]} or (count and more >= count):
                return


@contextmanager
def socket_of(people: Cast, role: Role | None, port: int, **options: Any) -> Iterator[ClientConnection]:
    client = people.client(role)
    name = settings.SESSION_COOKIE_NAME
    cookie = {"Cookie": f"{name}={client.cookies[name].value}"}
    origin = options.pop("origin", f"http://127.0.0.1:{port}")
    with connect(
        f"ws://127.0.0.1:{port}/ws/live", origin=Origin(origin), additional_headers=cookie, **options
    ) as socket:
        yield socket


def chain(fleet: Fleet, length: int) -> UUID:
    names = [f"A{number}" for number in range(length)]
    kinds, configs = dict.fromkeys(names, "test_sleep"), {"test_sleep": {"value": 0.05}}
    return fleet.start(fleet.world.draw(f"S > {' > '.join(names)} > O", kinds=kinds, configs=configs))


def listen(socket: ClientConnection) -> None:
    """Until the other side closes it."""
    while True:
        socket.recv(timeout=10)


def is_whole(page: Page) -> bool:
    """No gap, no double, and the same as the database has."""
    numbers = [each["seq"] for each in page.seen]
    kept = list(Event.objects.filter(run_id=page.run).order_by("seq").values_list("seq", "type", "path"))
    assert numbers == list(range(1, len(kept) + 1))
    assert [(each["seq"], each["type"], each["path"]) for each in page.seen] == kept
    return True


def test_a_page_that_is_cut_off_again_and_again_gets_every_event_once_and_in_order(
    fleet: Fleet, people: Cast, web: Web
) -> None:
    page = Page(chain(fleet, 30), people.acme.slug)
    with Proxy(web.port) as proxy:
        for _ in range(3):
            with socket_of(people, Role.VIEWER, proxy.port) as socket:
                page.follow(socket, count=12)
                proxy.cut()
                with pytest.raises(ConnectionClosed):
                    socket.recv(timeout=5)
            proxy.mend()
        with socket_of(people, Role.VIEWER, proxy.port) as socket:
            page.follow(socket, until="run.succeeded")
    assert is_whole(page)
    fleet.check()


def test_a_page_that_hears_of_its_run_after_the_end_sees_all_of_it(fleet: Fleet, people: Cast, web: Web) -> None:
    """n8n-io/n8n PR 11798, PR 37142: what came before the answer to the start was dropped; the page spun for ever."""
    run = chain(fleet, 3)
    fleet.wait_for(run, "succeeded")
    page = Page(run, people.acme.slug)
    with socket_of(people, Role.VIEWER, web.port) as socket:
        page.follow(socket, until="run.succeeded")
    assert is_whole(page)


def test_events_come_within_half_a_second(fleet: Fleet, people: Cast, web: Web) -> None:
    with socket_of(people, Role.VIEWER, web.port) as socket:
        page = Page(chain(fleet, 20), people.acme.slug)
        page.follow(socket, until="run.succeeded")
    assert is_whole(page)
    assert median(page.late_s) < LIVE_S
    fleet.check()


def test_events_come_within_two_seconds_without_redis(fleet: Fleet, people: Cast, web: Web, valkey: Valkey) -> None:
    valkey.stop()
    with socket_of(people, Role.VIEWER, web.port) as socket:
        page = Page(chain(fleet, 10), people.acme.slug)
        page.follow(socket, until="run.succeeded")
    assert is_whole(page)
    assert max(page.late_s) < WITHOUT_REDIS_S + SLACK_S
    fleet.check()


def test_without_redis_the_api_starts_runs_and_health_says_that_it_is_away(
    fleet: Fleet, people: Cast, valkey: Valkey
) -> None:
    version = fleet.world.draw("S > A > B > O")
    valkey.stop()
    client, address = (
        people.client(Role.OPERATOR),
        f"/api/workspaces/{people.acme.slug}/workflows/{version.workflow_id}",
    )
    began = time.monotonic()
    started = client.post(f"{address}/runs", {"input": None}, content_type="application/json")
    assert started.status_code == 201, started.content
    assert time.monotonic() - began < WITHOUT_REDIS_S + SLACK_S, "it does not wait for what is away"
    fleet.wait_for(UUID(started.json()["id"]), "succeeded")
    health = client.get("/api/health")
    assert (health.status_code, health.json()["redis"]["ok"]) == (200, False)
    fleet.check()


@pytest.fixture
def valkey(servers: Any) -> Iterator[Valkey]:
    yield servers.valkey
    if servers.valkey.process is None:
        servers.valkey.start(preferred=[servers.valkey.port])


def test_a_web_process_that_is_killed_leaves_no_gap(fleet: Fleet, people: Cast, web: Web) -> None:
    page = Page(chain(fleet, 20), people.acme.slug)
    with socket_of(people, Role.VIEWER, web.port) as socket:
        page.follow(socket, count=5)
        web.process.kill()
        with pytest.raises(ConnectionClosed):
            listen(socket)
    fleet.processes.remove(web.process)
    web.process = fleet.web(web.port)
    with socket_of(people, Role.VIEWER, web.port) as socket:
        page.follow(socket, until="run.succeeded")
    assert is_whole(page)
    fleet.check()


def test_who_is_removed_from_the_workspace_loses_the_socket(
    fleet: Fleet, people: Cast, web: Web, tmp_path: Path
) -> None:
    run = fleet.start(fleet.world.draw("S > A:test_gate > O", configs={"A": {"folder": str(tmp_path)}}))
    with socket_of(people, Role.EDITOR, web.port) as socket:
        page = Page(run, people.acme.slug)
        page.follow(socket, count=3)
        Membership.objects.filter(workspace=people.acme, user=people.members[Role.EDITOR]).delete()
        began = time.monotonic()
        with pytest.raises(ConnectionClosed) as closed:
            listen(socket)
        assert time.monotonic() - began < REMOVED_S + SLACK_S
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4403
    (tmp_path / "go").touch()
    fleet.wait_for(run, "succeeded")
    fleet.check()


def test_a_stranger_sees_nothing(fleet: Fleet, people: Cast, web: Web) -> None:
    run = chain(fleet, 2)
    with socket_of(people, None, web.port) as socket:
        for workspace in (people.acme.slug, people.other.slug):
            socket.send(json.dumps({"subscribe": {"workspace": workspace, "run": str(run), "after": 0}}))
            answer = json.loads(socket.recv(timeout=10))
            assert (answer["type"], answer["run"]) == ("refused", str(run))
        socket.send(json.dumps({"subscribe": {"workspace": people.acme.slug, "list": True}}))
        assert json.loads(socket.recv(timeout=10))["type"] == "refused"
        fleet.wait_for(run, "succeeded")
        socket.send(json.dumps({"ping": 7}))
        assert json.loads(socket.recv(timeout=10)) == {"type": "pong", "n": 7}, "nothing of the run came before it"
    fleet.check()


def test_a_page_of_another_origin_gets_no_socket(people: Cast, web: Web) -> None:
    with pytest.raises(InvalidStatus), socket_of(people, Role.OWNER, web.port, origin="http://127.0.0.1:1"):
        pass


def test_who_is_not_signed_in_is_told_so(web: Web) -> None:
    origin = f"http://127.0.0.1:{web.port}"
    address = f"ws://127.0.0.1:{web.port}/ws/live"
    with connect(address, origin=Origin(origin)) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
