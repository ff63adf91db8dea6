"""Dramatiq's door to the worker. A message carries nothing: it says that a lane may have ready work."""

import dramatiq

from runs.dispatch import ADVANCE
from runs.worker import current_worker


@dramatiq.actor(actor_name=ADVANCE, queue_name="default")
def advance(queue: str) -> None:
    current_worker().work(queue)
