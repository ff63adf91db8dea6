"""A condition that lost its braces is told before anything runs."""

from typing import Any

import pytest

from builder.validation import check
from steps.registry import all_specs
from steps.truth import WORDS
from tests.graphs import draw

KINDS = {"I": "branch", "L": "loop"}


def problems(drawing: str, **configs: Any) -> list[tuple[str, str | None]]:
    found = check(draw(drawing, kinds=KINDS, configs={"A": {"fields": {}}, **configs}), all_specs())
    return [(problem.code, problem.field) for problem in found]


def test_the_condition_of_a_branch_without_braces_is_an_error_that_shows_them() -> None:
    found = check(draw("S > I", kinds=KINDS, configs={"I": {"condition": " steps.S.output > 5 "}}), all_specs())
    assert [(problem.code, problem.field, problem.severity) for problem in found] == [
        ("condition_is_text", "condition", "error")
    ]
    assert found[0].message.endswith("Write it as an expression: {{ steps.S.output > 5 }}")


def test_so_is_that_of_a_loop() -> None:
    assert problems("S > L[A]", L={"most": 2, "until": "previous.done"}) == [("condition_is_text", "until")]
    assert problems("S > L[A]", L={"most": 2, "until": "{{ previous }}"}) == []
    assert problems("S > L[A]", L={"most": 2}) == []


@pytest.mark.parametrize(
    "condition", [*WORDS, " TRUE ", "{{ run.input.x }}", "{% if run.input %}yes{% endif %}", True, 0]
)
def test_what_a_run_can_read_is_no_problem(condition: Any) -> None:
    assert problems("S > I", I={"condition": condition}) == []
