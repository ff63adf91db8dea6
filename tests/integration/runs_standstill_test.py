"""Runs broken by hand, so that nothing of them goes on: the sweeper finds each, and never a healthy one."""

from typing import Any
from uuid import UUID

import pytest

from runs.core.outcomes import Fans, Succeeded, Waits
from runs.engine import children, sweep
from runs.engine.stuck import Looks
from runs.models import Outbox, Run, StepRun
from tests.engine import World
from tests.hands import Hand

pytestmark = pytest.mark.django_db(transaction=True)

FANS: dict[str, Any] = {
    "map": Fans([1, 2, 3], 2, "fail_at_end"),
    "loop": Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last"),
    "try_block": Fans([None], 1, "fail_at_end", mode="once", gather="last"),
}


def opened(world: World, hand: Hand, kind: str) -> UUID:
    """A container with an item under way; beside it P waits for somebody."""
    run_id = world.start(world.draw("S > E[A > B] > Z, S > P", kinds={"E": kind})).run_id
    for _ in range(2):
        held = hand.take()
        hand.finish(held, FANS[kind] if held.path == "E" else Waits("approval", None, {}))
    Run.objects.filter(id=run_id).update(created_at="2026-01-01T00:00Z")
    return run_id


@pytest.mark.parametrize("kind", sorted(FANS))
def test_a_decision_that_was_lost_in_a_container_is_made_anew(world: World, hands: list[Hand], kind: str) -> None:
    run_id = opened(world, hands[0], kind)
    assert sweep.unstick(world.connection) == 0, "it is well: an item is ready, and P waits"
    StepRun.objects.filter(run_id=run_id, path="E[0].A").update(status="pending")
    assert sweep.unstick(world.connection) == 1
    assert world.statuses(run_id)["E[0].A"] == "ready"
    assert world.events(run_id)[-1] == ("recomputed", None)
    assert sweep.unstick(world.connection) == 0


@pytest.mark.parametrize("kind", sorted(FANS))
def test_an_end_of_an_item_that_its_container_never_heard_of_is_told_anew(
    world: World, hands: list[Hand], kind: str
) -> None:
    run_id = opened(world, hands[0], kind)
    inside = StepRun.objects.filter(run_id=run_id, parent_id__isnull=False)
    count = inside.count()
    inside.update(status="skipped", reason="not_taken")
    Run.objects.filter(id=run_id).update(open_count=Run.objects.get(id=run_id).open_count - count)
    assert sweep.unstick(world.connection) == 1
    expected = {"map": "waiting", "loop": "ready", "try_block": "succeeded"}  # another item; asked; done
    assert world.statuses(run_id)["E"] == expected[kind]


def test_a_run_is_looked_at_closely_once_for_each_of_its_states(world: World, hands: list[Hand]) -> None:
    run_id = opened(world, hands[0], "map")
    looks = Looks()
    StepRun.objects.filter(run_id=run_id, path__startswith="E[").update(status="pending")
    assert sweep.unstick(world.connection, looks) == 0, "seen for the first time: it may be on its way"
    assert sweep.unstick(world.connection, looks) == 1
    assert [sweep.unstick(world.connection, looks) for _ in range(4)] == [0] * 4
    assert looks.before[run_id] == (world.run(run_id).event_seq, True)


def test_an_end_of_a_child_that_was_never_told_is_told_anew(world: World, hands: list[Hand]) -> None:
    hand = hands[0]
    version = world.draw("S > A")
    run_id = world.start(world.draw("S > C", kinds={"C": "run_workflow"})).run_id
    hand.finish(hand.take(), Waits("child", None, {"workflow": str(version.workflow_id), "version": None, "input": 1}))
    children.deliver(world.connection)
    hand.finish(hand.take(), Succeeded(1))
    Run.objects.filter(id=run_id).update(created_at="2026-01-01T00:00Z")
    assert sweep.unstick(world.connection) == 0, "the end is on its way"
    Outbox.objects.all().delete()
    assert sweep.unstick(world.connection) == 1
    assert sweep.unstick(world.connection) == 0
    children.deliver(world.connection)
    assert world.run(run_id).status == "succeeded"
