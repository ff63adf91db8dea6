"""A fork with the same effects shows the same keys: of steps that it makes later too, and in runs inside it."""

from typing import Any
from uuid import UUID

import pytest

from builder.graph.model import Policy
from runs.core.commands import NotPossibleNow
from runs.core.keys import idempotency_key
from runs.core.outcomes import Again, Crashed, Error, Failed, Fans, Outcome, Succeeded, Waits
from runs.core.plan import Effect
from runs.engine.cancel import cancel_run
from runs.engine.children import deliver
from runs.engine.fork import Forking, fork_run, preview_fork
from runs.engine.operations import preview
from runs.engine.repair import edit_step, editing
from runs.models import Run, StepRun
from runs.store.claim import Held
from tests.engine import World
from tests.hands import Hand

pytestmark = pytest.mark.django_db(transaction=True)

FANS: dict[str, Outcome] = {
    "map": Fans([1, 2, 3], 1, "fail_at_end"),
    "loop": Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last"),
    "try_block": Fans([None], 1, "fail_at_end", mode="once", gather="last"),
}


def fork(world: World, run_id: UUID, path: str, *, same_effects: bool = True) -> UUID:
    with world.connection.transaction():
        wanted = world.command(run_id, "fork")
        done = fork_run(world.connection, wanted, Forking(path, None, same_effects), then=lambda told: None)
    return UUID(done.result["run"])


def key_of(held: Held) -> str:
    return idempotency_key(held.key_root, held.path, held.edition)


def play(world: World, hand: Hand, kind: str = "", *, call: Any = None) -> dict[str, str]:
    """Everything that is ready, to the end; the key that each body showed, by path."""
    keys: dict[str, str] = {}
    for _ in range(60):
        deliver(world.connection)
        held = hand.claim().held
        if held is None:
            break
        keys[held.path] = key_of(held)
        outcome: Outcome = Succeeded(1)
        if held.path == "E":
            rounds = StepRun.objects.get(id=held.step_run_id).item_cursor
            outcome = Again(rounds < 3) if kind == "loop" and rounds else FANS[kind]
        elif held.path.endswith("C"):
            outcome = Waits("child", None, {"workflow": str(call.workflow_id), "version": None, "input": 1})
        hand.finish(held, outcome)
    return keys


def raise_editions(run_id: UUID) -> None:
    """As if a person had said 'run it again anyway' of each step while it was unknown."""
    StepRun.objects.filter(run_id=run_id).exclude(status="succeeded").update(edition=2)


@pytest.mark.parametrize("kind", sorted(FANS))
def test_steps_that_a_container_opens_later_show_the_same_keys(world: World, hands: list[Hand], kind: str) -> None:
    run_id = world.start(world.draw("S > E[A > B] > Z", kinds={"E": kind})).run_id
    keys: dict[str, str] = {}
    for _ in range(30):  # played by hand, so that each step is of its second edition as it starts
        raise_editions(run_id)
        held = hands[0].claim().held
        if held is None:
            break
        keys[held.path] = key_of(held)
        outcome: Outcome = Succeeded(1)
        if held.path == "E":
            rounds = StepRun.objects.get(id=held.step_run_id).item_cursor
            outcome = Again(rounds < 3) if kind == "loop" and rounds else FANS[kind]
        hands[0].finish(held, outcome)
    assert world.run(run_id).status == "succeeded"
    assert {step.edition for step in StepRun.objects.filter(run_id=run_id, path__contains="].")} == {2}
    first = fork(world, run_id, "E")
    assert play(world, hands[0], kind) == keys
    assert world.run(first).status == "succeeded"
    fork(world, first, "E")
    assert play(world, hands[0], kind) == keys, "a fork of the fork repeats it, too"
    other = fork(world, run_id, "E", same_effects=False)
    assert set(play(world, hands[0], kind).values()).isdisjoint(keys.values())
    assert {step.edition for step in StepRun.objects.filter(run_id=other, path__contains="].")} == {1}


def test_a_run_inside_a_fork_shows_the_keys_of_the_run_that_its_step_had_before(
    world: World, hands: list[Hand]
) -> None:
    bottom = world.draw("S > A > B")
    run_id = world.start(world.draw("S > M > C > Z", kinds={"C": "run_workflow"})).run_id
    before = play(world, hands[0], call=bottom)
    child = Run.objects.get(parent_run_id=run_id)
    assert set(before) == {"M", "C", "Z", "A", "B"}
    made = fork(world, run_id, "C")
    assert play(world, hands[0], call=bottom) == {path: before[path] for path in ("C", "Z", "A", "B")}
    inner = Run.objects.get(parent_run_id=made)
    assert (inner.key_root, inner.effects_of_id) == (child.id, child.id)
    fork(world, made, "M")
    assert play(world, hands[0], call=bottom) == before, "through a fork of the fork"
    fork(world, run_id, "C", same_effects=False)
    fresh = play(world, hands[0], call=bottom)
    assert set(fresh.values()).isdisjoint(before.values())


def test_a_fork_starts_no_run_anew_in_which_nobody_knows_whether_a_step_took_effect(
    world: World, hands: list[Hand]
) -> None:
    """Two runs deep, and also where it was stopped in the act."""
    inner = world.draw("S > A > B", policies={"A": Policy(delivery="at_most_once")})
    calls = [inner, world.draw("S > C", kinds={"C": "run_workflow"})]
    run_id = world.start(world.draw("S > D, S > C", kinds={"C": "run_workflow"})).run_id
    while (held := hands[0].take()).path != "A":
        child = {"workflow": str(calls.pop().workflow_id), "input": 1} if held.path == "C" else {}
        hands[0].finish(held, Waits("child", None, child) if child else Succeeded(1))
        deliver(world.connection)
    bottom = Run.objects.get(id=held.run_id)
    refused = pytest.raises(NotPossibleNow, match=rf"C \(A of run {bottom.number}\)")
    with refused:  # it runs
        fork(world, run_id, "D")
    hands[0].finish(held, Crashed("killed"))
    assert world.statuses(bottom.id)["A"] == "needs_decision"
    with refused:
        fork(world, run_id, "D")
    with world.connection.transaction():
        cancel_run(world.connection, world.command(run_id, "cancel"))
    while deliver(world.connection):
        pass
    assert world.statuses(bottom.id)["A"] == "cancelled"
    with refused:
        fork(world, run_id, "D")
    assert world.statuses(fork(world, run_id, "C"))["C"] == "ready"


def test_a_plan_that_starts_a_run_anew_tells_what_acted_in_the_one_before(world: World, hands: list[Hand]) -> None:
    """Of a fork, and of a step whose input is edited: both start another run than the one that there was."""
    sending = {"A": {"method": "POST", "url": "https://example.com"}}
    inner = world.draw("S > A:http_request > B", configs=sending)
    call = {"workflow": str(inner.workflow_id)}
    run_id = world.start(world.draw("S > D, S > C", kinds={"C": "run_workflow"}, configs={"C": call})).run_id
    while (held := hands[0].take()).path != "B":
        outcome: Outcome = Waits("child", None, {**call, "input": 1}) if held.path == "C" else Succeeded(1)
        hands[0].finish(held, outcome)
        deliver(world.connection)
    hands[0].finish(held, Failed(Error("broken", "It broke.")))
    deliver(world.connection)
    assert world.statuses(run_id)["C"] == "failed"
    told = [Effect("C", "keyed", may_happen_twice=True)]
    assert preview_fork(world.connection, run_id, Forking("D")).plan.effects == told
    same = preview_fork(world.connection, run_id, Forking("D", same_effects=True))
    assert same.plan.effects == [Effect("C", "keyed", may_happen_twice=False)]
    edited = preview(world.connection, run_id, editing(world.connection, path="C"))
    assert edited.plan.effects == told
    with world.connection.transaction():
        wanted = world.command(run_id, "edit_input")
        edit_step(world.connection, wanted, path="C", given=call, seen=edited.plan.token)
