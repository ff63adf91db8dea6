"""Dramatiq's Redis broker, with a doorbell.

Dramatiq's consumer polls with a growing pause, so an idle worker hears of a message 127 ms late (median; 540 ms at
p95). Here a message also rings: a publish on a channel that the idle consumer listens to. A lost ring costs what
polling always costs, and a lost message at most the sweeper's second: nothing depends on either.
"""

import time
from typing import Any

import redis
from dramatiq import Broker, Message, Middleware
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import compute_backoff
from dramatiq.errors import ConnectionClosed

DOORBELL = "pawl:doorbell:"
LONGEST_WAIT_MS = 1_000


class DoorbellConsumer(_RedisConsumer):
    """Waits for the bell instead of sleeping."""

    def __init__(self, broker: "DoorbellBroker", queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, min(timeout, LONGEST_WAIT_MS))  # type: ignore[no-untyped-call]
        self._bell = broker.client.pubsub(ignore_subscribe_messages=True)
        self._bell.subscribe(DOORBELL + queue_name)

    def __next__(self) -> Any:
        try:
            if not self.message_cache and self.outstanding_message_count < self.prefetch:
                wanted = self.prefetch - self.outstanding_message_count
                self.message_cache = self.broker.do_fetch(self.queue_name, wanted)
            if self.message_cache:
                return super().__next__()  # type: ignore[no-untyped-call]
            self._wait()
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None  # type: ignore[no-untyped-call]
        return None

    def _wait(self) -> None:
        self.misses, pause_ms = compute_backoff(self.misses, max_backoff=self.timeout)
        deadline = time.monotonic() + max(pause_ms, 50) / 1000
        while (left_s := deadline - time.monotonic()) > 0:
            if self._bell.get_message(timeout=left_s) is not None:
                self.misses = 0
                return

    def close(self) -> None:
        self._bell.close()
        super().close()


class DoorbellBroker(RedisBroker):
    @property
    def consumer_class(self) -> type[DoorbellConsumer]:
        return DoorbellConsumer

    def enqueue(self, message: "Message[Any]", *, delay: int | None = None) -> "Message[Any]":
        sent = super().enqueue(message, delay=delay)
        self.client.publish(DOORBELL + message.queue_name, b"1")
        return sent


class Lifecycle(Middleware):
    """Registers the worker when Dramatiq has started it, and drains it when Dramatiq is told to stop."""

    def after_process_boot(self, broker: Broker) -> None:
        from runs.worker import current_worker  # here: web processes use the broker too, and never run a worker

        for queue in current_worker().queues:
            broker.declare_queue(queue)

    def before_worker_shutdown(self, broker: Broker, worker: Any) -> None:
        from runs.worker import current_worker

        current_worker().drain()
