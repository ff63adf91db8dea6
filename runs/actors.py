"""Dramatiq's door to the worker. A message carries nothing: it says that a lane may have ready work."""

import dramatiq

from runs.dispatch import ADVANCE
from runs.worker import current_worker

OLD_MS = 60_000  # what a wake-up told of has long been found by the sweeper


@dramatiq.actor(actor_name=ADVANCE, queue_name="default", max_age=OLD_MS)
def advance(queue: str) -> None:
    current_worker().work(queue)
