"""The thread of a sweeper that starts what triggers have made due: whether a run's input fits a schema that somebody
wrote may take seconds to say, and no dead worker and no timer of others waits for that.
"""

import logging
import random
import threading

from runs.link import Link, Stopping
from runs.triggers.sweep import fire_due

EVERY_S = 1.0

logger = logging.getLogger(__name__)


class TriggerLoop(threading.Thread):
    """Every second, with jitter, until told to end."""

    def __init__(self, ending: threading.Event) -> None:
        super().__init__(name="triggers", daemon=True)
        self._ending = ending
        self._link = Link(name="triggers", is_stopping=ending.is_set)

    def run(self) -> None:
        while not self._ending.is_set():
            try:
                self._link.retry(lambda connection, _: fire_due(connection))
            except Stopping:
                break
            except Exception:  # one bad row must not end the triggers of all others
                logger.exception("triggers could not be fired")
            self._ending.wait(EVERY_S * random.uniform(0.5, 1.0))  # noqa: S311 - spreads several sweepers
        self._link.close()
