"""Limits that the sweeper keeps and those that the worker keeps, each of them looked at again under the run's lock."""

import itertools
import json
import time
from contextlib import closing
from typing import Any, cast
from uuid import UUID

import pytest

from builder.graph.model import Policy, Retry
from kit.clock import monotonic_s
from runs.attempt import job_for
from runs.core.outcomes import Error, Failed, Fans, Succeeded, Waits
from runs.engine import sweep as engine
from runs.engine.control import pause_run, unpause_run
from runs.engine.fork import Forking, fork_run
from runs.engine.resume import resume_run
from runs.engine.scope import Values
from runs.link import Link
from runs.models import Attempt, Wait
from runs.runner.messages import Job
from runs.store import fleet
from runs.store.read import Connection
from tests.engine import World
from tests.hands import Hand
from tests.staging import After, begun

pytestmark = pytest.mark.django_db(transaction=True)

FLAKY = Failed(Error("flaky", "It broke.", retryable=True))
PASSED = "UPDATE runs_steprun SET {} = statement_timestamp() - interval '1 second' WHERE run_id = %s AND {} IS NOT NULL"


def pass_limit(world: World, run_id: UUID, name: str) -> None:
    world.connection.execute(PASSED.format(name, name), (run_id,))


def code_of(world: World, run_id: UUID, path: str) -> str:
    return str(json.loads(world.steps(run_id)[path].error or "{}").get("code"))


@pytest.fixture
def hand(hands: list[Hand]) -> Hand:
    return hands[0]


# ---------------------------------------------------------------------- waiting for a worker


def test_a_step_that_no_worker_takes_in_time_fails(world: World) -> None:
    run_id = begun(world, policies={"A": Policy(queue="nobody_serves_it", queue_limit_s=60)})
    assert engine.fail_over_limit(world.connection) == 0
    pass_limit(world, run_id, "queue_until")
    assert engine.fail_over_limit(world.connection) == 1
    assert code_of(world, run_id, "A") == "queue_wait_limit"
    assert world.run(run_id).status == "failed"
    resume(world, run_id)
    assert engine.fail_over_limit(world.connection) == 0  # it waits anew
    assert world.statuses(run_id)["A"] == "ready"


def test_a_step_that_a_worker_takes_at_the_last_moment_is_not_failed_under_it(world: World, hand: Hand) -> None:
    run_id = begun(world, policies={"A": Policy(queue_limit_s=60)})
    pass_limit(world, run_id, "queue_until")
    with closing(Link(name="sweeper")) as sweeper:
        meddled = cast(Connection, After(sweeper.connection, fleet.QUEUE_OVER, lambda: taken.append(hand.take())))
        taken: list[Any] = []
        assert engine.fail_over_limit(meddled) == 0
    assert world.statuses(run_id)["A"] == "running"
    hand.finish(taken[0], Succeeded(1))
    assert world.statuses(run_id)["A"] == "succeeded"


def test_a_pause_does_not_count_as_waiting_for_a_worker(world: World) -> None:
    run_id = begun(world, policies={"A": Policy(queue_limit_s=60)})
    with world.connection.transaction():
        pause_run(world.connection, world.command(run_id, "pause"))
    pass_limit(world, run_id, "queue_until")
    assert engine.fail_over_limit(world.connection) == 0
    with world.connection.transaction():
        unpause_run(world.connection, world.command(run_id, "unpause"))
    assert engine.fail_over_limit(world.connection) == 0
    assert world.statuses(run_id)["A"] == "ready"


# ---------------------------------------------------------------------- all attempts together


def test_the_limit_counts_from_the_first_start_over_all_attempts(world: World, hand: Hand) -> None:
    policy = Policy(retry=Retry(9, first_delay_s=0), total_limit_s=60)
    run_id = begun(world, policies={"A": policy})
    assert world.steps(run_id)["A"].total_until is None
    held = hand.take()
    until = world.steps(run_id)["A"].total_until
    assert until is not None
    hand.finish(held, FLAKY)
    engine.due(world.connection)
    assert world.steps(run_id)["A"].total_until == until
    hand.finish(hand.take(), FLAKY)
    assert world.steps(run_id)["A"].total_until == until
    pass_limit(world, run_id, "total_until")
    assert engine.fail_over_limit(world.connection) == 1
    assert code_of(world, run_id, "A") == "total_limit"
    resume(world, run_id)
    assert world.steps(run_id)["A"].total_until is None
    hand.take()
    assert world.steps(run_id)["A"].total_until not in (None, until)


def test_the_limit_of_a_step_that_is_opened_and_started_in_one_commit_counts_from_there(
    world: World, hand: Hand
) -> None:
    run_id = begun(world, "S > E[A]", policies={"A": Policy(total_limit_s=60)})
    held = hand.finish(hand.take(), Fans([1], 1, "continue"), wish=hand.wish()).next
    assert held is not None
    assert world.steps(run_id)["E[0].A"].total_until is not None


@pytest.mark.parametrize("kind", ["approval", "callback"])
def test_the_limit_ends_an_open_question(world: World, hand: Hand, kind: str) -> None:
    run_id = begun(world, policies={"A": Policy(total_limit_s=60)})
    hand.finish(hand.take(), Waits(kind, None, {}))
    pass_limit(world, run_id, "total_until")
    engine.fail_over_limit(world.connection)
    assert world.statuses(run_id)["A"] == "failed"
    assert Wait.objects.get(run_id=run_id).status == "expired"


def test_the_limit_of_a_map_stops_what_is_open_of_it(world: World, hand: Hand) -> None:
    run_id = begun(world, "S > E[A] > B", policies={"E": Policy(total_limit_s=60)})
    hand.finish(hand.take(), Fans([1, 2, 3], 2, "continue"))
    late = hand.take()
    pass_limit(world, run_id, "total_until")
    engine.fail_over_limit(world.connection)
    assert hand.finish(late, Succeeded(1)).result == "fenced_out"
    assert world.run(run_id).status == "failed"


def test_a_map_that_goes_on_in_a_fork_has_its_limits_there(world: World, hand: Hand) -> None:
    run_id = begun(world, "S > E[A] > B", policies={"E": Policy(total_limit_s=60, queue_limit_s=50)})
    hand.finish(hand.take(), Fans([1, 2], 1, "continue"))
    for _ in range(3):
        hand.finish(hand.take(), Succeeded(1))
    with world.connection.transaction():
        wanted = world.command(run_id, "fork")
        done = fork_run(world.connection, wanted, Forking("E[1].A"), then=lambda told: None)
    other = UUID(done.result["run"])
    container = world.steps(other)["E"]
    assert (container.status, container.total_limit_s, container.queue_limit_s) == ("waiting", 60, 50)
    pass_limit(world, other, "total_until")
    engine.fail_over_limit(world.connection)
    assert code_of(world, other, "E") == "total_limit"
    assert world.run(other).status == "failed"


def test_what_is_left_of_the_limit_bounds_the_attempt(world: World, hand: Hand) -> None:
    begun(world, policies={"A": Policy(limit_s=500, total_limit_s=60, idle_limit_s=5, skip_if="{{ run.input }}")})
    job = job_for(hand.connection, hand.take(), values=Values())
    assert isinstance(job, Job)
    assert job.limit_s == 500
    assert 55 < (job.total_left_s or 0) <= 60
    assert (job.idle_limit_s, job.skip_if) == (5, "{{ run.input }}")


def test_three_sweepers_fail_a_step_once(world: World) -> None:
    run_id = begun(world, policies={"A": Policy(queue_limit_s=60)})
    pass_limit(world, run_id, "queue_until")
    with closing(Link(name="other")) as other:
        meddled = cast(
            Connection, After(world.connection, fleet.QUEUE_OVER, lambda: engine.fail_over_limit(other.connection))
        )
        assert engine.fail_over_limit(meddled) == 0
    assert world.events(run_id).count(("step.failed", "A")) == 1


# ---------------------------------------------------------------------- a real worker


def test_a_step_is_left_out_before_its_settings_are_even_looked_at(world: World) -> None:
    policies = {"A": Policy(skip_if="{{ run.input.dry }}"), "B": Policy(skip_if="{{ steps.A.status == 'skipped' }}")}
    configs = {"A": {"value": "{{ run.input.nothing.there }}"}}
    version = world.draw("S > A > B > C", policies=policies, configs=configs)
    run_id = world.start(version, {"dry": True}).run_id
    world.work()
    assert world.statuses(run_id) == {"S": "succeeded", "A": "skipped", "B": "skipped", "C": "succeeded"}
    assert world.steps(run_id)["A"].reason == "skip_if"
    assert Attempt.objects.get(step_run_id=world.steps(run_id)["A"].id).outcome == "skipped"
    run_id = world.start(version, {"dry": False, "nothing": {"there": 1}}).run_id
    world.work()
    assert set(world.statuses(run_id).values()) == {"succeeded"}


@pytest.mark.parametrize(
    ("text", "code"), [("{{ run.input }}", "skip_if_not_boolean"), ("{{ run.input.x }}", "expression_undefined")]
)
def test_what_is_neither_true_nor_false_leaves_nothing_out_silently(world: World, text: str, code: str) -> None:
    run_id = world.start(world.draw("S > A", policies={"A": Policy(skip_if=text)}), {}).run_id
    world.work()
    assert code_of(world, run_id, "A") == code


def test_the_pauses_between_attempts_are_kept(world: World) -> None:
    policy = Policy(retry=Retry(5, first_delay_s=0.2, factor=2, jitter=0, on=["author_says_no"]), on_error="port")
    config = {"message": "No.", "code": "author_says_no"}
    run_id = world.start(world.draw("S > X > B, X !> C", policies={"X": policy}, configs={"X": config})).run_id
    deadline = monotonic_s() + 30
    while world.run(run_id).status == "running" and monotonic_s() < deadline:
        world.work()
        world.sweep()
        time.sleep(0.02)
    attempts = list(Attempt.objects.filter(step_run_id=world.steps(run_id)["X"].id).order_by("number"))
    assert len(attempts) == 5
    for number, (one, next_) in enumerate(itertools.pairwise(attempts)):
        assert one.finished_at is not None
        assert next_.started_at is not None
        assert (next_.started_at - one.finished_at).total_seconds() >= 0.2 * 2**number
    assert world.statuses(run_id) == {"S": "succeeded", "X": "failed", "B": "skipped", "C": "succeeded"}
    assert world.run(run_id).status == "succeeded"


def resume(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
