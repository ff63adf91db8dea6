"""What one evaluation may use.

The bound is cooperative and exact where it can be: every loop, every filter and every operator that makes something
larger is charged before it works, in units that depend on the data only, so that an expression that is allowed today is
allowed tomorrow. The clock is looked at with each charge. A single operation in C (comparing two huge values) is not
interrupted: the engine, which kills the evaluating process when its limit has passed, has the last word.
"""

from collections.abc import Iterator, Sized
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any


@dataclass(frozen=True)
class Limits:
    operations: int = 2_000_000  # items walked by loops and filters, plus a unit for every 100 characters of a text
    seconds: float = 5.0
    characters: int = 16_000_000  # of a text that is made, and of a result
    items: int = 1_000_000  # of a list that is made, and values in a result
    range: int = 10_000
    nesting: int = 64


DEFAULT_LIMITS = Limits()
CHARACTERS_PER_UNIT = 100
INTEGER_BITS = 1024


class BudgetExceeded(Exception):
    """Raised inside an evaluation; leaves it as ExpressionLimitExceeded."""


class Budget:
    __slots__ = ("ends_at", "left", "limits")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.operations
        self.ends_at = monotonic() + limits.seconds

    def charge(self, units: int = 1) -> None:
        self.left -= units
        if self.left < 0:
            raise BudgetExceeded(f"it works through more than {self.limits.operations} items; filter them earlier")
        if monotonic() > self.ends_at:
            raise BudgetExceeded(f"it takes longer than {self.limits.seconds:g} seconds")

    def charge_value(self, value: Any) -> None:
        """For an operation that walks through `value`."""
        if isinstance(value, str):
            self.charge(1 + len(value) // CHARACTERS_PER_UNIT)
        else:
            self.charge(1 + (len(value) if isinstance(value, Sized) else 0))

    def allow_characters(self, count: int) -> None:
        if count > self.limits.characters:
            raise BudgetExceeded(f"it makes a text of more than {self.limits.characters} characters")

    def allow_items(self, count: int) -> None:
        if count > self.limits.items:
            raise BudgetExceeded(f"it makes more than {self.limits.items} values")


class Counted:
    """What a loop runs over: each round is charged."""

    __slots__ = ("items",)

    def __init__(self, items: Any) -> None:
        self.items: Any = items if isinstance(items, Sized) else list(items)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        charge = current().charge
        for item in self.items:
            charge()
            yield item


_current: ContextVar[Budget] = ContextVar("budget")


def current() -> Budget:
    return _current.get()


class Spending:
    """Makes a fresh budget the current one: `with Spending(limits) as budget`."""

    __slots__ = ("budget", "token")

    def __init__(self, limits: Limits) -> None:
        self.budget = Budget(limits)

    def __enter__(self) -> Budget:
        self.token = _current.set(self.budget)
        return self.budget

    def __exit__(self, *_: object) -> None:
        _current.reset(self.token)
