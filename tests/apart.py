"""Holds a rule: what works through something that somebody wrote (a schema, an expression, a draft) may take as long as
it takes, so it does so while no transaction is open, and nobody waits for a lock meanwhile.

Every such function notes where it was called from inside a transaction, in this thread, by Django's connection or by
one of the engine's own. tests/conftest.py then fails the test, also where somebody caught the error.
"""

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connections, transaction

from builder.expressions import evaluate, resolve
from builder.workflows.checking import problems_of
from runs.engine.check_input import check_input
from steps.schema_bounded import check_bounded

# What takes long, and what leads to it in some workflows only: the door is at fault, whatever the workflow.
WORKS_LONG: tuple[Callable[..., Any], ...] = (check_bounded, check_input, problems_of, evaluate, resolve)

_inside = threading.local()
broken: list[str] = []  # names of what was called in a transaction, since somebody cleared it


class InATransaction(AssertionError):
    """What was called may take long, and a transaction was open."""


def is_open() -> bool:
    """Whether this thread has a transaction open, that of a test itself left aside."""
    for connection in connections.all(initialized_only=True):
        if any(not getattr(block, "_from_testcase", False) for block in connection.atomic_blocks):
            return True
    return getattr(_inside, "count", 0) > 0


@contextmanager
def own_transaction() -> Iterator[None]:
    """A test's own, around what it tries: as if there were none."""
    block = transaction.atomic()
    block._from_testcase = True
    with block:
        yield


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*values: Any, **options: Any) -> Any:
        if is_open():
            broken.append(function.__qualname__)
            raise InATransaction(f"{function.__qualname__} was called in a transaction: look ahead of it instead")
        return function(*values, **options)

    return call


def _counted(real: Any) -> Any:
    @contextmanager
    def transaction(self: Any, *values: Any, **options: Any) -> Iterator[Any]:
        with real(self, *values, **options) as opened:
            _inside.count = getattr(_inside, "count", 0) + 1
            try:
                yield opened
            finally:
                _inside.count -= 1

    return transaction


@functools.cache
def watch() -> None:
    """Puts the watch before each function, wherever it was imported by name; for the rest of this process."""
    psycopg.Connection.transaction = _counted(psycopg.Connection.transaction)  # type: ignore[method-assign]
    for function in WORKS_LONG:
        watched = _watched(function)
        for module in [module for name, module in list(sys.modules.items()) if name != __name__]:
            for name in [name for name, value in list(vars(module).items()) if value is function]:
                setattr(module, name, watched)
