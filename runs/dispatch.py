"""Wake-ups: messages that carry nothing but 'look for ready work in this lane'.

Sent after commit. One that is lost costs time, never work: the sweeper finds what is ready and unclaimed (promise P5).
"""

import logging
from itertools import count

import dramatiq
from dramatiq import Message

WAKE_AT_MOST = 8  # wake-ups of one call: a worker that is awake goes on by itself
ADVANCE = "advance"  # the actor's name (runs/actors.py)

logger = logging.getLogger(__name__)
failures = count(1)  # how many wake-ups could not be sent


def wake(queue: str, *, steps: int = 1) -> None:
    """Tells workers of a lane that there is ready work. Never raises: Redis may be down, full or gone."""
    try:
        broker = dramatiq.get_broker()
        for _ in range(min(steps, WAKE_AT_MOST)):
            message: Message[None] = Message(queue_name=queue, actor_name=ADVANCE, args=(queue,), kwargs={}, options={})
            broker.enqueue(message)
    except Exception as error:  # noqa: BLE001 - whatever the broker may raise: the work is in PostgreSQL, and the sweeper will wake
        logger.warning("a wake-up for lane %s was not sent (%s so far): %s", queue, next(failures), error)
