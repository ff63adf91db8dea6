"""What expressions name, read from their text alone."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builder.expressions.config import expressions_in, literal_tree
from builder.expressions.errors import ExpressionProblem
from builder.expressions.parse import Compiled, compiled, holds_expression, step_keys

CALLBACKS = ("run", "callbacks")


@dataclass(frozen=True)
class Use:
    """An expression in a config, and where it stands."""

    field: str
    expression: Compiled | ExpressionProblem
    text: str


def uses(config: Mapping[str, Any], literal_fields: Collection[str] = ()) -> Iterator[Use]:
    for field, text in expressions_in(config, literal_tree(literal_fields)):
        yield Use(field, compiled(text), text)


def references(config: Mapping[str, Any], literal_fields: Collection[str] = ()) -> frozenset[str]:
    """Keys of the steps whose output the config reads. Those that only show at run time (`steps[item.key]`) are not
    among them: the checks refuse such expressions. Texts that cannot be read name nothing."""
    found = [use.expression for use in uses(config, literal_fields)]
    return frozenset().union(*(step_keys(each.paths) for each in found if isinstance(each, Compiled)))


def callbacks(config: Mapping[str, Any], literal_fields: Collection[str] = ()) -> frozenset[str]:
    """Keys of the steps whose link the config sends out: `run.callbacks.<key>`."""
    found = [use.expression for use in uses(config, literal_fields)]
    paths = [path for each in found if isinstance(each, Compiled) for path in each.paths]
    return frozenset(str(path[2]) for path in paths if len(path) > 2 and path[:2] == CALLBACKS)


def check_syntax(text: str) -> ExpressionProblem | None:
    """What is wrong with a text, as far as it shows without a scope."""
    if not holds_expression(text):
        return None
    found = compiled(text)
    return found if isinstance(found, ExpressionProblem) else None
