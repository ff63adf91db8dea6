"""Resume: what failed runs again, what was kept from running follows, and nothing finished is touched."""

from collections.abc import Callable

import pytest

from builder.graph.model import Graph, Policy, Retry
from runs.core.commands import cancel, decide_outcome, retry_due
from runs.core.outcomes import Crashed, Error, Failed, Fans, Outcome, Stopped, Succeeded, TimedOut, Waits
from runs.core.resume import NothingToResume, resume
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))


def graph(drawing: str, **options: object) -> Graph:
    return draw(drawing, plain="pass_through", **options)


def failed_at_b() -> MemoryRun:
    memory = MemoryRun(graph("S > A > B > C > D"))
    memory.finish("A", Succeeded(1))
    memory.finish("B", BROKEN)
    assert memory.run.status == "failed"
    return memory


def starts(memory: MemoryRun) -> list[str | None]:
    return [event.path for event in memory.events if event.type == "step.running"]


def test_it_goes_on_from_the_failed_step_in_the_same_run() -> None:
    memory = failed_at_b()
    plan = memory.transact(resume)
    assert plan.kept == ["S", "A"]
    assert plan.again == ["B", "C", "D"]
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert memory.run.generation == 2
    assert starts(memory) == ["A", "B", "B", "C", "D"]
    assert memory.by_path("B").attempt == 2


def test_the_preview_changes_nothing_and_says_what_the_act_then_does() -> None:
    memory = failed_at_b()
    before = (memory.statuses(), memory.run.event_seq)
    preview = memory.preview(resume)
    assert (memory.statuses(), memory.run.event_seq) == before
    assert memory.transact(resume) == preview


def test_a_second_resume_finds_nothing_to_do() -> None:
    memory = failed_at_b()
    memory.transact(resume)
    with pytest.raises(NothingToResume):
        memory.transact(resume)


def test_a_running_step_is_not_restarted() -> None:
    memory = MemoryRun(graph("S > A > B"))
    memory.claim("A")
    with pytest.raises(NothingToResume):
        memory.transact(resume)
    memory.finish("A", Succeeded(1))
    assert starts(memory) == ["A"]


def test_a_succeeded_run_is_final() -> None:
    memory = MemoryRun(graph("S > A"))
    memory.succeed_all()
    with pytest.raises(NothingToResume):
        memory.transact(resume)


def test_it_fails_again_when_it_fails_again() -> None:
    memory = failed_at_b()
    memory.transact(resume)
    memory.finish("B", BROKEN)
    assert memory.run.status == "failed"
    assert memory.statuses()["C"] == "skipped"


def test_retries_are_counted_anew() -> None:
    retry = Policy(retry=Retry(attempts=2))
    memory = MemoryRun(graph("S > A", policies={"A": retry}))
    flaky = Failed(Error("flaky", "Try again.", retryable=True))
    memory.finish("A", flaky)
    assert memory.statuses()["A"] == "retry_wait"
    memory.on("A", retry_due)
    memory.finish("A", flaky)
    assert memory.statuses()["A"] == "failed"
    memory.transact(resume)
    memory.finish("A", flaky)
    assert memory.statuses()["A"] == "retry_wait"
    assert memory.by_path("A").attempt == 3


def test_a_running_run_with_a_failed_branch_resumes_without_disturbing_the_other() -> None:
    memory = MemoryRun(graph("S > A > C, S > B > D"))
    memory.finish("A", BROKEN)
    memory.claim("B")
    fence = memory.by_path("B").fence
    memory.transact(resume)
    assert memory.statuses() == {"S": "succeeded", "A": "ready", "C": "pending", "B": "running", "D": "pending"}
    assert memory.by_path("B").fence == fence
    memory.finish("B", Succeeded(1))
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_only_what_was_chosen_runs_again() -> None:
    memory = MemoryRun(graph("S > A > C, S > B > D"))
    memory.finish("A", BROKEN)
    memory.finish("B", BROKEN)
    plan = memory.transact(lambda tx: resume(tx, paths=["A"]))
    assert plan.again == ["A", "C"]
    memory.succeed_all()
    assert memory.run.status == "failed"
    memory.transact(resume)
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_what_was_skipped_by_its_branch_stays_skipped() -> None:
    memory = MemoryRun(graph("S > I, I ?true> A > B, I ?false> C"))
    memory.finish("I", Succeeded(None, "true"))
    memory.finish("A", BROKEN)
    plan = memory.transact(resume)
    assert plan.again == ["A", "B"]
    assert memory.statuses()["C"] == "skipped"


def test_what_was_overtaken_stays_skipped() -> None:
    policies = {"J": Policy(on_upstream_failure="default")}
    memory = MemoryRun(graph("S > A > B > J", policies=policies))
    memory.finish("A", BROKEN)
    memory.finish("J", Succeeded(1))
    plan = memory.transact(resume)
    assert plan.again == ["A"]
    memory.finish("A", Succeeded(1))
    assert memory.statuses()["B"] == "skipped"
    assert memory.run.status == "succeeded"


def test_what_failed_because_of_a_chosen_step_goes_on_with_it() -> None:
    memory = MemoryRun(graph("S > A > B", policies={"B": Policy(on_upstream_failure="fail")}))
    memory.finish("A", BROKEN)
    assert memory.statuses()["B"] == "failed"
    memory.transact(lambda tx: resume(tx, paths=["A"]))
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_what_a_failed_successor_overtook_runs_again_before_it() -> None:
    memory = MemoryRun(graph("S > A > B > J", policies={"J": Policy(on_upstream_failure="default")}))
    memory.finish("A", BROKEN)
    memory.finish("J", BROKEN)
    memory.transact(resume)
    memory.succeed_all()
    assert starts(memory) == ["A", "J", "A", "B", "J"]
    assert memory.run.status == "succeeded"


def test_a_blocked_step_goes_on_when_its_predecessor_is_mended() -> None:
    memory = MemoryRun(graph("S > A > B", policies={"B": Policy(on_upstream_failure="wait")}))
    memory.finish("A", BROKEN)
    assert memory.run.status == "running"
    memory.transact(resume)
    memory.succeed_all()
    assert memory.run.status == "succeeded"


@pytest.mark.parametrize("act", [resume], ids=["resume"])
def test_a_cancelled_run_goes_on_from_where_it_was(act: Callable[..., object]) -> None:
    memory = MemoryRun(graph("S > A > B"))
    memory.finish("A", Succeeded(1))
    memory.transact(cancel)
    assert memory.run.status == "cancelled"
    memory.transact(act)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory) == ["A", "B"]


# ---------------------------------------------------------------------- maps


def a_map(items: list[object], *, window: int = 32, on_item_failure: str = "fail_at_end") -> MemoryRun:
    memory = MemoryRun(graph("S > E[X > Y] > K"))
    memory.finish("E", Fans(items, window, on_item_failure))
    return memory


def test_a_map_without_items_is_done_at_once_and_again_after_a_resume() -> None:
    memory = MemoryRun(graph("S > E[X > Y] > K"))
    memory.finish("E", Fans([], 32, "fail_at_end"))
    memory.finish("K", BROKEN)
    memory.transact(resume)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert "E[0].X" not in memory.statuses()


def test_resume_runs_only_the_unfinished_steps_of_a_map() -> None:
    memory = a_map(list("abcd"))
    for index in range(4):
        memory.finish(f"E[{index}].X", Succeeded(1))
    for index in (0, 1, 3):
        memory.finish(f"E[{index}].Y", Succeeded(1))
    memory.finish("E[2].Y", BROKEN)
    assert memory.statuses()["E"] == "failed"
    assert memory.run.status == "failed"
    memory.transact(resume)
    assert memory.ready() == ["E[2].Y"]
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory).count("E[2].Y") == 2
    assert all(starts(memory).count(f"E[{index}].X") == 1 for index in range(4))


def test_the_window_bounds_what_is_open_also_on_a_resume() -> None:
    memory = a_map(list(range(6)), window=2)
    played = 0
    while ready := memory.ready():
        assert len(ready) <= 2
        memory.finish(ready[0], BROKEN)
        played += 1
    assert played == 6
    memory.transact(resume)
    assert memory.ready() == ["E[0].X", "E[1].X"]
    while ready := [path for path in memory.ready() if path.startswith("E[")]:
        assert len(ready) <= 2
        memory.finish(ready[0], Succeeded(1))
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_fail_fast_cancels_open_items_and_a_resume_takes_them_up() -> None:
    memory = a_map(list(range(4)), window=3, on_item_failure="fail_fast")
    memory.claim("E[1].X")
    memory.finish("E[0].X", BROKEN)
    statuses = memory.statuses()
    assert (statuses["E"], statuses["E[1].X"], statuses["E[2].X"]) == ("failed", "cancelled", "cancelled")
    assert "E[3].X" not in statuses
    memory.transact(resume)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert memory.statuses()["E[3].Y"] == "succeeded"


def test_continue_takes_what_succeeded() -> None:
    memory = a_map([1, 2], on_item_failure="continue")
    memory.finish("E[0].X", BROKEN)
    memory.finish("E[1].X", Succeeded(1))
    memory.finish("E[1].Y", Succeeded(1))
    memory.succeed_all()
    assert memory.statuses()["E"] == "succeeded"
    assert memory.run.status == "succeeded"


def test_steps_that_never_came_to_be_are_not_skipped_by_a_resume() -> None:
    memory = MemoryRun(graph("S > G > E[X > Y] > K"))
    memory.finish("G", BROKEN)
    memory.transact(resume)
    memory.succeed_all(items={"E": [1, 2, 3]})
    assert memory.run.status == "succeeded"
    assert [path for path in memory.statuses() if path.endswith(".Y")] == ["E[0].Y", "E[1].Y", "E[2].Y"]


def test_a_cancel_in_the_middle_of_a_map_keeps_what_was_done() -> None:
    memory = a_map(list(range(5)), window=2)
    memory.finish("E[0].X", Succeeded(1))
    memory.claim("E[1].X")
    memory.transact(cancel)
    assert memory.run.status == "cancelling"
    memory.finish("E[1].X", Succeeded(1))
    assert memory.run.status == "cancelled"
    memory.transact(resume)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory).count("E[0].X") == starts(memory).count("E[1].X") == 1


def test_nested_maps_resume_inside_the_item_that_failed() -> None:
    memory = MemoryRun(graph("S > E[F[X] > Z] > K"))
    memory.finish("E", Fans([1, 2], 32, "fail_at_end"))
    for index in (0, 1):
        memory.finish(f"E[{index}].F", Fans(["a", "b"], 32, "fail_at_end"))
    for path in list(memory.ready()):
        memory.finish(path, BROKEN if path == "E[1].F[1].X" else Succeeded(1))
    memory.succeed_all()
    assert memory.run.status == "failed"
    memory.transact(resume)
    assert memory.ready() == ["E[1].F[1].X"]
    memory.succeed_all()
    assert memory.run.status == "succeeded"


# ---------------------------------------------------------------------- crashes and decisions


def at_most_once() -> MemoryRun:
    memory = MemoryRun(graph("S > A > B", policies={"A": Policy(delivery="at_most_once")}))
    memory.finish("A", Crashed("killed"))
    return memory


def test_a_lost_step_that_may_have_acted_once_waits_for_a_decision() -> None:
    memory = at_most_once()
    assert memory.statuses()["A"] == "needs_decision"
    assert memory.run.status == "running"
    with pytest.raises(NothingToResume):
        memory.transact(resume)


@pytest.mark.parametrize(
    ("decision", "status", "edition"),
    [("happened", "succeeded", 1), ("not_happened", "ready", 1), ("run_again", "ready", 2), ("skip", "skipped", 1)],
)
def test_each_decision(decision: str, status: str, edition: int) -> None:
    memory = at_most_once()
    memory.on("A", lambda tx, row: decide_outcome(tx, row, decision))
    assert memory.statuses()["A"] == status
    assert memory.by_path("A").edition == edition
    assert (memory.statuses()["B"] == "ready") == (decision in ("happened", "skip"))
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_an_unknown_outcome_still_needs_a_decision_after_a_cancel_and_a_resume() -> None:
    memory = at_most_once()
    memory.transact(cancel)
    assert memory.run.status == "cancelled"
    assert memory.transact(resume).again == ["B"]
    assert memory.statuses()["A"] == "needs_decision"
    memory.on("A", lambda tx, row: decide_outcome(tx, row, "happened"))
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory) == ["A", "B"]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(Crashed("killed"), "needs_decision"), (TimedOut(1.0), "needs_decision"), (Stopped(), "needs_decision"),
     (BROKEN, "ready")],
    ids=["crashed", "timed_out", "stopped", "failed"],
)  # fmt: skip
def test_a_step_stopped_by_a_cancel_runs_again_by_itself_only_if_it_surely_did_not_act(
    outcome: Outcome, status: str
) -> None:
    memory = MemoryRun(graph("S > A > B", policies={"A": Policy(delivery="at_most_once")}))
    memory.claim("A")
    memory.transact(cancel)
    memory.finish("A", outcome)
    assert memory.run.status == "cancelled"
    memory.transact(resume)
    assert memory.statuses()["A"] == status


def test_crashes_have_a_budget_of_their_own() -> None:
    memory = MemoryRun(graph("S > A"))
    memory.finish("A", Crashed("killed"))
    assert memory.statuses()["A"] == "ready"
    memory.finish("A", Crashed("killed"))
    assert memory.statuses()["A"] == "retry_wait"
    memory.on("A", retry_due)
    memory.finish("A", Crashed("killed"))
    assert memory.statuses()["A"] == "failed"
    assert memory.by_path("A").error is not None
    assert memory.by_path("A").error["code"] == "worker_lost"


def test_a_wait_is_cancelled_and_opened_anew() -> None:
    memory = MemoryRun(graph("S > P > B"))
    memory.finish("P", Waits("approval", None, {}))
    memory.transact(cancel)
    assert memory.run.status == "cancelled"
    memory.transact(resume)
    memory.finish("P", Waits("approval", None, {}))
    assert memory.by_path("P").attempt == 2


def test_a_time_out_is_retried_and_where_it_may_have_acted_decided() -> None:
    memory = MemoryRun(graph("S > A", policies={"A": Policy(retry=Retry(attempts=2))}))
    memory.finish("A", TimedOut(1.0))
    assert memory.statuses()["A"] == "retry_wait"
    once = MemoryRun(graph("S > A", policies={"A": Policy(delivery="at_most_once")}))
    once.finish("A", TimedOut(1.0))
    assert once.statuses()["A"] == "needs_decision"


def test_what_two_failures_kept_from_running_runs_once_after_both() -> None:
    memory = MemoryRun(graph("S > A + B > C > D"))
    memory.finish("A", BROKEN)
    memory.finish("B", BROKEN)
    assert memory.transact(resume).again == ["A", "B", "C", "D"]
    memory.succeed_all()
    assert starts(memory) == ["A", "B", "A", "B", "C", "D"]
