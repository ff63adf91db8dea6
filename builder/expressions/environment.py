"""Jinja2's sandbox, narrowed: keys before everything, bounded operators, our own list of filters, strict undefined."""

from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from builder.expressions.budget import INTEGER_BITS, BudgetExceeded, current
from builder.expressions.filters import FILTERS, FUNCTIONS, INNER_FILTERS, TESTS, bounded_join
from builder.expressions.lookup import Missing, look_up
from builder.expressions.values import as_text

NO_COMMENT = ("{\0#", "#\0}")  # `{#` is plain text: it stands in style sheets


@pass_context
def finalize(context: Context, value: Any) -> str:
    """What `{{ ... }}` inside a text becomes. Taking the context keeps Jinja from evaluating constants while it
    compiles."""
    return as_text(value)


class Environment(ImmutableSandboxedEnvironment):
    concat = staticmethod(bounded_join)
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            undefined=Missing,
            finalize=finalize,
            optimized=False,  # constants too are evaluated inside the bounds
            autoescape=False,
            keep_trailing_newline=True,
            comment_start_string=NO_COMMENT[0],
            comment_end_string=NO_COMMENT[1],
            cache_size=0,
        )
        self.filters = {**FILTERS, **INNER_FILTERS}
        self.tests = dict(TESTS)
        self.globals = dict(FUNCTIONS)

    def getattr(self, obj: Any, attribute: str) -> Any:
        return look_up(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return look_up(obj, argument)

    def call_binop(self, context: Context, operator: str, *operands: Any) -> Any:
        for operand in operands:
            if isinstance(operand, Undefined):
                str(operand)  # raises its own error, which names what is missing
        return OPERATORS[operator](*operands)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def add(left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        current().allow_characters(len(left) + len(right))
    elif isinstance(left, list) and isinstance(right, list):
        current().allow_items(len(left) + len(right))
    elif isinstance(left, str) or isinstance(right, str):
        raise TypeError("+ adds numbers; join texts and other values with ~")
    return left + right


def multiply(left: Any, right: Any) -> Any:
    if is_number(left) and is_number(right):
        if isinstance(left, int) and isinstance(right, int):
            allow_bits(left.bit_length() + right.bit_length())
        return left * right
    sized, times = (right, left) if isinstance(left, int) else (left, right)
    if isinstance(sized, str):
        current().allow_characters(len(sized) * max(0, times))
    elif isinstance(sized, list):
        current().allow_items(len(sized) * max(0, times))
    return sized * times


def power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        allow_bits(left.bit_length() * max(0, right))
    result = left**right
    if isinstance(result, complex):
        raise ValueError(f"{left} ** {right} is no real number")  # noqa: TRY004 - the types were right
    return result


def remainder(left: Any, right: Any) -> Any:
    if not (is_number(left) and is_number(right)):
        raise TypeError("% gives the remainder of numbers; put texts together with ~")
    return left % right


def allow_bits(bits: int) -> None:
    if bits > INTEGER_BITS:
        raise BudgetExceeded(f"it makes an integer of more than {INTEGER_BITS} bits")


OPERATORS = {"+": add, "*": multiply, "**": power, "%": remainder}
ENVIRONMENT = Environment()
