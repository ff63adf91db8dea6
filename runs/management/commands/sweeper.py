"""manage.py sweeper: notices what nobody else would. Run one per worker host at least; any number is harmless."""

import logging
import random
import signal
import socket
import threading
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand

from kit.clock import monotonic_s
from kit.ids import new_id
from runs import host
from runs.engine.children import Turns
from runs.engine.retention import Housekeeping
from runs.engine.stuck import Looks
from runs.engine.sweep import Memory, sweep
from runs.link import Link, Stopping
from runs.management.bulk_loop import BulkLoop
from runs.management.failure_loop import FailureLoop
from runs.management.post_loop import PostLoop
from runs.management.trigger_loop import TriggerLoop
from runs.management.watch_loop import WatchLoop
from runs.store.read import Connection
from runs.triggers.sweep import Forgetting

EVERY_S = 1.0
PARTITIONS_EVERY_S = 3600.0
PARTITIONS_AHEAD = 7
MAKE_PARTITIONS = "SELECT pawl_make_partitions((now() AT TIME ZONE 'UTC')::date + 1, %s)"  # from tomorrow on
# A new partition needs its table for itself. While it waits behind a long reader (a backup), every write of an event
# waits behind it: so it hardly waits at all, and tries again later; there are days left.
PARTITION_LOCK_MS = 50
PARTITIONS_AGAIN_S = 60.0
HOUSEKEEPING_EVERY_S = 30.0

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Recovers the steps of dead workers, starts what is due, and wakes workers for what was left lying."

    def handle(self, *args: Any, **options: Any) -> None:
        ending = threading.Event()
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signal_number, lambda *_: ending.set())
        SweeperLoop(ending).run()


class SweeperLoop:
    """Every second, with jitter, until told to end. A new id after each loss of contact: silence counts anew."""

    def __init__(self, ending: threading.Event) -> None:
        self.ending = ending
        self.id = new_id()
        self.link = Link(name="sweeper", is_stopping=ending.is_set)
        self._partitions_at = 0.0
        self._memory = Memory(turns=Turns(is_patient=False), standing=Looks())
        self._housekeeping = Housekeeping(days=settings.RETENTION_DAYS)
        self._housekeeping_at = 0.0
        self._ledger = Forgetting()
        self._post = PostLoop(ending)

    def run(self) -> None:
        others = [
            *(BulkLoop(self.ending), TriggerLoop(self.ending), WatchLoop(self.ending), FailureLoop(self.ending)),
            self._post,
        ]
        for other in others:
            other.start()
        while not self.ending.is_set():
            try:
                self.link.retry(self._once)
            except Stopping:
                break
            except Exception:  # one bad row must not end the sweeper for all others
                logger.exception("a sweep failed")
                self.id = new_id()
            self.ending.wait(EVERY_S * random.uniform(0.5, 1.0))  # noqa: S311 - spreads several sweepers
        for other in others:
            other.join(timeout=EVERY_S)
        self.link.close()

    def _once(self, connection: Connection, again: bool) -> None:
        if again:
            self.id = new_id()
        self._make_partitions(connection)
        swept = sweep(connection, sweeper=self.id, host=socket.gethostname(), is_gone=host.is_gone, memory=self._memory)
        if self._memory.turns.left:
            self._memory.turns.left = False
            self._post.wanted.set()
        self._keep_house(connection)
        if swept.buried or swept.recovered or swept.stuck:
            logger.warning("swept: %s", swept)

    def _keep_house(self, connection: Connection) -> None:
        """Never in the way of what is due: a turn takes about a second, and fails alone."""
        if monotonic_s() - self._housekeeping_at < HOUSEKEEPING_EVERY_S:
            return
        self._housekeeping_at = monotonic_s()
        try:
            done = self._housekeeping.turn(connection)
            self._ledger.look(connection, days=settings.RETENTION_DAYS)
        except psycopg.OperationalError:
            raise
        except psycopg.DatabaseError:
            logger.exception("the housekeeping failed")
            return
        if done.payloads or done.runs or done.days:
            logger.info("taken away: %s", done)
        if done.runs:  # there may be more
            self._housekeeping_at = 0.0

    def _make_partitions(self, connection: Connection) -> None:
        if self._partitions_at and monotonic_s() - self._partitions_at < PARTITIONS_EVERY_S:
            return
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{PARTITION_LOCK_MS}ms'")
                connection.execute(MAKE_PARTITIONS, (PARTITIONS_AHEAD,))
        except psycopg.errors.LockNotAvailable:
            logger.warning("somebody reads the event log: partitions for the next days are made later")
            self._partitions_at = monotonic_s() - PARTITIONS_EVERY_S + PARTITIONS_AGAIN_S
            return
        except psycopg.errors.DatabaseError as error:
            if isinstance(error, psycopg.OperationalError):
                raise
            logger.exception("partitions for the next days were not made")  # the default one takes the rows
        self._partitions_at = monotonic_s()
