"""Runs inside runs on PostgreSQL: paused with the run that waits for them, whatever comes in between."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from builder.workflows.models import Version
from runs.core.breakpoints import Breakpoints
from runs.core.commands import NotPossibleNow
from runs.core.outcomes import Error, Failed, Succeeded, Waits
from runs.engine import children
from runs.engine.cancel import cancel_run
from runs.engine.children import deliver, deliver_next
from runs.engine.commands import Commanded
from runs.engine.control import change_breakpoints, pause_run, preview_control, unpause_run
from runs.engine.resume import resume_run
from runs.engine.sweep import stop_overdue
from runs.models import Outbox, Run
from runs.selectors.steps import why_not
from tests.engine import World
from tests.hands import Hand
from tests.staging import After

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = {"C": "run_workflow", "F": "run_workflow", "D": "delay"}
BROKEN = Failed(Error("broken", "It broke."))
ORDERS = {"pause": pause_run, "unpause": unpause_run, "cancel": cancel_run, "resume": resume_run}


def order(world: World, run_id: UUID, operation: str) -> Commanded:
    with world.connection.transaction():
        return ORDERS[operation](world.connection, world.command(run_id, operation))


def call(child: Version) -> Waits:
    return Waits("child", None, {"workflow": str(child.workflow_id), "version": None, "input": 1})


class Family:
    """A run whose steps are played by a hand; C calls a run of `S > A > B`."""

    def __init__(self, world: World, hand: Hand, drawing: str = "S > C > K") -> None:
        self.world, self.hand = world, hand
        self.version = world.draw("S > A > B")
        self.id = world.start(world.draw(drawing, kinds={"C": "run_workflow"})).run_id

    def park(self) -> None:
        self.hand.finish(self.hand.take(), call(self.version))

    def deliver(self) -> None:
        assert deliver(self.world.connection, at_most=200) < 200

    @property
    def child(self) -> Run:
        return Run.objects.get(parent_run_id=self.id)

    def how(self) -> tuple[str, str | None]:
        return how(self.child)


def how(run: Run) -> tuple[str, str | None]:
    return run.status, run.paused_by


@pytest.fixture
def family(world: World, hands: list[Hand]) -> Family:
    family = Family(world, hands[0])
    family.park()
    family.deliver()
    return family


# ---------------------------------------------------------------------- with the parent


def test_a_child_stops_and_goes_on_with_its_parent_and_workers_are_woken(family: Family, world: World) -> None:
    order(world, family.id, "pause")
    family.deliver()
    assert family.how() == ("paused", "parent")
    assert family.hand.claim().result == "empty"
    order(world, family.id, "unpause")
    family.deliver()
    assert family.how() == ("running", None)
    for path in ("A", "B"):
        held = family.hand.take()
        assert held.path == path
        family.hand.finish(held, Succeeded(1))
    family.deliver()
    assert family.hand.take().path == "K"


def test_a_child_of_a_child_stops_too_and_the_preview_says_how_many(world: World, hands: list[Hand]) -> None:
    bottom = world.draw("S > A")
    middle = world.draw("S > F + A", kinds=KINDS)
    run_id = world.start(world.draw("S > C", kinds=KINDS)).run_id
    hand = hands[0]
    hand.finish(hand.take(), call(middle))
    deliver(world.connection)
    held = [hand.take(), hand.take()]
    hand.finish(next(each for each in held if each.path == "F"), call(bottom))
    deliver(world.connection)
    shown = preview_control(world.connection, run_id, "pause")
    assert (shown.child_runs, shown.plan.again) == (2, [])
    order(world, run_id, "pause")
    deliver(world.connection)
    inside = Run.objects.filter(root_id=run_id).order_by("depth")
    assert [how(run) for run in inside] == [("paused", "parent")] * 2
    order(world, inside[1].id, "pause")
    assert [preview_control(world.connection, run_id, each).child_runs for each in ("unpause", "cancel")] == [1, 2]
    order(world, run_id, "unpause")
    deliver(world.connection)
    assert [how(run) for run in inside.all()] == [("running", None), ("paused", None)]
    order(world, run_id, "cancel")
    deliver(world.connection)
    assert {run.status for run in inside.all()} == {"cancelling", "cancelled"}, "A of the middle one still runs"


def test_a_step_that_calls_in_a_paused_run_gets_a_paused_child(world: World, hands: list[Hand]) -> None:
    family = Family(world, hands[0])
    held = family.hand.take()
    order(world, family.id, "pause")
    family.hand.finish(held, call(family.version))
    family.deliver()
    assert family.how() == ("paused", "parent")
    assert world.broken() == []
    order(world, family.id, "unpause")
    family.deliver()
    assert family.hand.take().path == "A"


def test_a_pause_before_the_child_has_started_lets_it_start_paused(world: World, hands: list[Hand]) -> None:
    family = Family(world, hands[0])
    family.park()
    order(world, family.id, "pause")
    deliver_next(world.connection)
    assert family.how() == ("paused", "parent"), "not even for a moment may something of it start"


def test_a_pause_that_comes_while_the_child_is_being_started_reaches_it(
    world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    family = Family(world, hands[0])
    family.park()
    with World(workspace=world.workspace) as other:
        meddled: Any = After(other.connection, children.OF_PARENT, lambda: order(world, family.id, "pause"))
        deliver_next(meddled)
    assert family.how() == ("running", None)
    family.deliver()
    assert family.how() == ("paused", "parent")


def test_pauses_that_are_delivered_late_do_what_is_so_now(family: Family, world: World) -> None:
    for each in ("pause", "unpause", "pause"):
        order(world, family.id, each)
    seen = []
    while deliver_next(world.connection):
        seen.append(family.how())
    assert seen == [("paused", "parent")] * 3, "it goes on at no moment while its parent is paused"
    order(world, family.id, "unpause")
    order(world, family.id, "pause")
    order(world, family.id, "unpause")
    family.deliver()
    assert family.how() == ("running", None)


def test_an_unpause_that_comes_while_a_pause_is_delivered_has_the_last_word(family: Family, world: World) -> None:
    order(world, family.id, "pause")
    with World(workspace=world.workspace) as other:
        meddled: Any = After(other.connection, children.PARENT_IS_PAUSED, lambda: order(world, family.id, "unpause"))
        deliver_next(meddled)
    assert family.how() == ("paused", "parent")
    family.deliver()
    assert family.how() == ("running", None)


def test_a_child_that_ends_or_fails_while_its_parent_pauses_is_taken_as_it_is(family: Family, world: World) -> None:
    held = family.hand.take()
    order(world, family.id, "pause")
    family.hand.finish(held, BROKEN)
    family.deliver()
    assert (family.how(), world.run(family.id).status) == (("failed", None), "failed")
    order(world, family.id, "resume")
    order(world, family.id, "pause")
    assert family.hand.claim().result == "empty"
    order(world, family.id, "unpause")
    family.park()
    order(world, family.id, "pause")
    family.deliver()
    assert family.how() == ("paused", "parent"), "a child that is resumed by its step is paused with it, too"


def test_a_person_who_resumes_a_child_of_a_paused_run_sets_it_going_when_the_run_goes_on(
    family: Family, world: World
) -> None:
    family.hand.finish(family.hand.take(), BROKEN)
    order(world, family.id, "pause")
    order(world, family.child.id, "resume")
    family.deliver()
    assert (family.how(), world.statuses(family.id)["C"]) == (("paused", "parent"), "waiting")
    order(world, family.id, "unpause")
    family.deliver()
    assert family.hand.take().path == "A"


def test_a_person_who_resumes_a_child_whose_step_gave_up_sets_it_going_at_once(family: Family, world: World) -> None:
    family.hand.finish(family.hand.take(), BROKEN)
    family.deliver()
    order(world, family.child.id, "resume")
    family.deliver()
    assert (family.how(), world.run(family.id).status) == (("running", None), "failed")
    held = family.hand.take()
    order(world, family.id, "resume")
    order(world, family.id, "pause")
    order(world, family.id, "unpause")
    assert family.hand.take().path == "C"
    family.hand.finish(held, Succeeded(1))


def test_a_running_child_that_a_resumed_step_finds_is_paused_with_it(world: World, hands: list[Hand]) -> None:
    family = Family(world, hands[0])
    family.park()
    family.deliver()
    family.hand.finish(family.hand.take(), BROKEN)
    family.deliver()
    order(world, family.child.id, "resume")
    order(world, family.id, "resume")
    while (held := family.hand.take()).path != "C":
        order(world, family.child.id, "pause")  # A was taken first: it shall not be in the way
    order(world, family.id, "pause")
    family.hand.finish(held, call(family.version))
    family.deliver()
    assert family.how()[0] == "paused"
    assert family.how()[1] in ("parent", "both")


def test_a_paused_child_of_a_cancelled_run_is_cancelled_and_starts_nothing(family: Family, world: World) -> None:
    order(world, family.id, "pause")
    order(world, family.id, "cancel")
    seen = []
    while deliver_next(world.connection):
        seen.append(family.how())
    assert seen[-1] == ("cancelled", None)
    assert ("running", None) not in seen[1:]


def test_a_child_paused_with_its_parent_is_not_let_go_by_a_person(family: Family, world: World) -> None:
    order(world, family.id, "pause")
    family.deliver()
    with pytest.raises(NotPossibleNow):
        order(world, family.child.id, "unpause")
    order(world, family.child.id, "pause")
    order(world, family.id, "unpause")
    family.deliver()
    assert family.how() == ("paused", None)
    order(world, family.child.id, "unpause")
    assert family.hand.take().path == "A"


def test_a_delivery_that_dies_in_a_pause_has_done_nothing_and_the_next_one_does_it(
    family: Family, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(world, family.id, "pause")

    def dies(name: str) -> None:
        raise RuntimeError(name)

    with monkeypatch.context() as struck:
        struck.setattr(children, "failpoint", dies)
        assert deliver_next(world.connection)
    assert family.how() == ("running", None)
    assert Outbox.objects.count() == 1
    world.connection.execute("UPDATE runs_outbox SET not_before = now()")
    family.deliver()
    assert family.how() == ("paused", "parent")


def test_queue_limits_begin_anew_when_a_child_goes_on_with_its_parent(family: Family, world: World) -> None:
    world.connection.execute(
        "UPDATE runs_steprun SET queue_limit_s = 60, queue_until = now() - interval '1 hour' WHERE run_id = %s "
        "AND status = 'ready'",
        (family.child.id,),
    )
    for each in ("pause", "unpause"):
        order(world, family.id, each)
        family.deliver()
    found = world.connection.execute(
        "SELECT queue_until > now() FROM runs_steprun WHERE run_id = %s AND path = 'A'", (family.child.id,)
    ).fetchone()
    assert found == (True,)


# ---------------------------------------------------------------------- other ways to stop


def test_a_breakpoint_of_the_parent_pauses_the_child_and_one_of_the_child_pauses_it_alone(
    world: World, hands: list[Hand], tmp_path: Path
) -> None:
    family = Family(world, hands[0], "S > C + A, A > B")
    hand = family.hand
    held = {each.path: each for each in (hand.take(), hand.take())}
    hand.finish(held["C"], call(family.version))
    family.deliver()
    with world.connection.transaction():
        stops = Breakpoints(frozenset({"n_B"}))
        change_breakpoints(world.connection, world.command(family.id, "breakpoints"), stops)
    with world.connection.transaction():
        change_breakpoints(world.connection, world.command(family.child.id, "breakpoints"), stops)
    inner = hand.take()
    hand.finish(inner, Succeeded(1))
    assert (family.how(), world.run(family.id).status) == (("paused", None), "running")
    hand.finish(held["A"], Succeeded(1))
    family.deliver()
    assert (family.how(), world.run(family.id).status) == (("paused", "both"), "paused")
    order(world, family.id, "unpause")
    family.deliver()
    assert family.how() == ("paused", None)
    assert hand.take().path == "B"


@pytest.mark.parametrize("is_paused", [False, True])
def test_the_deadline_of_a_run_stops_the_runs_inside_it_paused_or_not(
    family: Family, world: World, is_paused: bool
) -> None:
    if is_paused:
        order(world, family.id, "pause")
        family.deliver()
    world.connection.execute(
        "UPDATE runs_run SET deadline_s = 1, deadline_at = now() - interval '1 second' WHERE id = %s", (family.id,)
    )
    stop_overdue(world.connection)
    family.deliver()
    assert (world.run(family.id).status, family.how()) == ("failed", ("cancelled", None))
    order(world, family.id, "resume")
    family.park()
    family.deliver()
    assert family.how() == ("running", None)


def test_the_deadline_of_a_child_fails_its_step_also_while_it_is_paused_with_its_parent(
    family: Family, world: World
) -> None:
    order(world, family.id, "pause")
    family.deliver()
    world.connection.execute(
        "UPDATE runs_run SET deadline_s = 1, deadline_at = now() - interval '1 second' WHERE id = %s",
        (family.child.id,),
    )
    stop_overdue(world.connection)
    family.deliver()
    assert family.how() == ("failed", None)
    assert "run_deadline" in (world.steps(family.id)["C"].error or "")


def test_each_step_says_that_its_run_is_paused_with_another_one(family: Family, world: World) -> None:
    run = world.run(family.id)
    assert "is running" in (why_not(run, world.steps(family.id)["C"]) or "")
    order(world, family.id, "pause")
    family.deliver()
    run = world.run(family.id)
    assert "paused with this one" in (why_not(run, world.steps(family.id)["C"]) or "")
    assert "Unpause that one" in (why_not(family.child, world.steps(family.child.id)["A"]) or "")
