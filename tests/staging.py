"""How tests stage that two things happen at once, or one in the middle of another."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from kit.clock import monotonic_s
from kit.failpoints import arm
from runs.engine import sweep
from runs.store import fleet
from runs.store.read import Connection
from tests.engine import World
from tests.hands import Hand


def lose(world: World, hand: Hand) -> None:
    """The worker is declared dead, and what it held is taken from it."""
    assert fleet.bury(world.connection, hand.id)
    sweep.recover_dead(world.connection)


def begun(world: World, drawing: str = "S > A > B", **options: Any) -> UUID:
    return world.start(world.draw(drawing, **options)).run_id


def successes(world: World, run_id: UUID, path: str) -> int:
    return world.events(run_id).count(("step.succeeded", path))


class Meddled:
    """A connection on which something happens right after its first statement: somebody else came in between."""

    def __init__(self, connection: Connection, meanwhile: Callable[[], None]) -> None:
        self._connection, self._meanwhile = connection, meanwhile
        self._is_first = True

    def execute(self, *arguments: Any) -> Any:
        cursor = self._connection.execute(*arguments)
        if self._is_first:
            self._is_first = False
            self._meanwhile()
        return cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class After:
    """A connection on which something happens right after one statement: somebody else came in between."""

    def __init__(self, connection: Connection, statement: str, meanwhile: Any) -> None:
        self._connection, self._statement, self._meanwhile = connection, statement, meanwhile

    def execute(self, statement: Any, *arguments: Any) -> Any:
        cursor = self._connection.execute(statement, *arguments)
        if statement == self._statement:
            self._meanwhile()
        return cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@contextmanager
def failpoints(text: str) -> Iterator[None]:
    arm(text)
    try:
        yield
    finally:
        arm("")


def activity(world: World, hand: Hand) -> tuple[str, str | None]:
    """What PostgreSQL says of the hand's connection: its state, and what it waits for."""
    pid = hand.connection.info.backend_pid
    found = world.connection.execute("SELECT state, wait_event_type FROM pg_stat_activity WHERE pid = %s", (pid,))
    state: tuple[str, str | None] = found.fetchone() or ("gone", None)
    return state


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = monotonic_s() + 10
    while not is_so():
        assert monotonic_s() < deadline, "it never came to that"
        time.sleep(0.01)


def age(world: World, run_id: UUID, *, days: int) -> None:
    """Makes the run, and all that belongs to it, so many days older, as if it had been started then. Guards are off
    for that moment.
    """
    connection = world.connection
    tables = ("runs_event", "runs_attempt", "runs_checkpoint", "runs_logchunk")
    with connection.transaction():
        connection.execute(
            "SELECT pawl_make_partitions(run_day - %s::int, 1) FROM runs_run WHERE id = %s", (days, run_id)
        )
        for table in ("runs_event", "runs_steprun"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        connection.execute("UPDATE runs_event SET run_day = run_day - %s::int WHERE run_id = %s", (days, run_id))
        for table in tables[1:]:
            connection.execute(
                f"UPDATE {table} t SET run_day = t.run_day - %s::int FROM runs_steprun s "
                "WHERE s.id = t.step_run_id AND s.run_id = %s",
                (days, run_id),
            )
        connection.execute("UPDATE runs_steprun SET run_day = run_day - %s::int WHERE run_id = %s", (days, run_id))
        connection.execute(
            "UPDATE runs_run SET run_day = run_day - %s::int, created_at = created_at - make_interval(days => %s), "
            "finished_at = finished_at - make_interval(days => %s) WHERE id = %s",
            (days, days, days, run_id),
        )
        for table in ("runs_event", "runs_steprun"):
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
