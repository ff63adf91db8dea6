"""Dramatiq's Redis broker, with a doorbell, and a clock for when Redis is away.

Dramatiq's consumer polls with a growing pause, so an idle worker hears of a message 127 ms late (median; 540 ms at
p95). Here a message also rings: a publish on a channel that the idle consumer listens to. A lost ring costs what
polling always costs, and a lost message at most the sweeper's second. While Redis does not answer, the consumer wakes
its worker once a second by itself. So nothing depends on Redis (promise P5).
"""

import logging
import threading
import time
from typing import Any

import redis
from dramatiq import Broker, Message, MessageProxy, Middleware
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import compute_backoff
from dramatiq.errors import ConnectionClosed, DecodeError
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.retry import Retry

from runs.dispatch import ADVANCE

DOORBELL = "pawl:doorbell:"
LONGEST_WAIT_MS = 1_000
ALONE_PAUSE_S = 1.0
REDIS_ID = "redis_message_id"  # where Dramatiq keeps the queue's own name of a message
MOST_WAITING = 256  # wake-ups in a lane's queue
ANSWER_LIMIT_S = 1.0  # after that Redis counts as away

logger = logging.getLogger(__name__)


class DoorbellConsumer(_RedisConsumer):
    """Waits for the bell instead of sleeping."""

    def __init__(self, broker: "DoorbellBroker", queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, min(timeout, LONGEST_WAIT_MS))  # type: ignore[no-untyped-call]
        self._bell: PubSub | None = None
        self._is_alone = False
        self._has_room = threading.Event()  # a worker thread has ended one of the messages that were taken

    def __next__(self) -> Any:
        try:
            if not self.message_cache and self.outstanding_message_count < self.prefetch:
                wanted = self.prefetch - self.outstanding_message_count
                self.message_cache = self.broker.do_fetch(self.queue_name, wanted)
                self._is_alone = False
            if self.message_cache:
                return super().__next__()  # type: ignore[no-untyped-call]
            if self.outstanding_message_count < self.prefetch:
                self._wait_for_bell()
            else:
                self._wait_for_room()
        except redis.RedisError as error:
            return self._wake_alone(error)
        except DecodeError as error:
            logger.warning("lane %s had a message that nobody can read: %s", self.queue_name, error)
        return None

    def _wait_for_room(self) -> None:
        self._has_room.clear()
        if self.outstanding_message_count >= self.prefetch:
            self._has_room.wait(LONGEST_WAIT_MS / 1000)

    def _wait_for_bell(self) -> None:
        if self._bell is None:
            self._bell = self.broker.client.pubsub(ignore_subscribe_messages=True)
            self._bell.subscribe(DOORBELL + self.queue_name)
        self.misses, pause_ms = compute_backoff(self.misses, max_backoff=self.timeout)
        deadline = time.monotonic() + max(pause_ms, 50) / 1000
        while (left_s := deadline - time.monotonic()) > 0:
            if self._bell.get_message(timeout=left_s) is not None:
                self.misses = 0
                return

    def _wake_alone(self, error: redis.RedisError) -> Any:
        """Redis does not answer: a message of our own after a second, unless a worker thread still has one."""
        if not self._is_alone:
            logger.warning("Redis does not answer, lane %s looks for work by itself: %s", self.queue_name, error)
        self._is_alone = True
        self._drop_bell()
        time.sleep(ALONE_PAUSE_S)
        if self.outstanding_message_count >= self.prefetch:
            return None
        message: Message[None] = Message(
            queue_name=self.queue_name, actor_name=ADVANCE, args=(self.queue_name,), kwargs={}, options={}
        )
        self.queued_message_ids.add(message.message_id)
        return MessageProxy(message)

    def ack(self, message: "MessageProxy") -> None:
        self._part_with(message, super().ack)

    def nack(self, message: "MessageProxy") -> None:
        self._part_with(message, super().nack)

    def _part_with(self, message: "MessageProxy", tell: Any) -> None:
        """Dramatiq would hold the worker's thread until Redis is back. What was not told costs one wake-up too many."""
        self.queued_message_ids.discard(message.message_id)
        self._has_room.set()
        if REDIS_ID not in message.options:
            return  # of our own making
        try:
            tell(message)
        except (redis.RedisError, ConnectionClosed) as error:
            logger.warning("the end of a wake-up was not told: %s", error)

    def _drop_bell(self) -> None:
        if self._bell is not None:
            self._bell.close()
            self._bell = None

    def close(self) -> None:
        self._drop_bell()
        super().close()


class DoorbellBroker(RedisBroker):
    def __init__(self, *, url: str, **options: Any) -> None:
        client = redis.Redis.from_url(
            url,
            socket_connect_timeout=ANSWER_LIMIT_S,
            socket_timeout=ANSWER_LIMIT_S,
            # Once: a pooled connection may be from before a restart of Redis. A silent Redis is not asked twice.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        super().__init__(client=client, **options)  # type: ignore[no-untyped-call]

    @property
    def consumer_class(self) -> type[DoorbellConsumer]:
        return DoorbellConsumer

    def enqueue(self, message: "Message[Any]", *, delay: int | None = None) -> "Message[Any]":
        """Rings in any case; adds no message where so many wait that one more tells nobody anything.

        What waits in the queue is looked at later than now, and whoever looks finds all that is ready by then. So a
        lane without workers does not fill Redis, whatever the clocks say.
        """
        if self.client.llen(f"{self.namespace}:{message.queue_name}") < MOST_WAITING:
            message = super().enqueue(message, delay=delay)
        self.client.publish(DOORBELL + message.queue_name, b"1")
        return message


class Lifecycle(Middleware):
    """Registers the worker when Dramatiq has started it, and drains it when Dramatiq is told to stop."""

    def after_process_boot(self, broker: Broker) -> None:
        from runs.worker import current_worker  # here: web processes use the broker too, and never run a worker

        for queue in current_worker().queues:
            broker.declare_queue(queue)

    def before_worker_shutdown(self, broker: Broker, worker: Any) -> None:
        from runs.worker import current_worker

        current_worker().drain()
