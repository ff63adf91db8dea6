"""Pause, unpause and breakpoints against PostgreSQL: claims, finishes and people that come at the same moment."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from builder.graph.model import Policy, Retry
from kit.errors import AppError
from runs.core.breakpoints import Breakpoints
from runs.core.commands import NotPossibleNow
from runs.core.outcomes import Crashed, Error, Failed, Succeeded, Waits
from runs.engine import sweep
from runs.engine.cancel import cancel_run
from runs.engine.commands import Command, Commanded, CommandIdTaken
from runs.engine.control import change_breakpoints, pause_run, unpause_run
from runs.engine.resume import resume_run
from runs.engine.wait import Answer, answer_wait
from runs.link import Link
from runs.models import Event, Wait
from tests.engine import World
from tests.hands import Hand
from tests.random_runs import FLAKY
from tests.staging import activity, begun, failpoints, lose, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))


def order(world: World, run_id: UUID, operation: str) -> Commanded:
    act = {"pause": pause_run, "unpause": unpause_run, "cancel": cancel_run, "resume": resume_run}[operation]
    with world.connection.transaction():
        return act(world.connection, world.command(run_id, operation))


def stop_before(world: World, run_id: UUID, *keys: str) -> Commanded:
    with world.connection.transaction():
        wanted = world.command(run_id, "breakpoints")
        return change_breakpoints(world.connection, wanted, Breakpoints(frozenset(f"n_{key}" for key in keys)))


# ---------------------------------------------------------------------- pause


def test_nothing_is_claimed_from_a_paused_run_and_everything_once_it_goes_on(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B")
    held = hands[0].take()
    assert order(world, run_id, "pause").result == {"status": "paused"}
    assert hands[1].claim().result == "empty"
    assert hands[0].beat([(held.step_run_id, held.fence)]).stop == frozenset(), "what runs is to end by itself"
    assert hands[0].finish(held, Succeeded(1)).result == "committed"
    assert world.sweep().woken == 0
    done = order(world, run_id, "unpause")
    assert done.told is not None
    assert done.told.ready == (("default", 1),), "workers are woken for what waited"
    assert hands[1].finish(hands[1].take(), Succeeded(1)).result == "committed"
    assert world.run(run_id).status == "succeeded"


def test_a_claim_that_comes_while_a_pause_is_being_written_gets_nothing(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    with world.connection.transaction():
        pause_run(world.connection, world.command(run_id, "pause"))
        assert hands[0].claim().result == "contended", "the run is locked just then: it is asked again, not waited for"
    assert hands[0].claim().result == "empty"


def test_a_pause_that_comes_while_a_finish_takes_its_next_step_waits_and_lets_that_step_end(
    world: World, hands: list[Hand], tmp_path: Path
) -> None:
    run_id = begun(world, "S > A > B > C")
    hand = hands[0]
    request = hand.request(hand.take(), Succeeded("a"), wish=hand.wish())
    go = tmp_path / "go"
    with failpoints(f"in_finish@1:pause={go}"), ThreadPoolExecutor(2) as pool:
        try:
            finish = pool.submit(hand.finish_all, [request])
            wait_until(lambda: activity(world, hand)[0] == "idle in transaction")
            pause = pool.submit(pause_by, hands[1], world.command(run_id, "pause"))
            wait_until(lambda: pause.done() or activity(world, hands[1])[1] == "Lock")
            assert not pause.done(), "the pause did not wait for the finish that was under way"
        finally:
            go.touch()
    following = finish.result().results[0].next
    assert following is not None
    assert following.path == "B"
    assert pause.result().result == {"status": "paused"}
    finished = hand.finish_all([hand.request(following, Succeeded("b"), wish=hand.wish())], idle=[hand.wish()])
    assert (finished.results[0].result, finished.results[0].next, finished.given) == ("committed", None, [None])
    assert world.statuses(run_id)["C"] == "ready"


def pause_by(hand: Hand, wanted: Command) -> Commanded:
    """On a connection of its own."""
    with hand.connection.transaction():
        return pause_run(hand.connection, wanted)


def test_a_worker_that_knows_the_run_from_before_the_pause_takes_no_next_step(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A > B > C")
    hand = hands[0]
    done = hand.finish_all([hand.request(hand.take(), Succeeded("a"), wish=hand.wish())])
    following = done.results[0].next
    assert following is not None
    assert done.known is not None
    order(world, run_id, "pause")
    again = hand.finish_all(
        [hand.request(following, Succeeded("b"), wish=hand.wish())], known=done.known, idle=[hand.wish()]
    )
    assert (again.results[0].result, again.results[0].next, again.given) == ("committed", None, [None])
    assert world.statuses(run_id)["C"] == "ready"


def test_no_timer_and_no_retry_starts_anything_while_the_run_is_paused(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B, A > C", policies={"B": Policy(retry=Retry(attempts=3, first_delay_s=600))})
    for _ in range(2):
        held = hands[0].take()
        hands[0].finish(held, Waits("timer", 600.0, {}) if held.path == "A" else FLAKY)
    order(world, run_id, "pause")
    world.connection.execute("UPDATE runs_steprun SET not_before = now() WHERE status IN ('waiting', 'retry_wait')")
    sweep.due(world.connection)
    assert hands[0].claim().held is None
    order(world, run_id, "unpause")
    assert sweep.due(world.connection) == 2
    assert {hands[0].take().path, hands[0].take().path} == {"B", "C"}


def test_a_step_that_is_lost_in_a_paused_run_starts_again_only_when_it_goes_on(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].take()
    order(world, run_id, "pause")
    lose(world, hands[0])
    assert world.statuses(run_id)["A"] == "ready"
    assert hands[1].claim().held is None
    order(world, run_id, "unpause")
    assert hands[1].take().attempt == 2


def test_a_paused_run_takes_answers_and_a_cancel(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > P, P ?approved> A")
    hands[0].finish(hands[0].take(), Waits("approval", None, {}))
    order(world, run_id, "pause")
    given = Answer(Wait.objects.get(run_id=run_id).id, "approved", "", None, None)
    with world.connection.transaction():
        answer_wait(world.connection, world.command(run_id, "answer"), given)
    assert (world.statuses(run_id)["A"], hands[0].claim().result) == ("ready", "empty")
    assert order(world, run_id, "cancel").result == {"status": "cancelled"}


def test_a_cancel_of_a_paused_run_stops_its_running_bodies(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    held = hands[0].take()
    order(world, run_id, "pause")
    order(world, run_id, "cancel")
    assert hands[0].beat([(held.step_run_id, held.fence)]).stop == {(held.step_run_id, held.fence)}
    hands[0].finish(held, Crashed("killed"))
    assert world.run(run_id).status == "cancelled"


def test_a_pause_is_done_once_by_its_command_id(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    wanted = world.command(run_id, "pause")
    results = []
    for _ in range(2):
        with world.connection.transaction():
            results.append(pause_run(world.connection, wanted))
    assert results[0].result == results[1].result
    assert results[1].told is None
    assert [kind for kind, _ in world.events(run_id)].count("run.paused") == 1
    with pytest.raises(NotPossibleNow):
        order(world, run_id, "pause")
    same_id = world.command(run_id, "unpause", id_=wanted.id)
    with pytest.raises(CommandIdTaken), world.connection.transaction():
        unpause_run(world.connection, same_id)


def test_two_people_pause_at_the_same_moment_and_one_is_told_that_it_is_paused(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)

    def one(_: int) -> str:
        with closing(Link(name="person")) as link:
            try:
                with link.connection.transaction():
                    pause_run(link.connection, world.command(run_id, "pause"))
            except NotPossibleNow:
                return "refused"
            return "done"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(one, range(2))) == ["done", "refused"]


# ---------------------------------------------------------------------- where it pauses by itself


def start_stopping_at(world: World, drawing: str, *keys: str) -> UUID:
    points = Breakpoints(frozenset(f"n_{key}" for key in keys))
    return world.start(world.draw(drawing), breakpoints=points).run_id


def paused_at(world: World, run_id: UUID) -> tuple[str, list[str]]:
    run = world.run(run_id)
    return run.status, json.loads(run.paused_at or "[]")


def test_breakpoints_given_at_the_start_hold_each_step_until_the_run_is_unpaused(
    world: World, hands: list[Hand]
) -> None:
    run_id = start_stopping_at(world, "S > A > B > C", "A", "C")
    hand = hands[0]
    assert paused_at(world, run_id) == ("paused", ["A"])
    assert hand.claim().held is None
    order(world, run_id, "unpause")
    assert paused_at(world, run_id) == ("running", [])
    done = hand.finish_all([hand.request(hand.take(), Succeeded("a"), wish=hand.wish())])
    following = done.results[0].next
    assert following is not None
    done = hand.finish_all([hand.request(following, Succeeded("b"), wish=hand.wish())], known=done.known)
    assert (done.results[0].result, done.results[0].next) == ("committed", None)
    assert paused_at(world, run_id) == ("paused", ["C"])
    order(world, run_id, "unpause")
    hand.finish(hand.take(), Succeeded("c"))
    assert paused_at(world, run_id) == ("succeeded", [])
    told = Event.objects.filter(run_id=run_id, type="run.paused").order_by("seq").values_list("data", flat=True)
    assert [json.loads(data) for data in told] == [{"at": "A"}, {"at": "C"}]


def test_a_breakpoint_that_is_set_later_holds_also_for_a_worker_that_knows_the_run_from_before(
    world: World, hands: list[Hand]
) -> None:
    run_id = begun(world, "S > A > B > C")
    hand = hands[0]
    done = hand.finish_all([hand.request(hand.take(), Succeeded("a"), wish=hand.wish())])
    following = done.results[0].next
    assert following is not None
    stop_before(world, run_id, "C")
    done = hand.finish_all([hand.request(following, Succeeded("b"), wish=hand.wish())], known=done.known)
    assert done.results[0].next is None, "the breakpoint was passed"
    assert paused_at(world, run_id) == ("paused", ["C"])


def test_a_breakpoint_on_a_step_that_waits_for_a_worker_holds_it_at_once(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    assert stop_before(world, run_id, "A").result == {
        "status": "paused", "breakpoints": [{"node": "n_A"}], "paused_at": ["A"],
    }  # fmt: skip
    assert hands[0].claim().held is None
    order(world, run_id, "unpause")
    assert stop_before(world, run_id).result == {"status": "running", "breakpoints": [], "paused_at": []}
    assert hands[0].take().path == "A"


def test_a_worker_that_dies_at_a_breakpoint_and_a_resume_leave_it_where_it_is(world: World, hands: list[Hand]) -> None:
    run_id = start_stopping_at(world, "S > A > B", "B")
    hands[0].take()
    lose(world, hands[0])
    held = hands[1].take()
    hands[1].finish(held, Succeeded(1))
    assert paused_at(world, run_id) == ("paused", ["B"])
    order(world, run_id, "unpause")
    hands[1].finish(hands[1].take(), BROKEN)
    assert order(world, run_id, "resume").result == {"generation": 2, "status": "paused", "again": ["B"]}
    assert paused_at(world, run_id) == ("paused", ["B"])


def test_a_start_with_a_breakpoint_that_holds_nothing_makes_no_run(world: World, hands: list[Hand]) -> None:
    with pytest.raises(AppError) as problem:
        start_stopping_at(world, "S > A", "B")
    assert problem.value.code == "bad_breakpoint"
    assert world.connection.execute("SELECT count(*) FROM runs_run").fetchone() == (0,)
