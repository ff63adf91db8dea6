"""Limits of an attempt that its worker keeps: a body that shows no sign of itself, and what is left of the total."""

from collections.abc import Iterator
from typing import Any

import pytest

from kit.clock import monotonic_s
from runs.core.outcomes import Skipped
from runs.runner.messages import Failed, Succeeded, TimedOut
from tests.runner import Bench, bench, is_alive

pytestmark = pytest.mark.crash

SLACK_S = 5.0  # of a machine that has more to do; a body that nobody ends goes on for a minute


@pytest.fixture
def runner() -> Iterator[Bench]:
    with bench() as made:
        yield made


@pytest.mark.parametrize("kind", ["sleep", "spin", "block_in_c"])
def test_a_body_that_shows_no_sign_of_itself_is_ended(runner: Bench, kind: str) -> None:
    began = monotonic_s()
    assert runner.run(kind, 60, idle_limit_s=0.5) == TimedOut(0.5, "idle_limit")
    assert monotonic_s() - began < 0.5 + 2 + 5 + SLACK_S
    assert not any(map(is_alive, runner.child.pids))


@pytest.mark.parametrize("sign", ["log", "progress", "checkpoint", "print_much"])
def test_every_sign_of_a_body_counts(runner: Bench, sign: str) -> None:
    changes: dict[str, Any] = {"log_limit_bytes": 1_000} if sign == "print_much" else {}
    outcome = runner.run("show_signs", {"by": sign, "times": 6, "every_s": 0.25}, idle_limit_s=0.8, **changes)
    assert isinstance(outcome, Succeeded), outcome


def test_what_is_left_of_the_total_limit_ends_the_attempt_before_its_own_limit(runner: Bench) -> None:
    began = monotonic_s()
    outcome = runner.run("sleep", 60, limit_s=30, total_limit_s=100, total_left_s=0.5)
    assert outcome == TimedOut(100, "total_limit")
    assert monotonic_s() - began < 8
    assert runner.run("sleep", 60, limit_s=0.4, total_limit_s=100, total_left_s=50) == TimedOut(0.4)
    assert runner.run("sleep", 60, total_limit_s=100, total_left_s=-3.0) == TimedOut(100, "total_limit")


def test_what_leaves_a_step_out_is_looked_at_first_and_within_its_time(runner: Bench) -> None:
    scope = {"run": {"id": "r", "number": 1, "input": {"yes": True}}, "steps": {}}
    assert runner.run("segfault", skip_if="{{ run.input.yes }}", scope=scope) == Skipped()
    assert isinstance(runner.run("echo", 1, skip_if="{{ not run.input.yes }}", scope=scope), Succeeded)
    bomb = "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}{{ true }}"
    outcome = runner.run("echo", 1, skip_if=bomb, scope=scope)
    assert isinstance(outcome, Failed)
    assert outcome.error.code in ("expression_limit", "expression_timeout")
