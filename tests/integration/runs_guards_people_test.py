"""One guard, one interleaving: what people do, twice, late or at once; and what the outside sees."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import psycopg
import pytest

from builder.graph.model import Policy
from kit.errors import AppError
from runs.attempt import job_for
from runs.core.outcomes import Crashed, Error, Failed, Succeeded, Waits
from runs.engine.cancel import cancel_run
from runs.engine.commands import Commanded, GenerationChanged
from runs.engine.decide import decide_step
from runs.engine.resume import resume_run
from runs.engine.scope import Values
from runs.engine.wait import Answer, WaitClosed, answer_wait
from runs.link import Link
from runs.models import Wait
from tests.engine import World
from tests.hands import Hand
from tests.staging import begun

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))


def order(world: World, act: Callable[[], Commanded]) -> Commanded | AppError | psycopg.Error:
    try:
        with world.connection.transaction():
            return act()
    except (AppError, psycopg.Error) as problem:
        return problem


def test_a_double_click_does_it_once_and_gets_the_same_answer(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].finish(hands[0].take(), BROKEN)
    command = world.command(run_id, "resume", generation=1)
    first = order(world, lambda: resume_run(world.connection, command))
    second = order(world, lambda: resume_run(world.connection, command))
    assert isinstance(first, Commanded)
    assert isinstance(second, Commanded), f"the second click was answered with {second}"
    assert first.result == second.result
    assert world.run(run_id).generation == 2


def test_a_resume_by_somebody_who_saw_an_older_run_is_refused(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hand = hands[0]
    hand.finish(hand.take(), BROKEN)
    by_ana, by_bob = (world.command(run_id, "resume", generation=1) for _ in range(2))
    assert isinstance(order(world, lambda: resume_run(world.connection, by_ana)), Commanded)
    hand.finish(hand.take(), BROKEN)
    assert isinstance(order(world, lambda: resume_run(world.connection, by_bob)), GenerationChanged)
    assert world.run(run_id).generation == 2


def test_an_old_question_no_longer_takes_an_answer(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > P > A")
    hand = hands[0]
    asked = []
    for _ in range(2):
        hand.finish(hand.take(), Waits("approval", None, {}))
        asked.append(Wait.objects.get(run_id=run_id, status="open").id)
        if len(asked) == 1:
            order(world, lambda: cancel_run(world.connection, world.command(run_id, "cancel")))
            order(world, lambda: resume_run(world.connection, world.command(run_id, "resume")))
    old, new = (Answer(wait_id, "approved", "", None, None) for wait_id in asked)
    assert isinstance(
        order(world, lambda: answer_wait(world.connection, world.command(run_id, "answer"), old)), WaitClosed
    )
    assert world.statuses(run_id)["P"] == "waiting"
    assert isinstance(
        order(world, lambda: answer_wait(world.connection, world.command(run_id, "answer"), new)), Commanded
    )


def test_five_answers_at_once_are_taken_once(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > P ?approved> A > P2 ?approved> B")
    hand = hands[0]
    hand.finish(hand.take(), Waits("approval", None, {}))
    given = Answer(Wait.objects.get(run_id=run_id).id, "approved", "", None, None)

    def one(_: int) -> str:
        with closing(Link(name="person")) as link:
            try:
                with link.connection.transaction():
                    answer_wait(link.connection, world.command(run_id, "answer"), given)
            except WaitClosed:
                return "closed"
            return "taken"

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(one, range(5))) == ["closed"] * 4 + ["taken"]
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), Waits("approval", None, {}))
    assert world.events(run_id).count(("step.running", "A")) == 1
    assert world.statuses(run_id)["P2"] == "waiting"
    assert world.statuses(run_id)["B"] == "pending"


@pytest.mark.parametrize("cancel_first", [True, False])
def test_a_cancel_and_a_result_at_once_give_one_outcome(world: World, hands: list[Hand], cancel_first: bool) -> None:
    run_id = begun(world)
    held = hands[0].take()
    command = world.command(run_id, "cancel")
    if cancel_first:
        order(world, lambda: cancel_run(world.connection, command))
    finished = hands[0].finish(held, Succeeded(1))
    if not cancel_first:
        order(world, lambda: cancel_run(world.connection, command))
    assert finished.result == "committed"
    assert world.statuses(run_id) == {"S": "succeeded", "A": "succeeded", "B": "cancelled"}
    assert world.run(run_id).status == "cancelled"


# ---------------------------------------------------------------------- the outside


def test_the_outside_sees_one_key_for_all_attempts_and_another_for_run_again(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, policies={"A": Policy(delivery="at_most_once")})
    hand = hands[0]
    keys = []
    for decision in ("not_happened", "run_again", None):
        held = hand.take()
        job = job_for(hand.connection, held, values=Values())
        assert not isinstance(job, Failed)
        keys.append(job.idempotency_key)
        hand.finish(held, Crashed("killed"))
        if decision is not None:
            wanted = world.command(run_id, "decide")
            order(world, partial(decide_step, world.connection, wanted, path="A", decision=decision))
    assert keys[0] == keys[1]
    assert keys[1] != keys[2]
