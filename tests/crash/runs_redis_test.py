"""Redis loses everything, goes away, comes back, and is full of rubbish: no run notices anything but time.

Faults 17, 18, 19, 21, 22, 23, 24 of the fault matrix. What they could bring back: work that waits for a lost wake-up
for ever, work that two wake-ups told of and is claimed twice, a worker that ends because it cannot read a message.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import redis

from builder.graph.model import Policy
from builder.workflows.models import Version
from config.services.valkey import Valkey
from runs.dispatch import wake
from tests.fleet import Fleet
from tests.proxy import Proxy

pytestmark = pytest.mark.crash

QUEUE = "pawl:default"
END_S = 8  # Ctrl-C of `make run` kills after five
VALUES = {
    "A": {"value": "{{ run.input }}"},
    "E": {"items": [1, 2, 3, 4], "window": 2},
    "Y": {"value": "{{ item * 10 }}"},
    "J": {"value": "{{ steps.E.output }}"},
}


@pytest.fixture(scope="module")
def fleet(shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path_factory.mktemp("fleet")) as fleet:
        for _ in range(2):
            fleet.worker()
        fleet.sweeper()
        fleet.ready()
        yield fleet


@pytest.fixture
def valkey(servers: Any) -> Iterator[Valkey]:
    yield servers.valkey
    if servers.valkey.process is None:
        servers.valkey.start(preferred=[servers.valkey.port])


@pytest.fixture(scope="module")
def version(fleet: Fleet) -> Version:
    return fleet.world.draw("S > A > E[Y:test_echo] > J > D > L > O", configs={**VALUES, "D": {"seconds": 1}})


def finish_all(fleet: Fleet, runs: list[UUID]) -> None:
    for run in runs:
        fleet.wait_for(run, "succeeded")
        assert fleet.world.output(run, "J") == [10, 20, 30, 40]
        assert {step.attempt for step in fleet.world.steps(run).values()} <= {0, 1}
    assert all(process.is_up for process in fleet.processes)
    fleet.check()


@contextmanager
def every(pause_s: float, act: Any) -> Iterator[list[int]]:
    """Does it again and again in a thread; yields how often it was done."""
    ending, done = threading.Event(), [0]

    def repeat() -> None:
        while not ending.is_set():
            act()
            done[0] += 1
            ending.wait(pause_s)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield done
    finally:
        ending.set()
        thread.join()


def test_flushing_redis_all_the_time_loses_no_step(fleet: Fleet, valkey: Valkey, version: Version) -> None:
    with redis.Redis.from_url(valkey.url) as client, every(0.2, client.flushall) as flushed:
        runs = [fleet.start(version, number) for number in range(8)]
        finish_all(fleet, runs)
    assert flushed[0] >= 3


def test_without_redis_for_a_whole_run_everything_finishes_and_more_slowly_at_most(
    fleet: Fleet, valkey: Valkey, version: Version
) -> None:
    valkey.stop()
    finish_all(fleet, [fleet.start(version, number, announced=False) for number in range(3)])
    assert valkey.process is None


def test_a_wake_up_without_redis_costs_its_sender_next_to_nothing(fleet: Fleet, valkey: Valkey) -> None:
    """A start by the API ends with one; and so does every step that makes others ready."""
    valkey.stop()
    began = time.monotonic()
    wake("default", steps=8)
    assert time.monotonic() - began < 0.5


def test_a_worker_that_starts_without_redis_works_and_ends_when_it_is_told_to(fleet: Fleet, valkey: Valkey) -> None:
    valkey.stop()
    lane = Policy(queue="early")
    version = fleet.world.draw("S > A > B > O", policies=dict.fromkeys("SABO", lane))
    early = fleet.worker(PAWL_WORKER_QUEUES="early")
    fleet.wait_for(fleet.start(version, announced=False), "succeeded")
    assert early.is_up
    early.popen.terminate()
    early.popen.wait(END_S)
    fleet.processes.remove(early)
    fleet.check()


def test_redis_killed_and_started_again_in_the_middle_of_runs_costs_nothing(
    fleet: Fleet, valkey: Valkey, version: Version
) -> None:
    runs = [fleet.start(version, number) for number in range(6)]
    assert valkey.process is not None
    valkey.process.kill()
    valkey.process.wait()
    time.sleep(1)
    valkey.start(preferred=[valkey.port])
    runs += [fleet.start(version, number, announced=False) for number in range(2)]
    finish_all(fleet, runs)


def test_rubbish_and_messages_of_yesterday_harm_nobody(fleet: Fleet, valkey: Valkey, version: Version) -> None:
    day_ms = 24 * 3600 * 1000
    strange: dict[str, Any] = {
        "queue_name": "default", "actor_name": "advance", "args": ["default"], "kwargs": {}, "options": {},
        "message_id": "", "message_timestamp": int(time.time() * 1000) - day_ms,
    }  # fmt: skip
    messages = {f"old-{n}": json.dumps({**strange, "message_id": f"old-{n}"}) for n in range(20)}
    messages |= {
        "no-json": "\x00{",
        "no-object": "[]",
        "no-actor": json.dumps({**strange, "actor_name": "drop_tables", "message_timestamp": int(time.time() * 1000)}),
        "no-lane": json.dumps({**strange, "args": ["no such lane"], "message_timestamp": int(time.time() * 1000)}),
        "no-args": json.dumps({**strange, "args": [], "message_timestamp": int(time.time() * 1000)}),
        "no-body": "",
    }
    with redis.Redis.from_url(valkey.url) as client:
        for name, body in messages.items():
            client.hset(f"{QUEUE}.msgs", name, body)
            client.rpush(QUEUE, name)
        client.rpush(QUEUE, "message without a body")
        finish_all(fleet, [fleet.start(version, number) for number in range(3)])
        fleet.wait(lambda: client.llen(QUEUE) == 0, what="an empty queue")


def test_ten_thousand_wake_ups_too_many_claim_nothing_twice(fleet: Fleet, valkey: Valkey, version: Version) -> None:
    """Bogdanp/dramatiq#692, #431, #461: a message came back while its worker was busy, or came twice. Here a message is
    a wake-up that carries nothing: a copy finds nothing to claim.
    """
    message = {"queue_name": "default", "actor_name": "advance", "args": ["default"], "kwargs": {}}
    with redis.Redis.from_url(valkey.url) as client:
        with client.pipeline(transaction=False) as pipeline:
            for number in range(10_000):
                name, now_ms = f"copy-{number}", int(time.time() * 1000)
                own = {"message_id": name, "message_timestamp": now_ms, "options": {"redis_message_id": name}}
                pipeline.hset(f"{QUEUE}.msgs", name, json.dumps({**message, **own}))
                pipeline.rpush(QUEUE, name)
            pipeline.execute()
        finish_all(fleet, [fleet.start(version, number) for number in range(3)])
        fleet.wait(lambda: client.llen(QUEUE) == 0, what="an empty queue")


def test_a_redis_that_takes_connections_and_answers_nothing_stops_nobody(fleet: Fleet, valkey: Valkey) -> None:
    lane = Policy(queue="stalled")
    version = fleet.world.draw(
        "S > A:delay > B > O", configs={"A": {"seconds": 0.5}}, policies=dict.fromkeys("SABO", lane)
    )
    with Proxy(valkey.port) as proxy:
        through = valkey.url.replace(f":{valkey.port}/", f":{proxy.port}/")
        stalled = fleet.worker(REDIS_URL=through, PAWL_WORKER_QUEUES="stalled")
        fleet.wait_for(fleet.start(version), "succeeded")
        proxy.stall()
        fleet.wait_for(fleet.start(version), "succeeded")
        assert stalled.is_up
        stalled.kill()
    fleet.processes.remove(stalled)
    fleet.check()


def test_fetches_whose_replies_are_lost_cost_time_only(fleet: Fleet, valkey: Valkey) -> None:
    """The broker's fetch takes messages from the queue and the reply is lost: those wake-ups are nobody's."""
    lane = Policy(queue="lossy")
    configs = {"A": {"seconds": 0.1}, "B": {"value": 1}}
    version = fleet.world.draw("S > A:delay > B > O", configs=configs, policies=dict.fromkeys("SABO", lane))
    with Proxy(valkey.port) as proxy:
        lossy = fleet.worker(
            REDIS_URL=valkey.url.replace(f":{valkey.port}/", f":{proxy.port}/"), PAWL_WORKER_QUEUES="lossy"
        )
        loss = proxy.drop_reply(b"fetch", times=5)
        runs = [fleet.start(version) for _ in range(3)]
        for run in runs:
            fleet.wait_for(run, "succeeded")
        assert loss.done == 5
        assert lossy.is_up
    lossy.kill()
    fleet.processes.remove(lossy)
    fleet.check()
