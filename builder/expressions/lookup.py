"""How `a.b` and `a[b]` read a value: keys of objects and places of lists, and nothing else.

`steps.x.output.items` is the field *items*, never Python's method; no attribute of any Python object can be reached.
What is not there is a `Missing`: it may be asked for (`is defined`, `| default`), and anything else that is done with
it raises.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

from jinja2.exceptions import UndefinedError
from jinja2.runtime import LoopContext, StrictUndefined, Undefined
from jinja2.utils import missing

LOOP_FIELDS = frozenset(
    {"depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem", "revindex", "revindex0"}
)
NAMES_SHOWN = 20
NAME_LENGTH_SHOWN = 60

Part = str | int


class MissingName(UndefinedError):
    """`owner` has no `name`. `owner` is jinja's `missing` where a name of the scope itself was not found."""

    def __init__(self, owner: Any, name: Any, message: str | None = None) -> None:
        super().__init__(message)
        self.owner = owner
        self.name = name


class Missing(StrictUndefined):
    """What a failed look-up gives. A look-up in it gives itself, so that the error names what was missing first."""

    __slots__ = ()

    def __init__(
        self, hint: str | None = None, obj: Any = missing, name: Any = None, exc: type[Exception] = UndefinedError
    ) -> None:
        super().__init__(hint, obj, name)
        raiser: Any = partial(MissingName, obj, name)  # called with the message
        self._undefined_exception = raiser


def look_up(value: Any, part: Any) -> Any:
    if isinstance(value, Mapping):
        return value[part] if part in value else Missing(obj=value, name=part)
    if isinstance(value, Undefined):
        return value
    if type(part) is int and isinstance(value, Sequence):
        return value[part] if -len(value) <= part < len(value) else Missing(obj=value, name=part)
    if isinstance(value, LoopContext) and part in LOOP_FIELDS:
        return getattr(value, part)
    return part if isinstance(part, Undefined) else Missing(obj=value, name=part)


def follow(scope: Mapping[str, Any], path: Sequence[Part]) -> Any:
    value = look_up(scope, path[0]) if path[0] in scope else Missing(name=path[0])
    for part in path[1:]:
        value = look_up(value, part)
    return value


def show_path(path: Sequence[Part]) -> str:
    shown = str(path[0])
    for part in path[1:]:
        shown += f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]".replace("'", '"')
    return shown


def tell_missing(
    problem: MissingName, scope: Mapping[str, Any], paths: Sequence[Sequence[Part]]
) -> tuple[str, list[str]]:
    """The message, and what could have been named. `paths` are those that the expression's text spells out."""
    if problem.name is None:
        return str(problem.message), []
    if problem.owner is missing:
        names = sorted(scope)
        return f'there is no "{problem.name}" here; known are: {", ".join(names)}{guess(problem.name, names)}', names
    owner = where(problem, scope, paths)
    if isinstance(problem.owner, Mapping):
        names = [str(name) for name in problem.owner]
        has = f"it has: {listed(names)}" if names else "it is empty"
        return f"{owner} has no {quoted(problem.name)}; {has}{guess(problem.name, names)}", names[:NAMES_SHOWN]
    return f"{owner} {tell_owner(problem.owner, problem.name)}", []


def tell_owner(owner: Any, name: Any) -> str:
    if isinstance(owner, list | tuple):
        if isinstance(name, int):
            return f"has {len(owner)} entries, and no [{name}]; the first is [0]"
        return f"is a list of {len(owner)} and has no {quoted(name)}; name an entry ([0]) or use a filter such as map"
    if owner is None:
        return f"is null and has no {quoted(name)}"
    if isinstance(owner, str):
        return f"is a text and has no {quoted(name)}; use a filter, such as upper, length or from_json"
    shown = {bool: "true or false", int: "a number", float: "a number"}.get(type(owner), "a part of the language")
    return f"is {shown} and has no {quoted(name)}"


def where(problem: MissingName, scope: Mapping[str, Any], paths: Sequence[Sequence[Part]]) -> str:
    for path in paths:
        for length in range(1, len(path)):
            owner = follow(scope, path[:length])
            if owner is problem.owner and path[length] == problem.name:
                return show_path(path[:length])
    found = find(problem.owner, scope) if isinstance(problem.owner, Mapping | list) else None
    return show_path(found) if found else "the value"


def find(wanted: Any, scope: Mapping[str, Any], *, limit: int = 20_000) -> tuple[Part, ...] | None:
    """Where in the scope this very object stands. Looks at `limit` values at most, those near the top first."""
    queue: list[tuple[tuple[Part, ...], Any]] = [((name,), value) for name, value in scope.items()]
    for path, value in queue:
        if value is wanted:
            return path
        if len(queue) < limit and isinstance(value, Mapping):
            queue.extend(((*path, str(key)), item) for key, item in value.items())
        elif len(queue) < limit and isinstance(value, list):
            queue.extend(((*path, place), item) for place, item in enumerate(value))
    return None


def quoted(name: Any) -> str:
    return f"[{name}]" if isinstance(name, int) else f'"{str(name)[:NAME_LENGTH_SHOWN]}"'


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(name[:NAME_LENGTH_SHOWN] for name in names[:NAMES_SHOWN])
    return f"{shown} and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else shown


def guess(name: Any, names: Sequence[str]) -> str:
    near = get_close_matches(str(name)[:NAME_LENGTH_SHOWN], names[:1000], n=1)
    return f'. Did you mean "{near[0]}"?' if near else ""
