"""How an expression fails.

ExpressionError                expression_failed      it broke while it was evaluated: a wrong type, a division by zero
├── ExpressionSyntaxError      expression_syntax      it cannot be read, or uses something that expressions do not have
├── ExpressionUndefined        expression_undefined   it names something that is not there
└── ExpressionLimitExceeded    expression_limit       it takes too long, or makes too much
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kit.errors import Unprocessable


@dataclass(frozen=True)
class ExpressionProblem:
    """What is wrong with a text, before anything is evaluated."""

    message: str
    code: str = "expression_syntax"
    line: int = 1


class ExpressionError(Unprocessable):
    """`field` is the path in the config (`body.lines[0]`), `available` what could have been named instead."""

    code = "expression_failed"

    def __init__(self, message: str, *, field: str = "", available: Sequence[str] = ()) -> None:
        data: dict[str, Any] = {"field": field, "available": list(available)}
        super().__init__(f"{field}: {message}" if field else message, **data)
        self.reason = message  # without the field
        self.field = field
        self.available = tuple(available)

    def inside(self, part: str | int) -> "ExpressionError":
        """The same error, seen from one level further out."""
        own = f"[{part}]" if isinstance(part, int) else part
        joint = "." if self.field and not self.field.startswith("[") else ""
        return type(self)(self.reason, field=f"{own}{joint}{self.field}", available=self.available)


class ExpressionSyntaxError(ExpressionError):
    code = "expression_syntax"


class ExpressionUndefined(ExpressionError):
    code = "expression_undefined"


class ExpressionLimitExceeded(ExpressionError):
    code = "expression_limit"
