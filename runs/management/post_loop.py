"""The thread of a sweeper that starts child runs whose input takes long to check: the sweeps themselves leave these
aside, so that no dead worker and no timer waits for a schema that somebody wrote.
"""

import logging
import threading

from runs.engine.children import Turns, deliver
from runs.link import Link, Stopping

LOOKS_EVERY_S = 0.5  # whether to end

logger = logging.getLogger(__name__)


class PostLoop(threading.Thread):
    """Sleeps until a sweep has left something (`wanted`), and until told to end."""

    def __init__(self, ending: threading.Event) -> None:
        super().__init__(name="post", daemon=True)
        self.wanted = threading.Event()
        self._ending = ending
        self._turns = Turns()
        self._link = Link(name="post", is_stopping=ending.is_set)

    def run(self) -> None:
        while not self._ending.is_set():
            if not self.wanted.wait(LOOKS_EVERY_S):
                continue
            self.wanted.clear()
            try:
                if self._link.retry(lambda connection, _: deliver(connection, turns=self._turns)):
                    self.wanted.set()  # there may be more
            except Stopping:
                break
            except Exception:  # one bad row must not end the deliveries of all others
                logger.exception("what runs tell each other could not be delivered")
        self._link.close()
