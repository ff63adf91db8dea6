"""Checks that a value is JSON that every part of Pawl can keep: database, browser and child process."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

INTEGERS = range(-(2**63), 2**64)  # what a 64-bit integer can hold, signed or not


@dataclass
class Budget:
    """What is left of the document's size, in characters; a value of any other type counts as one."""

    characters: int

    def spend(self, amount: int) -> bool:
        """False once the budget is used up."""
        self.characters -= amount
        return self.characters >= 0


def json_faults(value: Any, at: str, *, nesting: int, budget: Budget) -> Iterator[tuple[str, str]]:
    """(path, message) of everything in `value` that is not plain JSON. Stops at values deeper than `nesting`."""
    if not budget.spend(len(value) + 1 if isinstance(value, str) else 1):
        return  # the caller tells that the document is too large
    if isinstance(value, dict | list):
        if nesting <= 0:
            yield at, "is nested too deeply; make it flatter"
        elif isinstance(value, dict):
            yield from object_faults(value, at, nesting=nesting, budget=budget)
        else:
            for index, item in enumerate(value):
                yield from json_faults(item, f"{at}[{index}]", nesting=nesting - 1, budget=budget)
    elif fault := scalar_fault(value):
        yield at, fault


def object_faults(value: dict[Any, Any], at: str, *, nesting: int, budget: Budget) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if type(key) is not str:
            yield at, f"has the name {key!r}, which is no text"
            continue
        if fault := text_fault(key):
            yield at, f"has a name that {fault}"
        budget.spend(len(key))
        yield from json_faults(item, below(at, key), nesting=nesting - 1, budget=budget)


def scalar_fault(value: Any) -> str | None:
    if isinstance(value, str):
        return text_fault(value)
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if value in INTEGERS else "is an integer of more than 64 bits; write it as text"
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a finite number; JSON has no NaN and no infinity"
    return f"is a {type(value).__name__}, which JSON does not have"


def text_fault(text: str) -> str | None:
    """PostgreSQL and browsers cannot keep NUL and half characters in a document."""
    if "\0" in text:
        return "holds a NUL character; remove it"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half of a character (a lone surrogate); remove it"
    return None


def below(at: str, key: str) -> str:
    """The path of a field: `config.url`, and `config["a b"]` where the name is no plain word."""
    return f"{at}.{key}" if key.isidentifier() else f'{at}["{key}"]'
