"""Walks over a config: which texts are expressions, and where they stand."""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from builder.expressions.parse import holds_expression

Literals = Mapping[str, Any]  # a name ('[]' for any entry of a list, '*' for any field) -> Literals, or True: all below
NONE: Literals = {}


def literal_tree(fields: Collection[str]) -> Literals:
    """Paths such as `code`, `cases[].label`, `files.*` as a tree to walk down along."""
    return tree_of(frozenset(fields)) if fields else NONE


@lru_cache(maxsize=512)
def tree_of(fields: frozenset[str]) -> Literals:
    root: dict[str, Any] = {}
    for field in sorted(fields):
        parts = field.replace("[]", ".[]").split(".")
        place = root
        for part in parts[:-1]:
            place = place.setdefault(part, {})
            if place is True:  # a field above is literal already
                break
        else:
            place[parts[-1]] = True
    return root


def below(literals: Literals, key: str) -> Any:
    return literals.get(key) or literals.get("*", NONE)


def expressions_in(value: Any, literals: Literals, at: str = "") -> Iterator[tuple[str, str]]:
    """(field, text) of every text that holds an expression, literal ones left out."""
    if isinstance(value, str):
        if holds_expression(value):
            yield at, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            inner = below(literals, key)
            if inner is not True:
                yield from expressions_in(item, inner, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list):
        inner = literals.get("[]", NONE)
        if inner is not True:
            for place, item in enumerate(value):
                yield from expressions_in(item, inner, f"{at}[{place}]")
