"""docs/expressions.md says what there is."""

import re
from pathlib import Path

from builder.expressions import ExpressionError
from builder.expressions.budget import DEFAULT_LIMITS, INTEGER_BITS
from builder.expressions.filters import FILTERS, FUNCTIONS, TESTS
from builder.expressions.parse import LONGEST_TEXT

PAGE = (Path(__file__).parents[3] / "docs" / "expressions.md").read_text(encoding="utf-8")


def named_in(title: str) -> set[str]:
    """Words in code marks in a part's first paragraph, without arguments."""
    part = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0].split("\n\n")[0]
    return {re.split(r"\W", word)[0] for word in re.findall(r"`([^`]+)`", part)}


def test_the_page_lists_every_filter_test_and_function() -> None:
    assert named_in("Filters") == set(FILTERS)
    assert named_in("Tests") == {name for name in TESTS if name.isalpha()}
    assert named_in("Functions") == set(FUNCTIONS)


def test_the_page_tells_the_bounds_that_hold() -> None:
    for bound in (
        DEFAULT_LIMITS.operations,
        DEFAULT_LIMITS.characters,
        DEFAULT_LIMITS.items,
        DEFAULT_LIMITS.range,
        INTEGER_BITS,
        LONGEST_TEXT,
    ):
        assert f"{bound:,}" in PAGE
    assert f"{DEFAULT_LIMITS.seconds:g} seconds" in PAGE
    assert f"{DEFAULT_LIMITS.nesting} levels" in PAGE


def test_the_page_tells_every_code() -> None:
    errors: list[type[ExpressionError]] = [ExpressionError, *ExpressionError.__subclasses__()]
    assert {error.code for error in errors} == set(re.findall(r"`(expression_\w+)` \|", PAGE))
