"""Hints to browsers: 'run X has events up to n'. They carry no event; whoever listens reads those from PostgreSQL.

Coalesced: one thread per process sends the latest number of each run every few milliseconds. Sent after commit, errors
swallowed: a lost hint costs a watcher a second (runs/live), never an event.
"""

import json
import logging
import threading
from dataclasses import dataclass
from uuid import UUID

import redis
from django.conf import settings

CHANNEL = "pawl:hints"
PAUSE_S = 0.02

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Hint:
    """What a listener gets: JSON of these."""

    run: str
    workspace: str
    seq: int
    status: str


class Hints:
    """Collects hints and sends them from one thread, started by the first one."""

    def __init__(self) -> None:
        self._latest: dict[str, Hint] = {}
        self._lock = threading.Lock()
        self._there_are_some = threading.Event()
        self._thread: threading.Thread | None = None

    def tell(self, hint: Hint) -> None:
        with self._lock:
            self._latest[hint.run] = hint
            if self._thread is None:
                self._start()
        self._there_are_some.set()

    def _start(self) -> None:
        thread = threading.Thread(target=self._send_for_ever, name="hints", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the machine has no thread left: the next hint tries again
            logger.warning("hints are not sent: %s", error)
        else:
            self._thread = thread

    def _take(self) -> list[Hint]:
        with self._lock:
            taken, self._latest = list(self._latest.values()), {}
        return taken

    def _send_for_ever(self) -> None:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
        pause = threading.Event()
        while True:
            self._there_are_some.wait()
            self._there_are_some.clear()
            try:
                with client.pipeline(transaction=False) as pipeline:
                    for hint in self._take():
                        pipeline.publish(CHANNEL, json.dumps(hint.__dict__))
                    pipeline.execute()
            except (redis.RedisError, OSError) as error:
                logger.warning("hints were not sent: %s", error)
            pause.wait(PAUSE_S)


_hints = Hints()


def hint(run_id: UUID, *, workspace_id: UUID | None, seq: int, status: str) -> None:
    """Tells that a run has events up to `seq`. Call it after the commit."""
    _hints.tell(Hint(str(run_id), str(workspace_id), seq, status))
