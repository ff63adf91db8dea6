"""One thread's own connection to PostgreSQL, outside Django: raw, prepared, in autocommit mode, replaced when it
breaks.
"""

import logging
import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from django.conf import settings

from kit.clock import monotonic_s
from runs.store.read import Connection

Result = TypeVar("Result")

FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
# Half-open connections are noticed; nothing holds a lock or a transaction for longer than this. Every hot statement has
# its index, and is planned once: a table that was empty when a plan was made must not be scanned whole ever after.
OPTIONS = (
    "-c lock_timeout=5s -c statement_timeout=20s -c idle_in_transaction_session_timeout=20s -c jit=off "
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
)

logger = logging.getLogger(__name__)


def session_options() -> dict[str, Any]:
    """Behind PgBouncer a session is many servers' for a transaction each: nothing is prepared, and what the options say
    is said by PgBouncer's own `connect_query` (docs/operating.md).
    """
    if settings.PGBOUNCER:
        return {"prepare_threshold": None}
    return {"prepare_threshold": 2, "options": OPTIONS}


class Stopping(Exception):
    """The process is being stopped while the database does not answer."""


class Link:
    """Not for two threads at once."""

    def __init__(self, *, name: str, is_stopping: Callable[[], bool] = lambda: False) -> None:
        self._name = name
        self._is_stopping = is_stopping
        self._connection: Connection | None = None
        self.opened_at = 0.0  # on this process's own clock

    @property
    def connection(self) -> Connection:
        """The open connection, made where there is none. Raises psycopg.OperationalError."""
        if self._connection is None or self._connection.closed:
            database: dict[str, Any] = settings.DATABASES["default"]
            self.opened_at = monotonic_s()
            self._connection = psycopg.connect(
                host=database["HOST"], port=database["PORT"] or None, dbname=database["NAME"], user=database["USER"],
                password=database["PASSWORD"], autocommit=True, application_name=f"pawl {self._name}",
                **session_options(), connect_timeout=5, tcp_user_timeout=10_000, keepalives_idle=10,
            )  # fmt: skip
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def retry(self, act: Callable[[Connection, bool], Result]) -> Result:
        """Calls `act(connection, again)` until the database answers. `again` is true after a call whose fate is
        unknown.

        Only for acts that may be repeated after any database error. Raises Stopping, and whatever is not the database's
        or the network's fault.
        """
        pause_s, again = FIRST_PAUSE_S, False
        while True:
            try:
                return act(self.connection, again)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                logger.warning("%s: the database did not answer, again in %.2f s: %s", self._name, pause_s, error)
                self.close()
            except BaseException:
                self.close()  # whatever it had begun is rolled back
                raise
            if self._is_stopping():
                raise Stopping
            again = True
            time.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads the reconnects
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
