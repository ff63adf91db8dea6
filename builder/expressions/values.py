"""From what an evaluation makes to JSON, and from JSON to text."""

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from jinja2.runtime import Undefined

from builder.expressions.budget import Budget, current

SCALARS = (str, int, float, bool, type(None))


class NotJson(Exception):
    """A value that is no JSON: a function, a loop, a number that is not finite."""


def plain(value: Any, budget: Budget) -> Any:
    """`value` as plain JSON: filters' iterators and tuples become lists. Raises where something undefined is inside."""
    return Plainer(budget).value(value, depth=0)


class Plainer:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.values = 0
        self.characters = 0

    def value(self, value: Any, *, depth: int) -> Any:
        self.values += 1
        self.budget.allow_items(self.values)
        kind = type(value)
        if kind is str:
            self.characters += len(value)
            self.budget.allow_characters(self.characters)
            return value
        if kind in SCALARS:
            return finite(value)
        if depth >= self.budget.limits.nesting:
            raise NotJson(f"its result is nested deeper than {self.budget.limits.nesting}")
        return self.inside(value, depth=depth + 1)

    def inside(self, value: Any, *, depth: int) -> Any:
        if isinstance(value, Undefined):
            str(value)  # raises its own error, which names what is missing
        self.budget.charge()
        if isinstance(value, Mapping):
            return {self.name(key): self.value(item, depth=depth) for key, item in value.items()}
        if isinstance(value, list | tuple | range | Iterator):
            return [self.value(item, depth=depth) for item in value]
        raise NotJson(f"its result holds a {type(value).__name__}, which is no JSON value")

    def name(self, key: Any) -> str:
        if isinstance(key, str):
            return str(self.value(key, depth=0))
        raise NotJson(f"its result has the field name {key!r}, which is no text")


def finite(value: Any) -> Any:
    if type(value) is float and not isfinite(value):
        raise NotJson(f"its result holds {value}, which is no JSON number")
    return value


def as_json(value: Any, *, indent: int | None = None) -> str:
    """Compact JSON text, as `| json` and mixed text give it. Half characters are escaped, all others stand as they
    are."""
    separators = None if indent else (",", ":")
    text = json.dumps(plain(value, current()), ensure_ascii=False, indent=indent, separators=separators)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def as_text(value: Any) -> str:
    """How a value reads inside a text: texts as they stand, everything else as JSON (null, true, 1.5, {"a": 1})."""
    if type(value) is str:
        return value
    return as_json(value)
