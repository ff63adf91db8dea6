"""The filters, tests and functions that expressions have. Whatever is not here does not exist for them.

Left out on purpose: everything that reaches Python (attr, callable), that gives another value each time (random, now:
every attempt of a step must see the same input), that makes markup (safe, xmlattr), or whose cost a short argument can
blow up without bound (format, center, indent, wordwrap, slice, regular expressions).
"""

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from functools import wraps
from typing import Any

from jinja2 import pass_environment
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.filters import make_attrgetter
from jinja2.tests import TESTS as JINJA_TESTS

from builder.expressions import dates
from builder.expressions.budget import Counted, current
from builder.expressions.values import as_json, as_text, plain

Filter = Callable[..., Any]
MOST_PLACES = 15
EXACT = Context(prec=700)  # digits of the largest number that arithmetic here can make


def charged(function: Filter) -> Filter:
    """The filter, paying for the value that it walks through."""
    place = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def paying(*args: Any, **options: Any) -> Any:
        current().charge_value(args[place])
        return function(*args, **options)

    return paying


def counted(value: Any) -> Counted:
    """Put around what a `{% for %}` runs over."""
    return Counted(value)


def concat(values: Sequence[Any]) -> str:
    """The operator `~`."""
    texts = [as_text(value) for value in values]
    current().allow_characters(sum(map(len, texts)))
    return "".join(texts)


def bounded_join(pieces: Iterable[str]) -> str:
    """How Jinja puts the text of a block together (`{% set x %}...{% endset %}`)."""
    made: list[str] = []
    size = 0
    for piece in pieces:
        made.append(piece)
        size += len(piece)
        current().charge()
        current().allow_characters(size)
    return "".join(made)


def to_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        current().allow_items(len(value))
    return list(value)


@pass_environment
def join(environment: Any, value: Any, separator: str = "", attribute: str | None = None) -> str:
    items = list(value) if attribute is None else list(map(make_attrgetter(environment, attribute), value))
    texts = [as_text(item) for item in items]
    current().allow_characters(sum(map(len, texts)) + len(separator) * len(texts))
    return as_text(separator).join(texts)


def replace(value: Any, old: str, new: str, count: int = -1) -> str:
    text = as_text(value)
    found = text.count(old) if count < 0 else min(count, text.count(old))
    current().allow_characters(len(text) + found * max(0, len(new) - len(old)))
    return text.replace(old, new, count)


def split(value: Any, separator: str | None = None) -> list[str]:
    parts = as_text(value).split(separator)
    current().allow_items(len(parts))
    return parts


@pass_environment
def total(environment: Any, value: Any, attribute: str | int | None = None, start: float = 0) -> Any:
    """`sum`, of numbers only: lists and texts would be copied over and over."""
    items = value if attribute is None else map(make_attrgetter(environment, attribute), value)
    result: Any = start
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise TypeError(f"sum adds numbers, and one entry is {as_text(item)[:40]}")
        result += item
    return result


def rounded(value: Any, precision: int = 0, method: str = "common") -> Any:
    """Halves go away from zero, as people round; `method` may be 'ceil' or 'floor'. Whole where no places are asked
    for."""
    ways = {"common": ROUND_HALF_UP, "ceil": ROUND_CEILING, "floor": ROUND_FLOOR}
    if method not in ways:
        raise ValueError(f"round knows the methods {', '.join(ways)}, and not {method!r}")
    if abs(precision) > MOST_PLACES:
        raise ValueError(f"round takes at most {MOST_PLACES} places")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("round takes a number; turn a text into one with float")
    result = Decimal(repr(value)).quantize(Decimal(1).scaleb(-precision), ways[method], EXACT)
    return float(result) if precision > 0 else int(result)


def batch(value: Any, size: int, fill: Any = None) -> list[list[Any]]:
    """The list in pieces of `size`; the last is filled up with `fill`, if one is given."""
    current().allow_items(size)
    if size < 1:
        raise ValueError("batch needs a size of at least 1")
    items = list(value)
    pieces = [items[start : start + size] for start in range(0, len(items), size)]
    if pieces and fill is not None:
        pieces[-1] += [fill] * (size - len(pieces[-1]))
    return pieces


@pass_environment
def group_by(environment: Any, value: Any, attribute: str, default: Any = None) -> list[dict[str, Any]]:
    """[{"key": ..., "items": [...]}] in the order in which the keys first appear."""
    groups: dict[str, dict[str, Any]] = {}
    key_of = make_attrgetter(environment, attribute, default=default)
    for item in value:
        key = key_of(item)
        groups.setdefault(as_json(key), {"key": key, "items": []})["items"].append(item)
    return list(groups.values())


def merge(value: Mapping[str, Any], *others: Mapping[str, Any]) -> dict[str, Any]:
    """One object of several; the later wins."""
    merged = dict(value)
    for other in others:
        merged.update(other)
    return merged


def to_json(value: Any, indent: int | None = None) -> str:
    if indent is not None and indent not in range(9):
        raise ValueError("json takes an indent of at most 8")
    return as_json(value, indent=indent)


def from_json(value: str) -> Any:
    try:
        return plain(json.loads(value), current())
    except RecursionError as problem:
        raise ValueError("the JSON text is nested too deeply") from problem


def keys(value: Mapping[str, Any]) -> list[str]:
    return list(value.keys())


def values(value: Mapping[str, Any]) -> list[Any]:
    return list(value.values())


def escape(value: Any) -> str:
    """For HTML: & < > and quotes."""
    return html.escape(as_text(value))


def numbers_up_to(*bounds: int) -> list[int]:
    """The function `range`."""
    numbers = range(*bounds)
    most = current().limits.range
    if len(numbers) > most:
        raise ValueError(f"range makes at most {most} numbers")
    return list(numbers)


FROM_JINJA = (
    "abs capitalize count dictsort first float int items last length lower map max min reject rejectattr reverse "
    "select selectattr sort title trim truncate unique upper urlencode wordcount"
)
OWN: Mapping[str, Filter] = {
    "batch": batch,
    "date": dates.date,
    "escape": escape,
    "from_json": from_json,
    "groupby": group_by,
    "join": join,
    "json": to_json,
    "keys": keys,
    "list": to_list,
    "merge": merge,
    "replace": replace,
    "round": rounded,
    "seconds_until": dates.seconds_until,
    "shift": dates.shift,
    "split": split,
    "string": as_text,
    "sum": total,
    "tojson": to_json,
    "values": values,
}
FILTERS: Mapping[str, Filter] = {
    "default": JINJA_FILTERS["default"],  # the only one that takes what is not there, so nothing is counted
    "d": JINJA_FILTERS["d"],
    **{name: charged(JINJA_FILTERS[name]) for name in FROM_JINJA.split()},
    **{name: charged(function) for name, function in OWN.items()},
}
INNER_FILTERS: Mapping[str, Filter] = {" counted": counted, " concat": concat}  # a space: nobody can write these names


def starting_with(value: Any, start: str) -> bool:
    return as_text(value).startswith(start)


def ending_with(value: Any, end: str) -> bool:
    return as_text(value).endswith(end)


TESTS_FROM_JINJA = (
    "boolean defined divisibleby eq equalto even false float ge greaterthan gt in integer iterable le lessthan lower "
    "lt mapping ne none number odd sequence string true undefined upper == != < <= > >="
)
JINJAS_OWN: Mapping[str, Any] = JINJA_TESTS
TESTS: Mapping[str, Filter] = {
    **{name: JINJAS_OWN[name] for name in TESTS_FROM_JINJA.split()},
    "startingwith": starting_with,
    "endingwith": ending_with,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {"range": numbers_up_to}
