"""Values at the edges, through whole runs: huge, deep, and with signs that databases and encodings do not like."""

import json
from typing import Any

import pytest

from builder.graph.model import Policy, Retry
from runs.core.resume import resume
from runs.engine.transact import begin
from runs.models import Attempt, Event, Run, StepRun
from runs.payloads import NotJson
from runs.selectors.runs import snapshot
from runs.selectors.steps import log_page, step_detail
from tests.engine import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("extra_kinds")]

ODD = ["\0", "a\0b", "\ud800", "\udfff\ud800", "\U0001f600", "\x7f\u2028\ufeff", "", "9007199254740993"]


def ran(world: World, kind: str, value: Any, *, policy: Policy | None = None, run_input: Any = None) -> StepRun:
    policies = {"A": policy} if policy else {}
    version = world.draw("S > A", kinds={"A": f"test_{kind}"}, configs={"A": {"value": value}}, policies=policies)
    run_id = world.start(version, run_input).run_id
    for _ in range(2):
        world.work()
        world.sweep()
    world.work()
    return StepRun.objects.get(run_id=run_id, path="A")


def error_of(step: StepRun) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(step.error or "{}")
    return found


def can_be_resumed(world: World, step: StepRun) -> bool:
    """The resume itself, thrown away."""
    with world.connection.transaction(force_rollback=True):
        return resume(begin(world.connection, step.run_id, actor="Ana")).again == ["A"]


def test_an_output_of_300_megabytes_is_refused_with_both_sizes_and_the_run_can_be_resumed(world: World) -> None:
    step = ran(world, "big_output", {"character": "x", "count": 300_000_000})
    assert (step.status, step.attempt) == ("failed", 1)
    assert error_of(step)["code"] == "output_too_large"
    assert error_of(step)["data"] == {"size_bytes": 300_000_002, "limit_bytes": 16 * 1024 * 1024}
    assert can_be_resumed(world, step)


@pytest.mark.parametrize(("levels", "is_kept"), [(200, True), (201, False), (2_000, False)])
def test_an_output_is_nested_as_deep_as_is_said_and_no_deeper(world: World, levels: int, is_kept: bool) -> None:
    step = ran(world, "nested", levels)
    if is_kept:
        assert step.status == "succeeded"
        assert json.loads(step.output or "") is not None
    else:
        assert (step.status, error_of(step)["code"]) == ("failed", "not_json")
        assert "deeper than 200 levels" in error_of(step)["message"]
        assert can_be_resumed(world, step)
    assert snapshot(Run.objects.get(id=step.run_id))["seq"] > 0


def test_an_input_that_is_too_deep_starts_nothing(world: World) -> None:
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(NotJson):
        world.start(world.draw("S > A", configs={"A": {"value": 1}}), deep)
    assert Run.objects.count() == 0


@pytest.mark.parametrize("odd", ODD)
def test_odd_signs_come_back_equal_wherever_a_body_puts_them(world: World, odd: str) -> None:
    again = Policy(retry=Retry(attempts=2, first_delay_s=0))
    step = ran(world, "odd_everywhere", "{{ run.input }}", policy=again, run_input=odd)
    assert step.status == "succeeded", step.error
    kept = {"kept": {odd: [odd]}, "partials": [[odd]], "at": {odd: odd}, "odd": odd}
    assert json.loads(step.output or "") == kept
    run = Run.objects.get(id=step.run_id)
    first = Attempt.objects.get(step_run_id=step.id, number=1)
    assert json.loads(first.error or "") == {"code": "odd", "message": f"it was {odd}", "data": {odd: odd}}
    shown = step_detail(run, step, output={})
    assert {each["kind"] for each in shown["checkpoints"]} == {"once", "partial", "cursor", "progress"}
    assert json.loads(json.dumps(shown["attempts"][0]["error"])) == shown["attempts"][0]["error"]
    retry = Event.objects.get(run_id=run.id, type="step.retry_wait")
    assert json.loads(retry.data)["error"]["message"] == f"it was {odd}"
    assert log_page(run, step, attempt=1, after=0)["text"].endswith("\n")
