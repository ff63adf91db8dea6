"""The queue of wake-ups stays small whatever happens, and no wake-up is judged by anybody's clock."""

from typing import Any

import pytest
import redis
from django.conf import settings
from dramatiq import Message

from runs import actors
from runs.broker import DOORBELL, MOST_WAITING, DoorbellBroker
from runs.dispatch import ADVANCE

QUEUE = "quiet"


@pytest.fixture
def broker(redis_url: str) -> Any:
    broker = DoorbellBroker(url=redis_url, namespace="small")
    broker.declare_queue(QUEUE)
    yield broker
    broker.flush(QUEUE)
    broker.close()
    broker.client.close()


def wake_up() -> "Message[None]":
    return Message(queue_name=QUEUE, actor_name=ADVANCE, args=(QUEUE,), kwargs={}, options={})


def test_a_lane_without_workers_fills_no_memory_and_is_rung_for_all_the_same(
    broker: DoorbellBroker, redis_url: str
) -> None:
    extra = 20
    with redis.Redis.from_url(redis_url) as client, client.pubsub(ignore_subscribe_messages=True) as bell:
        bell.subscribe(DOORBELL + QUEUE)
        for _ in range(MOST_WAITING + extra):
            broker.enqueue(wake_up())
        assert client.llen(f"small:{QUEUE}") == MOST_WAITING
        assert client.hlen(f"small:{QUEUE}.msgs") == MOST_WAITING
        rung = 0
        while bell.get_message(timeout=1) is not None or rung == 0:
            rung += 1
    assert rung >= MOST_WAITING + extra


def test_no_wake_up_is_too_old() -> None:
    assert "max_age" not in actors.advance.options
    assert not [name for name in settings.DRAMATIQ_BROKER["MIDDLEWARE"] if "Age" in name]
