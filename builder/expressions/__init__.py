"""Expressions: `{{ steps.fetch.output.total }}` in any text of a config.

A text that is one whole expression keeps the type of its value ('{{ x }}' with x = "123" stays the text "123"); in any
other text values are put in as they read: texts as they stand, everything else as JSON.
"""

from builder.expressions.budget import DEFAULT_LIMITS, Limits
from builder.expressions.errors import (
    ExpressionError,
    ExpressionLimitExceeded,
    ExpressionProblem,
    ExpressionSyntaxError,
    ExpressionUndefined,
)
from builder.expressions.evaluate import evaluate, resolve
from builder.expressions.parse import holds_expression
from builder.expressions.references import CALLBACKS, Use, callbacks, check_syntax, references, uses
from builder.expressions.schema import literal_fields

__all__ = [
    "CALLBACKS",
    "DEFAULT_LIMITS",
    "ExpressionError",
    "ExpressionLimitExceeded",
    "ExpressionProblem",
    "ExpressionSyntaxError",
    "ExpressionUndefined",
    "Limits",
    "Use",
    "callbacks",
    "check_syntax",
    "evaluate",
    "holds_expression",
    "literal_fields",
    "references",
    "resolve",
    "uses",
]
