"""Faults that people reported of other engines, played against this one: crashes, cancels, timers, values of joins."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import UUID

import pytest

from runs.attempt import job_for
from runs.core.outcomes import Error, Failed, Fans, Succeeded, Waits
from runs.engine import sweep
from runs.engine.cancel import cancel_run
from runs.engine.resume import resume_run
from runs.engine.scope import Values
from runs.link import Link
from runs.store import fleet
from runs.store.claim import Held
from tests.engine import World
from tests.hands import Hand
from tests.staging import begun, lose, successes

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))


def seen(hand: Hand, held: Held) -> dict[str, object]:
    """The outputs of other steps that the held one's expressions see."""
    job = job_for(hand.connection, held, values=Values())
    assert not isinstance(job, Failed)
    return {key: step["output"] for key, step in job.scope["steps"].items()}


def resume(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))


def cancel(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        cancel_run(world.connection, world.command(run_id, "cancel"))


JOINED = {"E": {"value": {"a": "{{ steps.A.output }}", "b": "{{ steps.B.output }}"}}}


@pytest.mark.parametrize("slow_first", [True, False])
def test_a_join_sees_the_outputs_of_both_branches_whichever_was_slow(
    world: World, hands: list[Hand], slow_first: bool
) -> None:
    begun(world, "S > A + B > E", configs=JOINED)
    hand = hands[0]
    a, b = hand.take(), hand.take()
    for held, value in ((a, 1), (b, 2)) if slow_first else ((b, 2), (a, 1)):
        assert hand.claim().result == "empty"
        hand.finish(held, Succeeded(value))
    assert seen(hand, hand.take()) == {"A": 1, "B": 2}


def test_a_join_sees_nothing_of_a_branch_that_was_skipped_and_is_told_so(world: World, hands: list[Hand]) -> None:
    begun(world, "S > I, I ?true> A, I ?false> B, A + B > E", configs=JOINED)
    hand = hands[0]
    hand.finish(hand.take(), Succeeded(None, "true"))
    hand.finish(hand.take(), Succeeded(1))
    job = job_for(hand.connection, hand.take(), values=Values())
    assert not isinstance(job, Failed)
    assert job.scope["steps"] == {
        "A": {"output": 1, "status": "succeeded"}, "B": {"output": None, "status": "skipped"},
    }  # fmt: skip


COLLECTED = {"K": {"value": "{{ steps.E.output }}"}}


def test_an_item_whose_worker_was_killed_runs_again_and_is_collected(world: World, hands: list[Hand]) -> None:
    """dagster-io/dagster#19490: items that were in progress when the run was killed were ignored on resume."""
    run_id = begun(world, "S > E[X] > K", configs=COLLECTED)
    dying, other = hands
    other.finish(other.take(), Fans([1, 2, 3], 32, "fail_at_end"))
    first, second, third = other.take(), dying.take(), other.take()
    other.finish(first, Succeeded(1))
    lose(world, dying)
    other.finish(third, Succeeded(3))
    again = other.take()
    assert (again.path, again.attempt) == (second.path, 2)
    other.finish(again, Succeeded(2))
    assert seen(other, other.take()) == {"E": [1, 2, 3]}
    assert [successes(world, run_id, f"E[{index}].X") for index in range(3)] == [1, 1, 1]


def test_steps_that_never_came_to_be_are_collected_after_a_resume(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > G > E[X] > K", configs=COLLECTED)
    hand = hands[0]
    hand.finish(hand.take(), BROKEN)
    resume(world, run_id)
    hand.finish(hand.take(), Succeeded([1, 2, 3]))
    hand.finish(hand.take(), Fans([1, 2, 3], 32, "fail_at_end"))
    for value in (1, 2, 3):
        hand.finish(hand.take(), Succeeded(value))
    assert seen(hand, hand.take()) == {"E": [1, 2, 3]}


def test_a_resumed_step_that_no_worker_took_is_called_out_again(world: World, hands: list[Hand]) -> None:
    """activepieces/activepieces PR 12365: a retried run stayed queued for ever."""
    run_id = begun(world)
    hand = hands[0]
    hand.finish(hand.take(), BROKEN)
    resume(world, run_id)
    assert world.run(run_id).status == "running"
    world.connection.execute(
        "UPDATE runs_steprun SET not_before = not_before - interval '1 second' WHERE run_id = %s AND status = 'ready'",
        (run_id,),
    )
    assert sweep.wake_unclaimed(world.connection) == 1


def test_a_run_whose_worker_is_dead_can_be_cancelled(world: World, hands: list[Hand]) -> None:
    """PrefectHQ/prefect#17563, #4490: after a cancel the run hung in 'cancelling'."""
    run_id = begun(world)
    hands[0].take()
    fleet.bury(world.connection, hands[0].id)
    cancel(world, run_id)
    assert world.run(run_id).status == "cancelling"
    sweep.recover_dead(world.connection)
    assert world.run(run_id).status == "cancelled"
    assert hands[1].claim().result == "empty"


def test_a_sweeper_that_comes_late_does_not_undo_a_success(world: World, hands: list[Hand]) -> None:
    """apache/airflow#12396, #63183: the zombie checker failed a step a few seconds after it had succeeded."""
    run_id = begun(world)
    held = hands[0].take()
    hands[0].finish(held, Succeeded(1))
    assert not sweep.recover(
        world.connection, run_id, step_run_id=held.step_run_id, fence=held.fence, detail="its lease ended"
    )
    assert world.statuses(run_id)["A"] == "succeeded"


def test_a_worker_that_drains_takes_nothing_more_and_another_goes_on(world: World, hands: list[Hand]) -> None:
    """dbos-inc/dbos-transact-py#804, #805: in a rolling restart the old process took the run again and then exited."""
    run_id = begun(world)
    world.process.drain()
    world.work()
    assert world.statuses(run_id)["A"] == "ready"
    for _ in "AB":
        hands[0].finish(hands[0].take(), Succeeded(1))
    assert world.run(run_id).status == "succeeded"
    assert world.events(run_id).count(("run.running", None)) == 1


def test_three_sweepers_let_each_timer_go_on_once(world: World, hands: list[Hand]) -> None:
    """n8n-io/n8n#11861, #26919: a waiting run was resumed twice by two passes of the timer."""
    version = world.draw("S > D > A")
    runs = [world.start(version).run_id for _ in range(200)]
    for _ in runs:
        hands[0].finish(hands[0].take(), Waits("timer", 0.0, {}))

    def one(_: int) -> int:
        with closing(Link(name="sweeper")) as link:
            return sum(sweep.due(link.connection) for _ in range(8))

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(one, range(3))) == len(runs)
    assert [successes(world, run_id, "D") for run_id in runs] == [1] * len(runs)
    assert [world.events(run_id).count(("step.ready", "A")) for run_id in runs] == [1] * len(runs)


ODD = {"nul": "a\x00b", "half": "\ud83d", "big": 7615917337495251231, "": [0.1, -0.0, None]}


def test_a_value_that_a_database_may_not_like_comes_back_equal(world: World, hands: list[Hand]) -> None:
    """kestra-io/kestra#10326, aegra/aegra#369, infiniflow/ragflow PR 9246:
    a NUL or half an emoji made a row impossible to write.
    """
    run_id = begun(world)
    hands[0].finish(hands[0].take(), Succeeded(ODD))
    assert world.output(run_id, "A") == ODD
    hands[0].finish(hands[0].take(), Failed(Error("broken", "x\x00y \ud83d")))
    assert world.run(run_id).status == "failed"


def test_a_value_that_is_not_json_fails_its_step_and_the_run_can_be_resumed(world: World, hands: list[Hand]) -> None:
    """vercel/workflow PR 2687, elsa-workflows/elsa-studio#305:
    odd values broke the serializer, or the viewer later on.
    """
    run_id = begun(world)
    hands[0].finish(hands[0].take(), Succeeded({"x": float("nan")}))
    assert world.statuses(run_id)["A"] == "failed"
    resume(world, run_id)
    assert hands[0].finish(hands[0].take(), Succeeded(1)).result == "committed"
