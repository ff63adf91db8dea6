"""Many pages, pages that sleep, and bursts: no page misses an event, none makes the web process hold what it slept on.

Faults 53, 54 and 55 of the fault matrix. What they could bring back: memory that grows with a page that reads nothing,
events that are dropped in a burst, a crowd that comes back after a restart and finds a gap.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from websockets.asyncio.client import ClientConnection as AsyncSocket
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from config.services import ports
from config.services.valkey import Valkey
from runs.live.hub import UNSEEN_AT_MOST
from runs.models import Event
from teams.models import Role
from tests.engine import World
from tests.fleet import Fleet, Process
from tests.people import Cast, cast

pytestmark = [pytest.mark.crash, pytest.mark.slow, pytest.mark.timeout(300)]

ITEMS = 260  # each tells of three events
CROWD = 300
QUIET_S = 3.0  # three looks of the hub: what is to come has come


@dataclass
class Web:
    port: int
    process: Process


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


@pytest.fixture(scope="module")
def web(fleet: Fleet) -> Web:
    port = ports.free_port()
    return Web(port, fleet.web(port))


@pytest.fixture
def valkey(servers: Any) -> Iterator[Valkey]:
    yield servers.valkey
    if servers.valkey.process is None:
        servers.valkey.start(preferred=[servers.valkey.port])


def entry(people: Cast, port: int) -> dict[str, Any]:
    """What opens a socket for a viewer."""
    name = settings.SESSION_COOKIE_NAME
    cookie = people.client(Role.VIEWER).cookies[name].value
    return {"origin": Origin(f"http://127.0.0.1:{port}"), "additional_headers": {"Cookie": f"{name}={cookie}"}}


def burst(fleet: Fleet) -> UUID:
    """A run of many short steps: more events than a sleeping page is sent."""
    configs = {"E": {"items": list(range(ITEMS)), "window": 32}}
    return fleet.start(fleet.world.draw("S > E[Y] > O", configs=configs))


def numbers(run: UUID) -> list[int]:
    return list(Event.objects.filter(run_id=run).order_by("seq").values_list("seq", flat=True))


@dataclass
class Page:
    """Reads what comes; says that it has read it only when it is told to."""

    socket: ClientConnection
    run: UUID
    workspace: str
    seen: list[int] = field(default_factory=list)

    def subscribe(self) -> None:
        wanted = {"workspace": self.workspace, "run": str(self.run), "after": 0}
        self.socket.send(json.dumps({"subscribe": wanted}))

    def read(self, *, until: int | None = None, acknowledge: bool = False) -> None:
        """Up to that event, or until nothing comes any more."""
        while until is None or not self.seen or self.seen[-1] < until:
            try:
                message = json.loads(self.socket.recv(timeout=QUIET_S if until is None else 30))
            except TimeoutError:
                return
            if message["type"] == "pong":
                continue
            assert message["type"] == "events", message
            self.seen += [event["seq"] for event in message["events"]]
            if acknowledge:
                self.acknowledge()

    def acknowledge(self) -> None:
        self.socket.send(json.dumps({"seen": {"run": str(self.run), "seq": self.seen[-1]}}))


def test_a_page_that_says_nothing_is_sent_no_more_than_five_hundred_events_and_all_of_them_later(
    fleet: Fleet, people: Cast, web: Web
) -> None:
    run = burst(fleet)
    fleet.wait_for(run, "succeeded")
    with connect(f"ws://127.0.0.1:{web.port}/ws/live", **entry(people, web.port)) as socket:
        page = Page(socket, run, people.acme.slug)
        page.subscribe()
        page.read()
        assert len(page.seen) == UNSEEN_AT_MOST
        page.acknowledge()
        page.read(until=len(numbers(run)), acknowledge=True)
    assert page.seen == numbers(run)


def test_a_page_that_only_pings_is_taken_for_awake(fleet: Fleet, people: Cast, web: Web) -> None:
    """A page of before the upgrade, which does not say how far it has read."""
    run = burst(fleet)
    fleet.wait_for(run, "succeeded")
    with connect(f"ws://127.0.0.1:{web.port}/ws/live", **entry(people, web.port)) as socket:
        page = Page(socket, run, people.acme.slug)
        page.subscribe()
        last = len(numbers(run))
        while not page.seen or page.seen[-1] < last:
            page.read()
            socket.send(json.dumps({"ping": 1}))
    assert page.seen == numbers(run)


def test_a_burst_comes_whole_and_in_order_also_without_redis(
    fleet: Fleet, people: Cast, web: Web, valkey: Valkey
) -> None:
    """django/channels#1683, django/channels_redis#256, #131, #109, #181: messages were lost beyond a hundred unread
    ones, and when pages came and went.
    """
    valkey.stop()
    with connect(f"ws://127.0.0.1:{web.port}/ws/live", **entry(people, web.port)) as socket:
        run = burst(fleet)
        page = Page(socket, run, people.acme.slug)
        page.subscribe()
        fleet.wait_for(run, "succeeded")
        ended = time.monotonic()
        page.read(until=len(numbers(run)), acknowledge=True)
        late_s = time.monotonic() - ended
    assert page.seen == numbers(run)
    assert late_s < 10, f"the last event came {late_s:.1f} s after the run's end"


async def follow(port: int, run: UUID, workspace: str, *, options: dict[str, Any], up: asyncio.Semaphore) -> list[int]:
    """One page of a crowd: comes back with jitter whenever it is cut off, and asks from where it stands."""
    seen: list[int] = []
    is_over = False
    while not is_over:
        try:
            async with up, connect_async(f"ws://127.0.0.1:{port}/ws/live", **options) as socket:
                is_over = await read_all(socket, run, workspace, seen=seen)
        except (ConnectionClosed, InvalidHandshake, OSError, TimeoutError):
            await asyncio.sleep(0.2 + (id(seen) % 1000) / 1000)
    return seen


async def read_all(socket: AsyncSocket, run: UUID, workspace: str, *, seen: list[int]) -> bool:
    wanted = {"workspace": workspace, "run": str(run), "after": seen[-1] if seen else 0}
    await socket.send(json.dumps({"subscribe": wanted}))
    async for text in socket:
        message = json.loads(text)
        events = message.get("events", [])
        seen += [event["seq"] for event in events]
        if events:
            await socket.send(json.dumps({"seen": {"run": str(run), "seq": seen[-1]}}))
        if "run.succeeded" in {event["type"] for event in events}:
            return True
    return False


def test_a_crowd_comes_back_after_a_restart_of_the_web_process_without_a_gap(
    fleet: Fleet, people: Cast, web: Web
) -> None:
    names = [f"A{number}" for number in range(40)]
    kinds, configs = dict.fromkeys(names, "test_sleep"), {"test_sleep": {"value": 0.4}}
    run = fleet.start(fleet.world.draw(f"S > {' > '.join(names)} > O", kinds=kinds, configs=configs))
    options = entry(people, web.port)

    async def crowd() -> list[list[int]]:
        up = asyncio.Semaphore(CROWD)
        pages = [
            asyncio.create_task(follow(web.port, run, people.acme.slug, options=options, up=up)) for _ in range(CROWD)
        ]
        await asyncio.sleep(6)
        web.process.kill()
        fleet.processes.remove(web.process)
        await asyncio.sleep(0.5)
        web.process = fleet.web(web.port)
        return await asyncio.gather(*pages)

    found = asyncio.run(crowd())
    fleet.wait_for(run, "succeeded")
    assert len(found) == CROWD
    whole = numbers(run)
    assert all(page == whole for page in found)
    fleet.check()
