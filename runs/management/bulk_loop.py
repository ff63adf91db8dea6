"""The thread of a sweeper that carries bulk operations out, so that many runs to do keep no dead worker waiting."""

import logging
import threading

from django.db import DatabaseError, connection

from runs.bulk.drive import are_any, drive
from runs.link import Link, Stopping

EVERY_S = 0.5  # while there is nothing to do

logger = logging.getLogger(__name__)


class BulkLoop(threading.Thread):
    """Until told to end."""

    def __init__(self, ending: threading.Event) -> None:
        super().__init__(name="bulk", daemon=True)
        self._ending = ending
        self._link = Link(name="bulk", is_stopping=ending.is_set)

    def run(self) -> None:
        while not self._ending.is_set():
            try:
                did = drive() if self._link.retry(lambda connection, _: are_any(connection)) else 0
            except Stopping:
                break
            except DatabaseError as error:
                logger.warning("bulk operations wait: the database did not answer: %s", error)
                did = 0
            except Exception:  # one bad row must not end bulk operations for all others
                logger.exception("a bulk operation failed")
                did = 0
            finally:
                connection.close()  # back to the pool: another one where this is broken
            if not did:
                self._ending.wait(EVERY_S)
        self._link.close()
