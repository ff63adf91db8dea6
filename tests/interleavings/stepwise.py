"""A connection that stops at each point of an act: before every statement, before and after every commit.

A test counts the points of an act once, and then lets it die at each of them (the connection is cut, as by kill -9 of
its process), or pauses it there while somebody else does something.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from runs.store.read import Connection

PATIENCE_S = 20.0


class Died(BaseException):
    """The process of the act is no more. Not an Exception: no handler on the way may live on."""


class Stepwise:
    def __init__(self, connection: Connection, at: Callable[[int], None] = lambda point: None) -> None:
        self._connection, self._at = connection, at
        self.points = 0

    def point(self) -> None:
        self.points += 1
        self._at(self.points)

    def execute(self, *arguments: Any, **options: Any) -> Any:
        self.point()
        return self._connection.execute(*arguments, **options)

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        with self._connection.pipeline():
            yield
        self.point()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._connection.transaction():
            yield
            self.point()
        self.point()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def as_connection(self) -> Connection:
        return cast(Connection, self)


def dying_at(connection: Connection, point: int) -> Stepwise:
    """Raises Died at its point, with the connection cut."""

    def at(reached: int) -> None:
        if reached == point:
            connection.close()
            raise Died

    return Stepwise(connection, at)


class Pause:
    """Where one thread stops until another lets it go on."""

    def __init__(self, point: int) -> None:
        self._point = point
        self._reached, self._go = threading.Event(), threading.Event()

    def __call__(self, reached: int) -> None:
        if reached == self._point:
            self._reached.set()
            assert self._go.wait(PATIENCE_S), "nobody let it go on"

    @property
    def is_reached(self) -> bool:
        return self._reached.is_set()

    def go_on(self) -> None:
        self._go.set()
