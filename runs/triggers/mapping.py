"""The input of a run that another one's end starts: a JSON value whose texts may be paths into that end. Pure.

Only plain paths (`{{ run.output.total }}`) are taken: they are looked up, not evaluated, so that no sweeper ever waits
for somebody's expression.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from builder.expressions import ExpressionProblem, holds_expression, resolve
from builder.expressions.parse import compiled
from kit.errors import BadInput

NAMES = ("id", "number", "status", "workflow", "input", "output", "error")
DEFAULT: Mapping[str, Any] = {
    "run": {name: f"{{{{ run.{name} }}}}" for name in ("id", "number", "status", "workflow")},
    "output": "{{ run.output }}",
    "error": "{{ run.error }}",
}


class BadMapping(BadInput):
    code = "bad_mapping"


def check_mapping(template: Any) -> None:
    """Raises BadMapping where a text is more than a path into the run that ended."""
    for text in _texts(template):
        found = compiled(text)
        if isinstance(found, ExpressionProblem):
            raise BadMapping(f"'{text[:100]}': {found.message}")
        path = found.path or ()
        if len(path) < 2 or path[0] != "run" or path[1] not in NAMES:
            names = ", ".join(f"run.{name}" for name in NAMES)
            raise BadMapping(f"'{text[:100]}' is no plain path. Write a whole one that begins with one of {names}.")


def wants(template: Any, name: str) -> bool:
    """Whether it takes `run.<name>`."""
    for text in _texts(template):
        found = compiled(text)
        if not isinstance(found, ExpressionProblem) and (found.path or ())[1:2] == (name,):
            return True
    return False


def mapped(template: Any, run: Mapping[str, Any]) -> Any:
    """Raises ExpressionUndefined where the run has no such value."""
    return resolve({"input": template}, {"run": run})["input"]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif holds_expression(value):
        yield value
