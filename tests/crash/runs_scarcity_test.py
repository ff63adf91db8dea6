"""What everybody needs becomes scarce: disk, memory of Redis, connections, a run's lock, old rows' space.

Faults 16, 20, 28, 29, 30, 31, 32 and 33 of the fault matrix. What they could bring back: a reference to a value that
was never kept, a worker that dies because a wake-up cannot be sent, a step that is lost because its finish had to wait,
a request that hangs for ever, a deadlock.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
import redis
from django.conf import settings
from django.db import connection

from builder.graph.model import Policy
from builder.workflows.models import Version
from config.services import ports
from kit.errors import AppError
from kit.ids import new_id
from runs.core.outcomes import Succeeded
from runs.engine import sweep
from runs.engine.cancel import cancel_run
from runs.engine.claim import claim
from runs.engine.commands import Command
from runs.engine.resume import resume_run
from runs.link import Link
from runs.store.claim import Held
from teams.models import Role
from tests.engine import World
from tests.fleet import Fleet
from tests.hands import KINDS, Hand
from tests.people import Cast, cast
from tests.proxy import Proxy
from tests.random_runs import BROKEN

pytestmark = [pytest.mark.crash, pytest.mark.timeout(240)]

DISK_IS_FULL = """CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER disk_is_full BEFORE INSERT ON runs_payload EXECUTE FUNCTION disk_is_full()"""
THERE_IS_SPACE = "DROP TRIGGER disk_is_full ON runs_payload; DROP FUNCTION disk_is_full()"
BIG = "{{ 'x' * 20000 }}"
LOCK_LIMIT_S = 5.0  # after which whoever waits for a run's row gives up, and asks again
CLAIM_LIMIT_S = 0.020


@pytest.fixture(scope="module")
def people(shared_environment: object) -> Cast:
    return cast()


@pytest.fixture(scope="module")
def fleet(
    people: Cast, shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    with Fleet(shared_environment, folder, world=World(workspace=people.acme)) as fleet:
        for _ in range(2):
            fleet.worker(threads=3)
        fleet.sweeper()
        fleet.ready()
        yield fleet


@pytest.fixture(scope="module")
def version(fleet: Fleet) -> Version:
    configs = {"A": {"value": "{{ run.input }}"}, "E": {"items": [1, 2, 3], "window": 2}}
    return fleet.world.draw("S > A > E[Y:test_echo > Z] > J > O", configs=configs)


def all_is_well(fleet: Fleet) -> None:
    assert all(process.is_up for process in fleet.processes)
    hurt = fleet.workers().filter(queues="default", host=socket.gethostname()).exclude(dead_at=None)
    assert not hurt.exists(), "a healthy worker was buried"
    fleet.check()


# ---------------------------------------------------------------------- disk and memory


def test_a_disk_that_is_full_delays_a_large_output_and_leaves_no_reference_without_its_value(
    fleet: Fleet, servers: Any
) -> None:
    world = fleet.world
    world.connection.execute(DISK_IS_FULL)
    try:
        run = fleet.start(world.draw("S > A > B > O", configs={"A": {"value": BIG}, "B": {"value": "small"}}))
        fleet.wait(lambda: any(each.says("No space left on device") for each in fleet.processes), what="a full disk")
        time.sleep(1.0)
        assert world.statuses(run)["A"] == "running"
        assert world.broken() == []
    finally:
        world.connection.execute(THERE_IS_SPACE)
    fleet.wait_for(run, "succeeded")
    assert world.output(run, "A") is None, "it is kept beside the row"
    assert world.steps(run)["A"].output_ref is not None
    assert world.steps(run)["A"].attempt == 1
    all_is_well(fleet)


def test_a_redis_without_memory_takes_no_wake_ups_and_every_run_comes_to_its_end(
    fleet: Fleet, redis_url: str, version: Version
) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.set("ballast", b"x" * 2_000_000)
        client.config_set("maxmemory", 1_000_000)
        try:
            runs = [fleet.start(version, number) for number in range(3)]
            with pytest.raises(redis.exceptions.OutOfMemoryError):
                client.rpush("pawl:nobody", "x")
            for run in runs:
                fleet.wait_for(run, "succeeded")
            assert any(each.says("was not sent (") for each in fleet.processes), "what is swallowed is counted"
        finally:
            client.config_set("maxmemory", 256 * 1024 * 1024)
            client.delete("ballast")
    all_is_well(fleet)


# ---------------------------------------------------------------------- connections


def forget_connections(fleet: Fleet) -> None:
    """Those of the test itself, which were thrown out as well."""
    fleet.world.link.close()
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]


@contextmanager
def all_connections_taken(url: str) -> Iterator[int]:
    """By strangers who do nothing; says how many they could take."""
    with ExitStack() as stack:
        taken = 0
        try:
            while True:
                stack.enter_context(psycopg.connect(url, application_name="stranger"))
                taken += 1
        except psycopg.OperationalError:
            yield taken


def test_without_a_free_connection_workers_come_back_and_the_api_says_that_it_is_unavailable(
    fleet: Fleet, people: Cast, servers: Any, shared_environment: Mapping[str, str], version: Version
) -> None:
    port = ports.free_port()
    web = fleet.web(port)
    throw_out = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IS NOT NULL
        AND application_name <> 'stranger' AND pid <> pg_backend_pid()"""
    name = settings.SESSION_COOKIE_NAME
    cookies = {name: people.client(Role.OPERATOR).cookies[name].value}
    runs = [fleet.start(version, number) for number in range(4)]
    superuser = psycopg.connect(servers.postgres.url(), autocommit=True)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", cookies=cookies, timeout=30, trust_env=False) as client:
        with all_connections_taken(shared_environment["DATABASE_URL"]) as taken:
            assert taken > 50
            superuser.execute(throw_out)  # and others take their places before they are back
            forget_connections(fleet)
            with all_connections_taken(shared_environment["DATABASE_URL"]):
                answer = client.get(f"/api/workspaces/{people.acme.slug}/runs")
                assert answer.status_code == 503, answer.text
        fleet.wait(
            lambda: client.get(f"/api/workspaces/{people.acme.slug}/runs").status_code == 200, what="the API again"
        )
    superuser.close()
    for run in runs:
        fleet.wait_for(run, "succeeded")
    web.kill()
    fleet.processes.remove(web)
    all_is_well(fleet)


def test_more_requests_than_connections_wait_for_their_turn(fleet: Fleet, people: Cast, version: Version) -> None:
    port = ports.free_port()
    web = fleet.web(port, PAWL_POOL_SIZE="2")
    run = fleet.start(version, 1)
    name = settings.SESSION_COOKIE_NAME
    cookies = {name: people.client(Role.OPERATOR).cookies[name].value}

    def ask(_: int) -> int:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", cookies=cookies, timeout=30, trust_env=False) as client:
            return client.get(f"/api/workspaces/{people.acme.slug}/runs/{run}").status_code

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(64))) == {200}
    fleet.wait_for(run, "succeeded")
    web.kill()
    fleet.processes.remove(web)
    all_is_well(fleet)


def test_a_worker_whose_connections_hang_for_good_holds_nobody_up_and_works_again_later(
    fleet: Fleet, shared_environment: Mapping[str, str], servers: Any
) -> None:
    """Neither an answer nor an error: its steps go to others once its silence is long; what it says later is void."""
    lane = Policy(queue="hanging")
    version = fleet.world.draw(
        "S > A:test_sleep > B > O", configs={"A": {"value": 0.5}}, policies=dict.fromkeys("SABO", lane)
    )
    with Proxy(servers.postgres.port) as proxy:
        through = shared_environment["DATABASE_URL"].replace(f":{servers.postgres.port}/", f":{proxy.port}/")
        hanging = fleet.worker(DATABASE_URL=through, PAWL_WORKER_QUEUES="hanging")
        fleet.wait_for(fleet.start(version), "succeeded")
        run = fleet.start(version)
        fleet.wait_for_step(run, "A", "running")
        proxy.stall()
        helper = fleet.worker(PAWL_WORKER_QUEUES="hanging")
        fleet.wait_for(run, "succeeded")
        assert fleet.world.steps(run)["A"].attempt == 2
        helper.popen.terminate()
        helper.popen.wait(10)
        fleet.processes.remove(helper)
        proxy.mend()
        fleet.wait_for(fleet.start(version), "succeeded")
        assert hanging.is_up
        hanging.kill()
    fleet.processes.remove(hanging)
    all_is_well(fleet)


# ---------------------------------------------------------------------- locks and old rows


def test_a_runs_row_that_somebody_holds_for_long_delays_that_run_alone_and_loses_no_step(
    fleet: Fleet, version: Version
) -> None:
    slow = fleet.world.draw("S > A:test_sleep > B > O", configs={"A": {"value": 1.0}})
    run = fleet.start(slow)
    fleet.wait_for_step(run, "A", "running")
    with Link(name="stranger").connection as stranger, stranger.transaction():
        stranger.execute("SELECT FROM runs_run WHERE id = %s FOR UPDATE", (run,))
        held_at = time.monotonic()
        others = [fleet.start(version, number) for number in range(3)]
        for other in others:
            fleet.wait_for(other, "succeeded")
        time.sleep(max(0.0, LOCK_LIMIT_S + 2.0 - (time.monotonic() - held_at)))
        assert fleet.world.statuses(run)["A"] == "running"
    fleet.wait_for(run, "succeeded")
    assert fleet.world.steps(run)["A"].attempt == 1
    all_is_well(fleet)


def test_a_claim_stays_quick_while_a_long_snapshot_keeps_dead_rows(fleet: Fleet) -> None:
    """A report or a backup that reads for hours: no dead row may go, and the ready ones are found all the same."""
    fleet.world.connection.execute("UPDATE runs_worker SET queues = queues")  # a version that the snapshot keeps
    with Link(name="snapshot").connection as snapshot:
        snapshot.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        snapshot.execute("SELECT count(*) FROM runs_steprun")
        hand = Hand()
        version = fleet.world.draw(f"S > {' > '.join(f'A{number}' for number in range(30))} > O",
                                   policies={f"A{number}": Policy(queue="played") for number in range(30)})  # fmt: skip
        took: list[float] = []
        for _ in range(12):
            fleet.start(version, announced=False)
        while True:
            began = time.perf_counter()
            held = claim_of(hand, "played")
            took.append(time.perf_counter() - began)
            if held is None:
                break
            hand.finish(held, Succeeded(1))
        snapshot.execute("ROLLBACK")
        hand.close()
    assert len(took) > 300
    last = sorted(took[-200:])
    assert last[len(last) // 2] < CLAIM_LIMIT_S, f"a claim took {last[len(last) // 2] * 1000:.1f} ms"


def claim_of(hand: Hand, queue: str) -> Held | None:
    return claim(hand.connection, worker=hand.id, claim_id=new_id(), queue=queue, kinds=KINDS).held


def test_everybody_at_once_on_the_same_runs_provokes_no_deadlock(fleet: Fleet) -> None:
    """Workers finish, sweepers sweep, people cancel and resume, all of them without a pause, on four runs."""
    world = fleet.world
    lane = dict.fromkeys(("S", "A", "B", "C", "J"), Policy(queue="crowded"))
    version = world.draw("S > A + B + C > J", policies=lane)
    runs = [fleet.start(version, announced=False) for _ in range(4)]
    counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    before = world.connection.execute(counted).fetchone()
    ends_at, trouble = time.monotonic() + 6, []
    acts = [work_wildly, work_wildly, cancel_wildly, resume_wildly, sweep_wildly, sweep_wildly]

    def go(act: Callable[[Link, list[UUID]], None]) -> None:
        link = Link(name="crowd")
        while time.monotonic() < ends_at:
            try:
                act(link, runs)
            except AppError:
                link.close()
            except Exception as error:  # noqa: BLE001 - the test's own thread tells of it
                trouble.append(repr(error))
                break
        link.close()

    threads = [threading.Thread(target=go, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert trouble == []
    time.sleep(1)  # statistics come a moment later
    assert world.connection.execute(counted).fetchone() == before
    assert world.broken() == []


def work_wildly(link: Link, runs: list[UUID]) -> None:
    hand = Hand(link)
    for number in range(4):
        held = claim_of(hand, "crowded")
        if held is not None:
            hand.finish(held, BROKEN if number % 3 == 2 else Succeeded(number))


def cancel_wildly(link: Link, runs: list[UUID]) -> None:
    for run in runs:
        with link.connection.transaction():
            cancel_run(link.connection, Command(new_id(), run, "cancel", "Ana"))


def resume_wildly(link: Link, runs: list[UUID]) -> None:
    for run in reversed(runs):
        with link.connection.transaction():
            resume_run(link.connection, Command(new_id(), run, "resume", "Ana"))


def sweep_wildly(link: Link, runs: list[UUID]) -> None:
    sweep.recover_dead(link.connection)
    sweep.due(link.connection)
    sweep.unstick(link.connection)
