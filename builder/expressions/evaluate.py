"""Expressions in a config, replaced by their values."""

from collections.abc import Collection, Mapping
from typing import Any

from jinja2.exceptions import TemplateError
from jinja2.runtime import Undefined

from builder.expressions.budget import DEFAULT_LIMITS, Budget, BudgetExceeded, Limits, Spending
from builder.expressions.config import NONE, Literals, below, literal_tree
from builder.expressions.errors import (
    ExpressionError,
    ExpressionLimitExceeded,
    ExpressionProblem,
    ExpressionSyntaxError,
    ExpressionUndefined,
)
from builder.expressions.filters import FUNCTIONS, bounded_join
from builder.expressions.lookup import MissingName, follow, tell_missing
from builder.expressions.parse import RESULT, Compiled, compiled, holds_expression
from builder.expressions.values import NotJson, plain

Scope = Mapping[str, Any]
LONGEST_REASON = 300
BROKE = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError,
    AssertionError,  # Jinja's truncate
)  # fmt: skip


def resolve(
    config: Mapping[str, Any],
    scope: Scope,
    *,
    literal_fields: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, Any]:
    """`config` with every expression replaced by its value. Parts without expressions, and values that an expression
    takes whole out of the scope, are the very same objects: change nothing in the result.

    Raises ExpressionError, whose `field` says where.
    """
    with Spending(limits) as budget:
        resolved: dict[str, Any] = Resolver(scope, budget).object(config, literal_tree(literal_fields))
        return resolved


def evaluate(text: str, scope: Scope, *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The value of one text: of any type if it is one whole expression, else a text. Raises ExpressionError."""
    with Spending(limits) as budget:
        return Resolver(scope, budget).text(text)


class Resolver:
    def __init__(self, scope: Scope, budget: Budget) -> None:
        self.scope = scope
        self.budget = budget
        self.names = {**FUNCTIONS, **scope}

    def value(self, value: Any, literals: Literals) -> Any:
        if isinstance(value, str):
            return self.text(value) if "{" in value else value
        if isinstance(value, dict):
            return self.object(value, literals)
        return self.list(value, literals) if isinstance(value, list) else value

    def object(self, value: Mapping[str, Any], literals: Literals) -> Any:
        changed: dict[str, Any] | None = None
        for key, item in value.items():
            inner = below(literals, key) if literals else NONE
            if inner is True:
                continue
            try:
                made = self.value(item, inner)
            except ExpressionError as problem:
                raise problem.inside(key) from problem.__cause__
            if made is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = made
        return value if changed is None else changed

    def list(self, value: list[Any], literals: Literals) -> Any:
        inner = literals.get("[]", NONE)
        if inner is True:
            return value
        changed: list[Any] | None = None
        for place, item in enumerate(value):
            try:
                made = self.value(item, inner)
            except ExpressionError as problem:
                raise problem.inside(place) from problem.__cause__
            if made is not item:
                changed = list(value) if changed is None else changed
                changed[place] = made
        return value if changed is None else changed

    def text(self, text: str) -> Any:
        if not holds_expression(text):
            return text
        expression = compiled(text)
        if isinstance(expression, ExpressionProblem):
            raise ExpressionSyntaxError(expression.message)
        try:
            return self.run(expression)
        except BudgetExceeded as problem:
            raise ExpressionLimitExceeded(f"the expression was stopped: {problem}") from problem
        except MissingName as problem:
            message, available = tell_missing(problem, self.scope, expression.paths)
            raise ExpressionUndefined(message, available=available) from problem
        except MemoryError as problem:
            raise ExpressionLimitExceeded("the expression makes more than the memory can hold") from problem
        except NotJson as problem:
            raise ExpressionError(str(problem)) from problem
        except BROKE as problem:
            raise ExpressionError(f"the expression failed: {tell(problem)}") from problem

    def run(self, expression: Compiled) -> Any:
        if expression.path is not None:
            found = follow(self.scope, expression.path)
            if isinstance(found, Undefined):
                str(found)  # raises
            return found
        template = expression.template
        context = template.new_context(self.names, shared=True)
        text = bounded_join(template.root_render_func(context))
        return plain(context.vars[RESULT], self.budget) if expression.whole else text


def tell(problem: BaseException) -> str:
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if isinstance(problem, OverflowError):
        return "a number becomes too large"
    return (str(problem) or type(problem).__name__)[:LONGEST_REASON]  # some quote the value that they could not take
