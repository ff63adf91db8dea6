"""What a body keeps while it runs, what the next attempt finds of it, and what a person sees of an attempt that never
answered.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from builder.graph.model import Policy, Retry
from runs.engine.checkpoint import keep_checkpoint
from runs.link import Link
from runs.models import Attempt, Checkpoint, Event, Run, StepRun
from runs.selectors.steps import step_detail
from tests.engine import World
from tests.hands import Hand
from tests.staging import activity, begun, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("extra_kinds")]

AGAIN = Policy(retry=Retry(attempts=2, first_delay_s=0))


def ran(world: World, kind: str, config: Any, *, policy: Policy = AGAIN, run_input: Any = None) -> StepRun:
    """A step of the test kind `kind`, after whatever attempts it takes."""
    version = world.draw("S > A", kinds={"A": f"test_{kind}"}, configs={"A": config}, policies={"A": policy})
    run_id = world.start(version, run_input).run_id
    for _ in range(3):
        world.work()
        world.sweep()
    world.work()
    return StepRun.objects.get(run_id=run_id, path="A")


def attempts(step: StepRun) -> list[Attempt]:
    return list(Attempt.objects.filter(step_run_id=step.id).order_by("number"))


def kept(step: StepRun, kind: str) -> list[tuple[str, Any]]:
    rows = Checkpoint.objects.filter(step_run_id=step.id, kind=kind).order_by("number")
    return [(row.key, json.loads(row.value)) for row in rows]


# ---------------------------------------------------------------------- cursor, previous, set up


@pytest.mark.parametrize(("ends", "outcome"), [("fails", "failed"), ("is_killed", "lost"), ("sleeps", "timed_out")])
def test_the_next_attempt_goes_on_from_the_last_position_that_was_told(world: World, ends: str, outcome: str) -> None:
    policy = Policy(retry=Retry(attempts=2, first_delay_s=0), limit_s=1.0)
    step = ran(world, "walk", {"value": {"rows": 1000, "ends": ends}}, policy=policy)
    assert step.status == "succeeded", step.error
    assert json.loads(step.output or "") == {"began_at": 500, "before": [1, outcome, {"row": 500}]}
    assert kept(step, "cursor") == [("row", 1000)]


def test_an_older_position_never_replaces_a_newer_one(world: World, hands: list[Hand]) -> None:
    """A write whose connection broke may come to its turn after the next one."""
    begun(world)
    held = hands[0].take()
    keep_checkpoint(world.connection, held, kind="cursor", key="row", value=2, ordinal=2)
    keep_checkpoint(world.connection, held, kind="cursor", key="row", value=1, ordinal=1)
    assert kept(StepRun.objects.get(id=held.step_run_id), "cursor") == [("row", 2)]


def test_a_partial_that_is_asked_for_again_while_the_first_one_still_waits_is_kept_once(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world)
    held = hands[0].take()
    arguments = {"kind": "partial", "key": "1", "value": {"rows": 2}, "ordinal": 1}
    with Link(name="blocker").connection as blocker, ThreadPoolExecutor() as pool:
        blocker.execute("BEGIN")
        blocker.execute("SELECT FROM runs_steprun WHERE id = %s FOR UPDATE", (held.step_run_id,))
        waiting = [pool.submit(keep_checkpoint, hand.connection, held, **arguments) for hand in hands]
        wait_until(lambda: all(activity(world, hand)[1] == "Lock" for hand in hands))
        blocker.execute("COMMIT")
        for each in waiting:
            each.result()
    assert kept(world.steps(run_id)["A"], "partial") == [("1", {"rows": 2})]


def test_progress_is_one_row_however_often_it_is_told(world: World, hands: list[Hand]) -> None:
    begun(world)
    held = hands[0].take()
    for done in range(5):
        value = {"done": done, "total": 5, "text": ""}
        keep_checkpoint(world.connection, held, kind="progress", key="", value=value, ordinal=done)
    assert kept(StepRun.objects.get(id=held.step_run_id), "progress") == [("", {"done": 4, "total": 5, "text": ""})]


def test_what_a_kind_sets_up_is_set_up_on_each_attempt_and_checkpoints_last(world: World) -> None:
    step = ran(world, "with_resource", {})
    assert json.loads(step.output or "") == {"first": 1, "now": 2}


# ---------------------------------------------------------------------- attempts that never answered


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("kill_self", Policy()),
        ("spin_for", Policy(limit_s=0.3)),
    ],
)
def test_an_attempt_that_never_answered_shows_the_input_that_it_had_resolved(
    world: World, kind: str, policy: Policy
) -> None:
    step = ran(world, kind, {"value": "{{ run.input.seconds }}"}, policy=policy, run_input={"seconds": 60})
    shown = [json.loads(attempt.input or "null") for attempt in attempts(step)]
    assert shown == [{"value": 60}] * max(1, step.attempt)


def test_a_large_input_is_shown_with_its_attempt(world: World) -> None:
    step = ran(world, "kill_self", {"value": "{{ run.input }}"}, policy=Policy(), run_input="x" * 20_000)
    shown = step_detail(Run.objects.get(id=step.run_id), step, output={})["attempts"][0]["input"]
    assert shown["value"] == {"value": "x" * 20_000}


# ---------------------------------------------------------------------- events


def test_an_event_stays_small_where_its_error_is_large_and_the_attempt_has_the_whole(world: World) -> None:
    step = ran(world, "raises_at_length", {"value": 6_000})
    event = Event.objects.get(run_id=step.run_id, type="step.failed")
    assert len(event.data) <= 4096
    assert json.loads(event.data)["cut"] is True
    assert json.loads(event.data)["error"]["code"] == "body_raised"
    assert len(json.loads(attempts(step)[0].error or "")["data"]["traceback"]) > 5_000
    assert len(json.loads(step.error or "")["data"]["traceback"]) > 5_000
