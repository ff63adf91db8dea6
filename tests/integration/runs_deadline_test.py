"""The deadline of a run against PostgreSQL: sweepers, finishes, people and resumes that come at the same moment."""

import json
from datetime import timedelta
from uuid import UUID

import pytest

from builder.workflows.models import Version
from runs.core.commands import NotPossibleNow
from runs.core.outcomes import Crashed, Error, Failed, Stopped, Succeeded
from runs.engine.cancel import cancel_run
from runs.engine.control import pause_run, unpause_run
from runs.engine.resume import resume_run
from runs.engine.sweep import stop_overdue
from tests.engine import World
from tests.hands import Hand
from tests.staging import Meddled, lose

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))
ACTS = {"cancel": cancel_run, "pause": pause_run, "resume": resume_run, "unpause": unpause_run}


def begun(world: World, drawing: str = "S > A > B", *, deadline_s: float | None = 600.0) -> UUID:
    return world.start(world.draw(drawing), deadline_s=deadline_s).run_id


def let_it_pass(world: World, run_id: UUID) -> None:
    world.connection.execute("UPDATE runs_run SET deadline_at = now() WHERE id = %s", (run_id,))


def order(world: World, run_id: UUID, operation: str) -> None:
    with world.connection.transaction():
        ACTS[operation](world.connection, world.command(run_id, operation))


def error_code(world: World, run_id: UUID) -> str | None:
    text = world.run(run_id).error
    return None if text is None else json.loads(text)["code"]


def seconds_left(world: World, run_id: UUID) -> float:
    query = "SELECT extract(epoch FROM deadline_at - now()) FROM runs_run WHERE id = %s"
    found = world.connection.execute(query, (run_id,)).fetchone()
    assert found is not None
    return float(found[0])


def test_a_run_within_its_deadline_is_left_alone_and_an_overdue_one_is_failed_once(
    world: World, hands: list[Hand]
) -> None:
    run_id, without = begun(world), begun(world, deadline_s=None)
    assert world.sweep().overdue == 0
    let_it_pass(world, run_id)
    assert world.sweep().overdue == 1
    assert world.sweep().overdue == 0
    assert world.statuses(run_id) == {"S": "succeeded", "A": "cancelled", "B": "cancelled"}
    assert {step.reason for step in world.steps(run_id).values() if step.status == "cancelled"} == {"deadline"}
    assert (world.run(run_id).status, error_code(world, run_id)) == ("failed", "run_deadline")
    assert world.run(without).status == "running"


def test_a_running_body_is_told_to_stop_and_the_run_fails_when_it_has(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    held = hands[0].take()
    let_it_pass(world, run_id)
    world.sweep()
    assert world.run(run_id).status == "cancelling"
    assert hands[0].beat([(held.step_run_id, held.fence)]).stop == {(held.step_run_id, held.fence)}
    assert hands[0].finish(held, Stopped(), wish=hands[0].wish()).next is None
    assert (world.run(run_id).status, error_code(world, run_id)) == ("failed", "run_deadline")
    assert [kind for kind, _ in world.events(run_id)][-2:] == ["step.cancelled", "run.failed"]


def test_a_worker_that_is_gone_does_not_keep_an_overdue_run_open(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].take()
    let_it_pass(world, run_id)
    world.sweep()
    lose(world, hands[0])
    assert world.run(run_id).status == "failed"
    assert world.steps(run_id)["A"].reason == "deadline"


@pytest.mark.parametrize("deadline_first", [True, False])
def test_a_deadline_and_a_result_at_once_give_one_outcome(
    world: World, hands: list[Hand], deadline_first: bool
) -> None:
    run_id = begun(world, "S > A")
    held = hands[0].take()
    let_it_pass(world, run_id)
    if deadline_first:
        assert stop_overdue(world.connection) == 1
    assert hands[0].finish(held, Succeeded(1)).result == "committed"
    assert stop_overdue(world.connection) == 0
    assert world.statuses(run_id)["A"] == "succeeded"
    assert world.run(run_id).status == ("failed" if deadline_first else "succeeded")


def test_a_run_that_was_resumed_meanwhile_has_its_time_again(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    let_it_pass(world, run_id)

    def meanwhile() -> None:
        order(world, run_id, "cancel")
        order(world, run_id, "resume")

    assert stop_overdue(Meddled(hands[0].connection, meanwhile)) == 0
    assert world.run(run_id).status == "running"


def test_two_sweepers_stop_an_overdue_run_once(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    let_it_pass(world, run_id)
    rival = hands[1].connection
    assert stop_overdue(Meddled(hands[0].connection, lambda: stop_overdue(rival))) == 0
    assert [kind for kind, _ in world.events(run_id)].count("run.cancelling") == 1


def test_a_resume_sets_a_new_deadline_of_the_same_length_and_what_was_cancelled_goes_on(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world)
    let_it_pass(world, run_id)
    world.sweep()
    order(world, run_id, "resume")
    assert 590 < seconds_left(world, run_id) <= 600
    assert error_code(world, run_id) is None
    assert world.sweep().overdue == 0
    for value in (1, 2):
        hands[0].finish(hands[0].take(), Succeeded(value))
    assert world.run(run_id).status == "succeeded"
    let_it_pass(world, run_id)
    assert world.sweep().overdue == 0


def test_nothing_but_a_resume_moves_the_deadline(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    before = world.run(run_id).deadline_at
    order(world, run_id, "pause")
    order(world, run_id, "unpause")
    hands[0].finish(hands[0].take(), Succeeded(1))
    hands[0].finish(hands[0].take(), BROKEN)
    assert world.run(run_id).deadline_at == before
    assert (world.run(run_id).status, error_code(world, run_id)) == ("failed", "steps_failed")


def test_the_deadline_passes_in_a_paused_run_as_well(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    order(world, run_id, "pause")
    let_it_pass(world, run_id)
    assert world.sweep().overdue == 1
    assert world.run(run_id).status == "failed"


def test_a_run_that_its_deadline_stops_is_not_cancelled_as_well(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    held = hands[0].take()
    let_it_pass(world, run_id)
    world.sweep()
    with pytest.raises(NotPossibleNow):
        order(world, run_id, "cancel")
    hands[0].finish(held, Crashed("killed"))
    assert world.run(run_id).status == "failed"


def test_the_settings_of_the_start_step_give_a_deadline_and_the_start_itself_a_nearer_one(world: World) -> None:
    version: Version = world.draw("S > A", configs={"S": {"deadline_s": 3600}})
    for given, expected in ((None, 3600.0), (60.0, 60.0)):
        run = world.run(world.start(version, deadline_s=given).run_id)
        assert run.deadline_s == expected
        assert run.deadline_at == run.created_at + timedelta(seconds=expected)
