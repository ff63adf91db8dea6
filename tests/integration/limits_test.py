"""Limits are counted from rows under the lock of their name; whoever finds one full holds no worker, and goes on as
room comes.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from builder.graph.model import Policy
from builder.workflows.models import Version
from kit.ids import new_id
from runs.core.limits import queue_limit, workflow_limit, workspace_limit
from runs.core.outcomes import Succeeded
from runs.engine.cancel import cancel_run
from runs.engine.claim import Claimed
from runs.engine.limits import Rounds, after_run, let_all_go, set_limit
from runs.engine.resume import resume_run
from runs.engine.start import Start, start_run
from runs.models import LimitStart, StepRun
from runs.store.claim import Held
from teams.models import Workspace
from tests.engine import World
from tests.hands import Hand
from tests.staging import failpoints, lose, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def limit(world: World, name: str, at_most: int) -> None:
    set_limit(world.connection, name, at_most, actor="Ana")


def erp(**limits: float) -> dict[str, Policy]:
    return {"A": Policy(limit_key="erp", **limits)}  # type: ignore[arg-type]


def start(world: World, version: Version, **options: object) -> UUID:
    with world.connection.transaction():
        wanted = Start(version.workflow_id, version.id, None, "Ana", **options)  # type: ignore[arg-type]
        return start_run(world.connection, wanted).run_id


def starts(world: World, version: Version, count: int, **options: object) -> list[UUID]:
    return [start(world, version, **options) for _ in range(count)]


def held_by(run_id: UUID) -> dict[str, str | None]:
    return dict(StepRun.objects.filter(run_id=run_id).values_list("path", "held_by"))


def take_all(hand: Hand) -> list[Held]:
    found = []
    while (held := hand.claim().held) is not None:
        found.append(held)
    return found


def insist(hand: Hand) -> Claimed:
    """A claim as a worker makes it: where something was locked just then, again."""
    while (found := hand.claim()).result == "contended":
        time.sleep(0.01)
    return found


# ---------------------------------------------------------------------- steps with one key


def test_no_more_steps_of_a_key_run_at_once_than_it_allows(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > A", policies=erp(limit_at_most=2))
    runs = starts(world, version, 5)
    running = take_all(hands[0])
    assert len(running) == 2
    assert [held_by(run_id)["A"] is None for run_id in runs] == [True, True, False, False, False]
    hands[0].finish(running[0], Succeeded(1))
    assert hands[1].claim().held is None, "what is held is not looked at before it is let go"
    assert let_all_go(world.connection, Rounds()) == 1
    assert hands[1].take().run_id == runs[2], "the first in turn goes first"


def test_two_claims_never_count_the_same_room(world: World, hands: list[Hand]) -> None:
    """The second one waits at the limit's name until the first has committed, and counts after that."""
    starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 2)
    with failpoints("limits_counted:sleep=0.5"), ThreadPoolExecutor(2) as pool:
        found = [each.held for each in pool.map(insist, hands)]
    running = StepRun.objects.filter(status="running").count()
    for held in filter(None, found):
        hands[0].finish(held, Succeeded(1))
    assert (running, found.count(None)) == (1, 1)


def test_a_finish_takes_no_step_along_that_a_limit_counts(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > F > A", policies=erp(limit_at_most=1))
    starts(world, version, 2)
    one, other = hands[0].take(), hands[1].take()
    assert hands[0].finish(one, Succeeded(1), wish=hands[0].wish()).next is None
    assert hands[1].finish(other, Succeeded(1), wish=hands[1].wish()).next is None
    assert len([hand for hand in hands if hand.claim().held is not None]) == 1


def test_keys_of_two_workspaces_are_two_limits(world: World, hands: list[Hand]) -> None:
    starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 2)
    mine = world.workspace
    world.workspace = Workspace.objects.create(slug="other", name="Other")
    starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 2)
    assert {held.workspace_id for held in take_all(hands[0])} == {mine.id, world.workspace.id}


def test_a_flood_behind_a_full_limit_is_put_aside_at_once(world: World, hands: list[Hand]) -> None:
    starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 30)
    free = start(world, world.draw("S > B"))
    assert hands[0].take().path == "A"
    assert hands[0].take().run_id == free
    assert StepRun.objects.filter(status="ready", held_by=None).count() == 0


def test_a_step_whose_worker_is_lost_gives_its_room_back(world: World, hands: list[Hand]) -> None:
    first, second = starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 2)
    hands[0].take()
    assert hands[1].claim().held is None
    with world.connection.transaction():
        cancel_run(world.connection, world.command(first, "cancel"))
    lose(world, hands[0])
    world.sweep()
    assert world.run(first).status == "cancelled"
    assert hands[1].take().run_id == second


def test_the_worker_lets_the_next_one_go_without_a_sweeper(world: World) -> None:
    runs = starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 4)
    world.work()
    assert [world.run(run_id).status for run_id in runs] == ["succeeded"] * 4


# ---------------------------------------------------------------------- rates


def test_no_more_steps_start_in_a_period_than_a_rate_allows(world: World, hands: list[Hand]) -> None:
    starts(world, world.draw("S > A", policies=erp(rate_starts=2, rate_per_s=60.0)), 5)
    running = take_all(hands[0])
    assert len(running) == 2
    for held in running:
        hands[0].finish(held, Succeeded(1))
    assert let_all_go(world.connection, Rounds()) == 0, "that they have ended makes no room"
    world.connection.execute("UPDATE runs_limitstart SET at = at - interval '60 seconds', expires_at = at")
    assert let_all_go(world.connection, Rounds()) == 2
    assert len(take_all(hands[0])) == 2
    assert LimitStart.objects.count() == 2, "starts whose period has passed are swept"


# ---------------------------------------------------------------------- lanes and workspaces


@pytest.mark.parametrize("sort", ["queue", "workspace"])
def test_a_lane_and_a_workspace_run_no_more_steps_than_is_set(world: World, hands: list[Hand], sort: str) -> None:
    name = queue_limit("default") if sort == "queue" else workspace_limit(world.workspace.id)
    limit(world, name, 2)
    starts(world, world.draw("S > A > B"), 4)
    running = take_all(hands[0])
    assert len(running) == 2
    limited = {"limited": [name]}
    wish = hands[0].wish()
    wish = type(wish)(wish.worker, wish.claim, wish.queues, wish.kinds, **limited)
    assert hands[0].finish(running[0], Succeeded(1), wish=wish).next is None
    assert len(take_all(hands[1])) == 1


def test_a_full_workspace_keeps_nothing_from_the_others(world: World, hands: list[Hand]) -> None:
    limit(world, workspace_limit(world.workspace.id), 1)
    starts(world, world.draw("S > A"), 3)
    world.workspace = Workspace.objects.create(slug="other", name="Other")
    starts(world, world.draw("S > A"), 3)
    assert len(take_all(hands[0])) == 1 + 3


# ---------------------------------------------------------------------- runs


def test_no_more_runs_of_a_workflow_are_under_way_than_is_set(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > A > B")
    limit(world, workflow_limit(version.workflow_id), 1)
    first, second, _ = starts(world, version, 3)
    held = hands[0].take()
    assert (held.run_id, held.run_is_counted) == (first, True)
    assert hands[1].claim().held is None
    following = hands[0].finish(held, Succeeded(1), wish=hands[0].wish()).next
    assert following is not None, "a run that has begun goes on as ever"
    assert following.run_is_counted
    assert hands[0].finish(following, Succeeded(1)).told is not None
    after_run(world.connection, following)
    assert hands[1].take().run_id == second
    assert world.run(first).begun_at is None


def test_after_a_cancel_the_next_run_begins_also_when_the_worker_of_the_first_is_dead(
    world: World, hands: list[Hand]
) -> None:
    version = world.draw("S > A")
    limit(world, workflow_limit(version.workflow_id), 1)
    first, second = starts(world, version, 2)
    hands[0].take()
    assert hands[1].claim().held is None
    with world.connection.transaction():
        cancel_run(world.connection, world.command(first, "cancel"))
    lose(world, hands[0])
    world.sweep()
    assert world.run(first).status == "cancelled"
    assert hands[1].take().run_id == second


def test_a_resumed_run_waits_for_its_turn_again(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > A")
    first, second = starts(world, version, 2, limit=("customer 7", 1))
    hands[0].take()
    with world.connection.transaction():
        cancel_run(world.connection, world.command(first, "cancel"))
    lose(world, hands[0])
    assert hands[1].take().run_id == second
    with world.connection.transaction():
        resume_run(world.connection, world.command(first, "resume"))
    assert hands[1].claim().held is None
    assert held_by(first)["A"] == f"run:{world.workspace.id}:customer 7"


def test_two_first_steps_of_a_run_wait_as_one_and_go_as_one(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > A + B")
    first, second = starts(world, version, 2, limit=("k", 1))
    mine = take_all(hands[0])
    assert {held.run_id for held in mine} == {first}
    assert len(mine) == 2
    assert set(held_by(second).values()) == {None, f"run:{world.workspace.id}:k"}
    for held in mine:
        hands[0].finish(held, Succeeded(1))
    let_all_go(world.connection, Rounds())
    assert len(take_all(hands[1])) == 2


def test_a_limit_that_is_gone_keeps_nothing_back(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > A")
    limit(world, workflow_limit(version.workflow_id), 1)
    starts(world, version, 3)
    assert len(take_all(hands[0])) == 1
    world.connection.execute("DELETE FROM runs_limit")
    world.sweep()
    assert len(take_all(hands[0])) == 2


def test_a_limit_that_another_worker_serves_meanwhile_is_looked_at_again(world: World, hands: list[Hand]) -> None:
    """Between the look and the lock somebody may take the step, or its run."""
    run_id = start(world, world.draw("S > A", policies=erp(limit_at_most=1)))
    with world.connection.transaction():
        world.connection.execute("SELECT FROM runs_run WHERE id = %s FOR UPDATE", (run_id,))
        assert hands[0].claim().result == "contended"
    assert hands[0].claim().result == "claimed"


def test_a_claim_whose_reply_was_lost_is_answered_with_the_same_limited_step(world: World, hands: list[Hand]) -> None:
    starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 2)
    id_ = new_id()
    first = hands[0].claim(id_).held
    assert hands[0].claim(id_, again=True).held == first


def test_names_are_gone_through_in_rounds(world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.engine.limits.NAMES_AT_ONCE", 1)
    for key in ("a", "b"):
        starts(world, world.draw("S > A", policies={"A": Policy(limit_key=key, limit_at_most=1)}), 2)
    running = take_all(hands[0])
    for held in running:
        hands[0].finish(held, Succeeded(1))
    rounds = Rounds()
    assert [let_all_go(world.connection, rounds) for _ in range(3)] == [1, 1, 0]


def test_waiting_for_room_is_seen(world: World, hands: list[Hand]) -> None:
    runs = starts(world, world.draw("S > A", policies=erp(limit_at_most=1)), 2)
    assert len(take_all(hands[0])) == 1
    wait_until(lambda: held_by(runs[1])["A"] is not None)
