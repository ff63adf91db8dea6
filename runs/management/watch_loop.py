"""The thread of a sweeper that watches over runs: it sums hours for the overview, and sends alerts. What it waits for
(a mail server, somebody's webhook) keeps no dead worker waiting.
"""

import logging
import random
import threading

from django.db import connection as django_connection

from kit.clock import monotonic_s
from runs.alerts.sweep import forget, watch
from runs.link import Link, Stopping
from runs.overview.roll import roll
from runs.store.read import Connection

EVERY_S = 2.0
ROLL_EVERY_S = 30.0

logger = logging.getLogger(__name__)


class WatchLoop(threading.Thread):
    """Every other second, with jitter, until told to end."""

    def __init__(self, ending: threading.Event) -> None:
        super().__init__(name="watch", daemon=True)
        self._ending = ending
        self._rolled_at = 0.0
        self._link = Link(name="watch", is_stopping=ending.is_set)

    def run(self) -> None:
        while not self._ending.is_set():
            try:
                did = self._link.retry(self._once)
            except Stopping:
                break
            except Exception:  # one bad row must not end the alerts of all others
                logger.exception("nobody could be told of what happened")
                did = 0
            finally:
                django_connection.close()  # connections' settings were read by it
            if not did:
                self._ending.wait(EVERY_S * random.uniform(0.5, 1.0))  # noqa: S311 - spreads several sweepers
        self._link.close()

    def _once(self, connection: Connection, again: bool) -> int:
        did = watch(connection)
        if monotonic_s() - self._rolled_at >= ROLL_EVERY_S or not self._rolled_at:
            self._rolled_at = 0.0 if roll(connection) else monotonic_s()  # after a long silence a day at a time
            forget(connection)
        return did
