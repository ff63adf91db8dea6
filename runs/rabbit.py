"""Dramatiq's RabbitMQ broker (BROKER_URL=amqp://...), with a clock for when RabbitMQ is away. It carries wake-ups only.

Needs the package pika (requirements/rabbitmq.in). While RabbitMQ does not answer, each lane wakes its worker once a
second by itself, and looks whether RabbitMQ is back: nothing depends on it (promise P5).
"""

import logging
import socket
import time
from typing import Any

from dramatiq import Message, MessageProxy
from dramatiq.broker import Consumer
from dramatiq.brokers.rabbitmq import RabbitmqBroker, _RabbitmqConsumer
from dramatiq.common import current_millis
from dramatiq.errors import ConnectionClosed

from runs.dispatch import ADVANCE

ALONE_PAUSE_S = 1.0
ANSWER_LIMIT_S = 1
# A sender never waits long for a RabbitMQ that is silent.
LIMITS = f"socket_timeout={ANSWER_LIMIT_S}&stack_timeout=2&connection_attempts=1&blocked_connection_timeout=2"

DELAYED = ".DQ"  # Dramatiq's queue of delayed messages beside each; Pawl sends none

logger = logging.getLogger(__name__)
logging.getLogger("pika").setLevel(
    logging.CRITICAL
)  # it tells each refused connection in seven lines; we tell it in one


class RabbitConsumer(_RabbitmqConsumer):
    """Dramatiq would hold the worker's thread until the end of a message could be told. What is not told comes again,
    and costs one wake-up too many.
    """

    def ack(self, message: MessageProxy) -> None:
        self._tell(message, super().ack)

    def nack(self, message: MessageProxy) -> None:
        self._tell(message, super().nack)

    def _tell(self, message: MessageProxy, tell: Any) -> None:
        try:
            tell(message)
        except ConnectionClosed as error:
            logger.warning("the end of a wake-up was not told: %s", error)


class AloneConsumer(Consumer):
    """In the place of one that cannot reach RabbitMQ: a message of its own each second, until it can."""

    def __init__(self, broker: "RabbitBroker", queue_name: str) -> None:
        self._broker, self._queue_name = broker, queue_name
        self._outstanding = 0
        logger.warning("RabbitMQ does not answer, lane %s looks for work by itself", queue_name)

    def __next__(self) -> MessageProxy | None:
        time.sleep(ALONE_PAUSE_S)
        if self._broker.is_reachable():
            raise ConnectionClosed("RabbitMQ is back")  # type: ignore[no-untyped-call]
        if self._outstanding or self._queue_name.endswith(DELAYED):
            return None
        self._outstanding += 1
        message: Message[None] = Message(
            queue_name=self._queue_name, actor_name=ADVANCE, args=(self._queue_name,), kwargs={}, options={},
            message_timestamp=current_millis(),
        )  # fmt: skip
        return MessageProxy(message)

    def ack(self, message: MessageProxy) -> None:
        self._outstanding -= 1

    nack = ack

    def requeue(self, messages: Any) -> None:
        """They were of our own making."""


class RabbitBroker(RabbitmqBroker):
    def __init__(self, *, url: str, **options: Any) -> None:
        super().__init__(url=url + ("&" if "?" in url else "?") + LIMITS, **options)

    @property
    def consumer_class(self) -> type[RabbitConsumer]:
        return RabbitConsumer

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        try:
            return super().consume(queue_name, prefetch, timeout)
        except ConnectionClosed:
            return AloneConsumer(self, queue_name)

    def is_reachable(self) -> bool:
        servers: Any = self.parameters  # of one address it is no list, whatever its type says
        for server in servers if isinstance(servers, list) else [servers]:
            try:
                socket.create_connection((server.host, server.port), timeout=ANSWER_LIMIT_S).close()
            except OSError:
                continue
            return True
        return False
