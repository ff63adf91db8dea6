"""The thread of a sweeper that writes down how runs failed: it may take its time, and nothing waits for it."""

import logging
import threading

import psycopg

from runs.failures.project import BATCH, project
from runs.link import Link, Stopping

EVERY_S = 1.0  # with nothing more to do

logger = logging.getLogger(__name__)


class FailureLoop(threading.Thread):
    """Until told to end."""

    def __init__(self, ending: threading.Event) -> None:
        super().__init__(name="failures", daemon=True)
        self._ending = ending
        self._link = Link(name="failures", is_stopping=ending.is_set)

    def run(self) -> None:
        while not self._ending.is_set():
            try:
                found = self._link.retry(lambda connection, again: project(connection, again=again))
            except Stopping:
                break
            except psycopg.DatabaseError as error:
                logger.warning("failures are written down later: %s", error)
                found = 0
            except Exception:  # one bad row must not end it for all others
                logger.exception("failures were not written down")
                found = 0
            if found < BATCH:
                self._ending.wait(EVERY_S)
        self._link.close()
