"""Pause, unpause and breakpoints: nothing starts, everything that runs ends, and going on passes a breakpoint once."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from builder.graph.model import Graph, Policy, Retry
from runs.core.breakpoints import Breakpoints, as_json, from_json, what_is_wrong
from runs.core.commands import NotPossibleNow, answer, cancel, decide_outcome, recompute, retry_due
from runs.core.control import BadBreakpoint, pass_deadline, pause, set_breakpoints, unpause
from runs.core.outcomes import Again, Crashed, Error, Failed, Fans, Stopped, Succeeded, Waits
from runs.core.resume import NothingToResume, resume
from runs.core.rows import UNKNOWN_OUTCOME, RunRow, Stored
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import Transition
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))
FLAKY = Failed(Error("flaky", "Try again.", retryable=True))
YES = Stored(text="{}")


def graph(drawing: str, **options: object) -> Graph:
    return draw(drawing, plain="pass_through", **options)


def begun(drawing: str, *, stops: tuple[str, ...] = (), paths: tuple[str, ...] = (), **options: object) -> MemoryRun:
    points = Breakpoints(frozenset(f"n_{key}" for key in stops), frozenset(paths))
    row = RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, breakpoints=points)
    return MemoryRun(graph(drawing, **options), run=row)


def paused(memory: MemoryRun) -> tuple[str, tuple[str, ...]]:
    return memory.run.status.value, memory.run.paused_at


# ---------------------------------------------------------------------- pause


def test_a_body_that_runs_ends_and_what_follows_waits_until_the_run_goes_on() -> None:
    memory = begun("S > A > B")
    memory.claim("A")
    memory.transact(pause)
    memory.finish("A", Succeeded(1))
    assert memory.statuses() == {"S": "succeeded", "A": "succeeded", "B": "ready"}
    assert memory.run.status is RunStatus.PAUSED
    memory.transact(unpause)
    memory.succeed_all()
    assert memory.run.status is RunStatus.SUCCEEDED


def test_the_last_step_of_a_paused_run_ends_it() -> None:
    memory = begun("S > A")
    memory.claim("A")
    memory.transact(pause)
    memory.finish("A", Succeeded(1))
    assert memory.run.status is RunStatus.SUCCEEDED
    assert [event.type for event in memory.events][-3:] == ["step.succeeded", "run.running", "run.succeeded"]


def test_a_question_may_be_answered_in_a_paused_run() -> None:
    memory = begun("S > P, P ?approved> A")
    memory.finish("P", Waits("approval", None, {}))
    memory.transact(pause)
    memory.on("P", lambda tx, row: answer(tx, row, port="approved", output=YES))
    assert memory.statuses()["A"] == "ready"
    assert memory.run.status is RunStatus.PAUSED


def test_an_unknown_outcome_may_be_decided_in_a_paused_run() -> None:
    memory = begun("S > A > B", policies={"A": Policy(delivery="at_most_once")})
    memory.finish("A", Crashed("killed"))
    memory.transact(pause)
    memory.on("A", lambda tx, row: decide_outcome(tx, row, "run_again"))
    assert (memory.statuses()["A"], memory.run.status) == ("ready", RunStatus.PAUSED)


def test_a_paused_run_may_be_cancelled_and_then_resumed() -> None:
    memory = begun("S > A > B")
    memory.transact(pause)
    memory.transact(cancel)
    assert memory.run.status is RunStatus.CANCELLED
    memory.transact(resume)
    assert memory.run.status is RunStatus.RUNNING


def test_a_resume_of_a_paused_run_reopens_what_failed_and_leaves_it_paused() -> None:
    memory = begun("S > A + B")
    memory.finish("A", BROKEN)
    memory.transact(pause)
    plan = memory.transact(resume)
    assert plan.again == ["A"]
    assert memory.run.generation == 2
    assert (memory.statuses()["A"], memory.run.status) == ("ready", RunStatus.PAUSED)


def test_a_paused_run_without_a_failure_has_nothing_to_resume() -> None:
    memory = begun("S > A")
    memory.transact(pause)
    with pytest.raises(NothingToResume):
        memory.transact(resume)


def test_only_a_running_run_is_paused_and_only_a_paused_one_unpaused() -> None:
    memory = begun("S > A")
    with pytest.raises(NotPossibleNow):
        memory.transact(unpause)
    memory.transact(pause)
    with pytest.raises(NotPossibleNow):
        memory.transact(pause)
    memory.transact(cancel)
    for act in (pause, unpause):
        with pytest.raises(NotPossibleNow):
            memory.transact(act)


# ---------------------------------------------------------------------- where it pauses by itself


def test_the_run_pauses_before_the_step_and_goes_on_past_it_once() -> None:
    memory = begun("S > A > B > C", stops=("B",))
    memory.finish("A", Succeeded(1))
    assert paused(memory) == ("paused", ("B",))
    assert memory.statuses()["B"] == "ready"
    assert memory.events[-1].data == {"at": "B"}
    memory.transact(unpause)
    assert paused(memory) == ("running", ())
    memory.succeed_all()
    assert memory.run.status is RunStatus.SUCCEEDED


def test_a_run_may_pause_before_its_first_step() -> None:
    memory = begun("S > A", stops=("A",))
    assert paused(memory) == ("paused", ("A",))
    assert [event.type for event in memory.events][-2:] == ["step.ready", "run.paused"]


def test_branches_beside_a_breakpoint_end_and_start_nothing() -> None:
    memory = begun("S > A > B, S > C > D", stops=("B",))
    memory.claim("C")
    memory.finish("A", Succeeded(1))
    memory.finish("C", Succeeded(1))
    assert paused(memory) == ("paused", ("B",))
    assert memory.statuses()["D"] == "ready"


def test_what_reaches_a_breakpoint_while_the_run_is_paused_is_held_too_and_told() -> None:
    memory = begun("S > A > B, S > C > D", stops=("B", "D"))
    memory.claim("C")
    memory.finish("A", Succeeded(1))
    memory.finish("C", Succeeded(1))
    assert paused(memory) == ("paused", ("B", "D"))
    assert [event.data for event in memory.events if event.type == "run.paused"] == [{"at": "B"}, {"at": "D"}]
    memory.transact(unpause)
    memory.succeed_all()
    assert memory.run.status is RunStatus.SUCCEEDED


def test_each_item_of_a_container_is_held_as_it_opens() -> None:
    memory = begun("S > E[X > Y]", stops=("X",))
    memory.finish("E", Fans([1, 2, 3], 2, "fail_at_end"))
    assert paused(memory) == ("paused", ("E[0].X", "E[1].X"))
    memory.transact(unpause)
    memory.finish("E[0].X", Succeeded(1))
    memory.finish("E[0].Y", Succeeded(1))
    assert paused(memory) == ("paused", ("E[2].X",))


def test_each_round_of_a_loop_is_held_and_the_loop_itself_once() -> None:
    memory = begun("S > L[X]", stops=("L", "X"), kinds={"L": "loop"})
    assert paused(memory) == ("paused", ("L",))
    memory.transact(unpause)
    memory.finish("L", Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last"))
    for index in range(2):
        assert paused(memory) == ("paused", (f"L[{index}].X",))
        memory.transact(unpause)
        memory.finish(f"L[{index}].X", Succeeded(index))
        assert paused(memory) == ("running", ())  # what asks for another round has begun long ago
        memory.finish("L", Again(wanted=index == 0))
    assert memory.run.status is RunStatus.SUCCEEDED


def test_a_path_holds_one_item_alone() -> None:
    memory = begun("S > E[X]", paths=("E[1].X",))
    memory.finish("E", Fans([1, 2, 3], 1, "fail_at_end"))
    memory.finish("E[0].X", Succeeded(1))
    assert paused(memory) == ("paused", ("E[1].X",))
    memory.transact(unpause)
    memory.succeed_all()
    assert memory.run.status is RunStatus.SUCCEEDED


def test_what_has_begun_is_not_held_again() -> None:
    memory = begun("S > A", stops=("A",), policies={"A": Policy(retry=Retry(attempts=3))})
    memory.transact(unpause)
    memory.finish("A", FLAKY)
    memory.on("A", retry_due)
    assert paused(memory) == ("running", ())
    memory.finish("A", Crashed("killed"))
    memory.finish("A", Stopped())
    assert paused(memory) == ("running", ())
    assert memory.statuses()["A"] == "ready"


def test_a_resume_that_reaches_the_step_anew_is_held_anew() -> None:
    memory = begun("S > A > B", stops=("A",))
    memory.transact(unpause)
    memory.finish("A", BROKEN)
    plan = memory.transact(resume)
    assert plan.again == ["A", "B"]
    assert paused(memory) == ("paused", ("A",))
    assert memory.run.generation == 2


def test_a_held_step_that_is_cancelled_is_no_longer_named() -> None:
    memory = begun("S > E[X > Y] > B", stops=("Y",))
    memory.finish("E", Fans([1, 2], 2, "fail_fast"))
    memory.claim("E[1].X")
    memory.finish("E[0].X", Succeeded(1))
    assert paused(memory) == ("paused", ("E[0].Y",))
    memory.finish("E[1].X", BROKEN)
    assert memory.statuses()["E[0].Y"] == "cancelled"
    assert paused(memory) == ("failed", ())


def test_a_cancelled_run_forgets_where_it_was_held() -> None:
    memory = begun("S > A + B", stops=("A",))
    memory.transact(cancel)
    assert paused(memory) == ("cancelled", ())


def test_nothing_is_held_where_the_run_is_being_cancelled() -> None:
    memory = begun("S > A > B, S > C")
    memory.claim("A")
    memory.transact(cancel)
    memory.transact(lambda tx: set_breakpoints(tx, Breakpoints(frozenset({"n_B"})), ready=[memory.by_path("C")]))
    assert memory.run.status is RunStatus.CANCELLING


def test_a_breakpoint_that_is_set_on_a_step_that_nobody_took_yet_holds_it() -> None:
    memory = begun("S > A + B")
    ready = [memory.by_path("A"), memory.by_path("B")]
    memory.transact(lambda tx: set_breakpoints(tx, Breakpoints(frozenset({"n_B"})), ready=ready))
    assert paused(memory) == ("paused", ("B",))
    memory.transact(unpause)
    memory.transact(lambda tx: set_breakpoints(tx, Breakpoints(frozenset({"n_B"})), ready=ready))
    assert paused(memory) == ("running", ())


def test_a_run_that_has_succeeded_takes_no_breakpoint() -> None:
    memory = begun("S > A")
    memory.succeed_all()
    with pytest.raises(NotPossibleNow):
        memory.transact(lambda tx: set_breakpoints(tx, Breakpoints(), ready=[]))


@pytest.mark.parametrize(
    "points",
    [
        Breakpoints(nodes=frozenset({"gone"})),
        Breakpoints(nodes=frozenset({"n_S"})),
        Breakpoints(paths=frozenset({"gone"})),
        Breakpoints(paths=frozenset({"S"})),
        Breakpoints(paths=frozenset({"X"})),
        Breakpoints(paths=frozenset({"E.X"})),
        Breakpoints(paths=frozenset({"E[1]"})),
        Breakpoints(paths=frozenset({"gone[1].X"})),
        Breakpoints(paths=frozenset({"E[0].E[1].X"})),
        Breakpoints(paths=frozenset({""})),
    ],
)
def test_a_breakpoint_that_could_never_hold_anything_is_refused(points: Breakpoints) -> None:
    memory = begun("S > E[X > F[Y]]")
    with pytest.raises(BadBreakpoint):
        memory.transact(lambda tx: set_breakpoints(tx, points, ready=[]))


def test_breakpoints_name_nodes_and_paths_at_any_depth() -> None:
    memory = begun("S > E[X > F[Y]]")
    points = Breakpoints(frozenset({"n_Y", "n_E"}), frozenset({"E", "E[0].X", "E[3].F[12].Y"}))
    assert what_is_wrong(memory.definition, points) is None
    assert from_json(as_json(points)) == points
    assert as_json(points)[0] == {"node": "n_E"}


# ---------------------------------------------------------------------- when it takes too long


def overdue(tx: Transition) -> None:
    pass_deadline(tx, deadline_s=60.0)


def error_code(memory: MemoryRun) -> object:
    return (memory.run.error or {}).get("code")


def test_a_run_that_takes_too_long_fails_and_what_is_open_is_cancelled_because_of_that() -> None:
    memory = begun("S > A > B, S > P")
    memory.finish("P", Waits("approval", None, {}))
    memory.finish("A", Succeeded(1))
    memory.transact(overdue)
    assert memory.statuses() == {"S": "succeeded", "A": "succeeded", "B": "cancelled", "P": "cancelled"}
    assert {memory.by_path(path).reason for path in "BP"} == {"deadline"}
    assert (memory.run.status, error_code(memory)) == (RunStatus.FAILED, "run_deadline")
    assert memory.events[-1].data == {"failed": [], "error": memory.run.error}


def test_a_body_that_runs_at_the_deadline_is_told_to_stop_and_the_run_ends_with_it() -> None:
    memory = begun("S > A > B, S > E[X]")
    memory.finish("E", Fans([1, 2], 1, "fail_at_end"))
    memory.claim("E[0].X")
    memory.claim("A")
    memory.transact(overdue)
    assert memory.run.status is RunStatus.CANCELLING
    memory.finish("A", Stopped())
    memory.finish("E[0].X", Crashed("killed"))
    assert memory.run.status is RunStatus.FAILED
    assert {row.reason for row in memory.rows.values() if row.status is StepStatus.CANCELLED} == {"deadline"}


def test_a_result_that_comes_just_after_the_deadline_is_taken_and_a_resume_then_goes_on_from_it() -> None:
    memory = begun("S > A > B")
    memory.claim("A")
    memory.transact(overdue)
    memory.finish("A", Succeeded(1))
    assert memory.run.status is RunStatus.FAILED
    assert memory.transact(resume).again == ["B"]
    assert (memory.run.status, memory.run.error) == (RunStatus.RUNNING, None)
    memory.succeed_all()
    assert memory.run.status is RunStatus.SUCCEEDED


@pytest.mark.parametrize("stop", [overdue, cancel])
def test_a_run_whose_last_step_succeeds_while_it_is_stopped_is_ended_well_by_a_resume(
    stop: Callable[[Transition], None],
) -> None:
    memory = begun("S > A")
    memory.claim("A")
    memory.transact(stop)
    memory.finish("A", Succeeded(1))
    assert memory.run.status in (RunStatus.FAILED, RunStatus.CANCELLED)
    with pytest.raises(NothingToResume):
        memory.transact(lambda tx: resume(tx, paths=["A"]))
    plan = memory.transact(resume)
    assert (plan.kept, plan.again) == (["S", "A"], [])
    assert (memory.run.status, memory.run.error) == (RunStatus.SUCCEEDED, None)


def test_an_unknown_outcome_at_the_deadline_stays_a_persons_decision() -> None:
    memory = begun("S > A > B", policies={"A": Policy(delivery="at_most_once")})
    memory.claim("A")
    memory.transact(overdue)
    memory.finish("A", Stopped())
    assert memory.by_path("A").reason == UNKNOWN_OUTCOME
    memory.transact(resume)
    assert memory.statuses()["A"] == "needs_decision"


def test_a_map_that_fails_fast_says_that_its_items_were_cancelled_not_overdue() -> None:
    memory = begun("S > E[X]")
    memory.finish("E", Fans([1, 2], 2, "fail_fast"))
    memory.finish("E[0].X", BROKEN)
    assert memory.by_path("E[1].X").reason == "cancelled"
    assert memory.run.error == {"code": "steps_failed", "message": "E: 1 of 2 items failed."}


def test_a_run_tells_the_first_of_its_failures_and_how_many_more_there_are() -> None:
    memory = begun("S > A + B + C")
    for path in "ABC":
        memory.finish(path, BROKEN)
    assert memory.run.error == {"code": "steps_failed", "message": "A: It broke. (and 2 more)"}


# ---------------------------------------------------------------------- nothing would ever be decided again


def test_what_a_lost_decision_left_pending_is_decided_anew() -> None:
    memory = begun("S > A > B")
    memory.by_path("A").status = StepStatus.PENDING
    memory.transact(recompute)
    assert memory.ready() == ["A"]


def test_a_cancel_that_stopped_half_way_ends_when_it_is_decided_anew() -> None:
    memory = begun("S > A > B")
    memory.run.status = RunStatus.CANCELLING
    memory.transact(recompute)
    assert memory.run.status is RunStatus.CANCELLED


def test_deciding_anew_changes_nothing_where_all_is_well() -> None:
    memory = begun("S > M[A] > B", kinds={"M": "map"})
    memory.finish("M", Fans((1, 2), window=2, on_item_failure="continue"))
    before = memory.run.event_seq
    memory.transact(recompute)
    assert memory.run.event_seq == before
