"""What happens to a run while it is forked, and to a fork that does not come to its end: one moment, all or nothing."""

import threading
from typing import Any
from uuid import UUID

import pytest

from builder.graph.model import Policy
from kit.failpoints import FailpointHit
from runs.core.outcomes import Error, Failed, Fans, Succeeded
from runs.engine.cancel import cancel_run
from runs.engine.fork import Forking, fork_run, preview_fork
from runs.engine.resume import resume_run
from runs.engine.transact import Told
from runs.models import Run, StepRun
from tests.engine import World
from tests.hands import Hand
from tests.staging import activity, begun, failpoints, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))


def fork(world: World, run_id: UUID, path: str | None = None, **more: Any) -> UUID:
    told: list[Told] = more.pop("told", [])
    with world.connection.transaction():
        wanted = world.command(run_id, "fork")
        return UUID(fork_run(world.connection, wanted, Forking(path, **more), then=told.append).result["run"])


def test_a_fork_that_ends_in_the_middle_leaves_nothing(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].finish(hands[0].take(), Succeeded(1))
    before = world.events(run_id)
    with failpoints("in_fork:raise"), pytest.raises(FailpointHit):
        fork(world, run_id, "A")
    assert world.events(run_id) == before
    assert not Run.objects.filter(forked_from_id=run_id).exists()
    assert not StepRun.objects.filter(origin="copied").exists()
    fork(world, run_id, "A")


def test_a_fork_is_of_one_moment_a_result_that_comes_meanwhile_waits_and_is_not_in_it(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world, "S > A > B, S > C")
    first, second = hands[0].take(), hands[0].take()
    hands[0].finish(first, Succeeded(1))
    finished: list[str] = []
    with world.connection.transaction():
        wanted = world.command(run_id, "fork")
        made = fork_run(world.connection, wanted, Forking("A"), then=lambda told: None)
        late = threading.Thread(target=lambda: finished.append(hands[0].finish(second, Succeeded(2)).result))
        late.start()
        # Asked by another connection: within a transaction, what PostgreSQL says of others stays as it was first read.
        wait_until(lambda: activity(hands[1], hands[0]) == ("active", "Lock"))
    late.join()
    assert finished == ["committed"]
    assert world.statuses(run_id)["C"] == "succeeded"
    assert world.statuses(UUID(made.result["run"]))["C"] == "ready"


def test_workers_are_called_for_what_a_fork_makes_ready(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B > J", policies={"A": Policy(queue="heavy")})
    told: list[Told] = []
    other = fork(world, run_id, "S", told=told)
    assert [(each.run_id, sorted(each.ready)) for each in told] == [(other, [("default", 1), ("heavy", 1)])]


def test_a_fork_fails_is_resumed_and_cancelled_as_any_run(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > E[A > B] > C")
    hand = hands[0]
    hand.finish(hand.take(), Fans([1, 2, 3], 1, "fail_at_end"))
    for _ in range(7):
        hand.finish(hand.take(), Succeeded(1))
    other = fork(world, run_id, "E[1].B")
    hand.finish(hand.take(), BROKEN)
    assert world.run(other).status == "failed"
    for operation, act in (("resume", resume_run), ("cancel", cancel_run), ("resume", resume_run)):
        with world.connection.transaction():
            act(world.connection, world.command(other, operation))
    assert world.run(other).generation == 3
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), Succeeded(1))
    assert world.run(other).status == "succeeded"
    assert {path for path, step in world.steps(other).items() if step.origin == "executed"} == {"E", "E[1].B", "C"}


def test_a_wide_map_is_forked_in_one_go_and_opens_no_more_than_what_runs_again(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > E[A] > B")
    hand = hands[0]
    hand.finish(hand.take(), Fans([*range(200)], 200, "fail_at_end"))
    for _ in range(201):
        hand.finish(hand.take(), Succeeded(1))
    shown = preview_fork(world.connection, run_id, Forking("E[7].A"))
    assert len(shown.plan.kept) == 200  # S, and all items but one
    other = fork(world, run_id, "E[7].A")
    assert world.run(other).open_count == 3  # E, E[7].A, B
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), Succeeded(1))
    assert (world.run(other).status, world.run(other).succeeded_count) == ("succeeded", 203)
