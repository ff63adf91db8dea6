"""Expressions in the child: their values, their errors, their ends."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from runs.runner import execute
from runs.runner.messages import Failed, Succeeded
from tests import slow_expressions
from tests.runner import Bench, bench

SCOPE = {
    "run": {"id": "r", "number": 4, "input": {"name": "Ann", "n": 3}},
    "steps": {"fetch": {"output": {"rows": [1, 2], "odd": "\0\ud800"}}},
    "item": {"id": 9},
    "index": 2,
}
LOOP = "{% for a in range(9999) %}{% for b in range(9999) %}{{ a }}{% endfor %}{% endfor %}"


@pytest.fixture(scope="module")
def _shared() -> Iterator[Bench]:
    with bench(memory_limit_bytes=1024**3) as made:
        yield made


@pytest.fixture
def runner(_shared: Bench) -> Bench:
    return Bench(_shared.child)


def _failed(outcome: Any) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


def test_expressions_are_replaced_by_their_values_and_the_input_tells_them(runner: Bench) -> None:
    value = {
        "whole": "{{ steps.fetch.output.rows }}",
        "text": "Dear {{ run.input.name }}, {{ index }}",
        "odd": "{{ steps.fetch.output.odd }}",
        "plain": "no expression",
        "deep": [{"id": "{{ item.id + 1 }}"}],
    }
    outcome = runner.run("echo", value, scope=SCOPE)
    expected = {
        "whole": [1, 2], "text": "Dear Ann, 2", "odd": "\0\ud800", "plain": "no expression", "deep": [{"id": 10}],
    }  # fmt: skip
    assert outcome == Succeeded(expected, "out", {"value": expected})


def test_the_run_s_input_is_there_without_any_expression(runner: Bench) -> None:
    assert runner.run("run_input", scope=SCOPE) == Succeeded({"name": "Ann", "n": 3}, "out", {"value": None})


def test_a_name_that_is_not_there_fails_with_its_field_and_what_was_available(runner: Bench) -> None:
    error = _failed(runner.run("echo", {"a": ["{{ steps.fetched.output }}"]}, scope=SCOPE)).error
    assert (error.code, error.retryable) == ("expression_undefined", False)
    assert error.data["field"] == "value.a[0]"
    assert "fetch" in error.data["available"]


def test_a_failed_body_tells_the_input_that_it_had(runner: Bench) -> None:
    outcome = _failed(runner.run("failure", "{{ run.number }}", scope=SCOPE))
    assert outcome.input == {"value": 4}


def test_a_looping_expression_fails_and_is_not_tried_again(runner: Bench) -> None:
    began = time.monotonic()
    error = _failed(runner.run("echo", LOOP, scope=SCOPE)).error
    assert error.code in ("expression_limit", "expression_timeout")
    assert not error.retryable
    assert time.monotonic() - began < 6
    assert isinstance(runner.run("echo", 1), Succeeded)


@pytest.mark.parametrize("text", [slow_expressions.SPINS, slow_expressions.BLOCKS], ids=["Python", "C"])
def test_time_that_an_evaluation_uses_is_bounded_even_in_c(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAWL_EXTRA_STEPS", "tests.kinds,tests.slow_expressions")
    with bench() as runner:
        began = time.monotonic()
        error = _failed(runner.run("echo", text)).error
        assert error.code == "expression_timeout"
        assert not error.retryable
        assert time.monotonic() - began >= execute.EXPRESSION_LIMIT_S * 0.9
        assert isinstance(runner.run("echo", 1), Succeeded)


def test_the_clock_of_expressions_does_not_run_for_the_body(runner: Bench) -> None:
    outcome = runner.run("spin_for", "{{ 3 }}", scope=SCOPE)
    assert isinstance(outcome, Succeeded)
