"""What a step that waits for a child run does, and what the two runs tell each other."""

from uuid import uuid4

import pytest

from builder.graph.model import Policy
from runs.core.children import ChildEnd, child_ended, child_refused
from runs.core.commands import cancel
from runs.core.outcomes import Error, Failed, Succeeded, Waits
from runs.core.resume import resume
from runs.core.rows import MOST_NESTED, RunRow, Stored
from runs.core.states import RunStatus
from tests.graphs import draw
from tests.memory import MemoryRun

CALL = Waits("child", None, {"workflow": "w", "version": None, "input": {"n": 1}})
ANSWERED = ChildEnd(RunStatus.SUCCEEDED, output=Stored(text="7"))
BROKEN = ChildEnd(RunStatus.FAILED, error={"code": "broken", "message": "It broke.", "data": {"number": 9}})


def waiting(**policies: Policy) -> MemoryRun:
    memory = MemoryRun(draw("S > C > K", plain="pass_through", policies=policies))
    memory.finish("C", CALL)
    return memory


def posted(memory: MemoryRun) -> list[tuple[str, int]]:
    return [(sent.kind, sent.step_run_id) for sent in memory.outbox]


def test_a_step_that_calls_waits_and_says_whom_it_calls() -> None:
    memory = waiting()
    assert (memory.statuses()["C"], memory.by_path("C").wait_kind) == ("waiting", "child")
    assert [(sent.kind, sent.data) for sent in memory.outbox] == [("call_child", CALL.data)]


def test_the_end_of_the_child_is_the_end_of_the_step() -> None:
    memory = waiting()
    assert memory.on("C", lambda tx, row: child_ended(tx, row, ANSWERED))
    assert memory.ready() == ["K"]
    assert posted(memory) == [("call_child", memory.by_path("C").id)]


def test_a_child_that_failed_fails_the_step_with_its_error() -> None:
    memory = waiting()
    memory.on("C", lambda tx, row: child_ended(tx, row, BROKEN))
    assert memory.by_path("C").error == BROKEN.error
    assert memory.run.status == "failed"
    memory.transact(resume)
    memory.finish("C", CALL)
    assert [kind for kind, _ in posted(memory)] == ["call_child", "call_child"]


def test_a_child_that_failed_without_a_word_is_told_of_all_the_same() -> None:
    memory = waiting(C=Policy(on_error="fallback"))
    memory.on("C", lambda tx, row: child_ended(tx, row, ChildEnd(RunStatus.FAILED)))
    assert (memory.by_path("C").error or {})["code"] == "child_failed"
    assert memory.ready() == ["K"]


def test_a_refusal_fails_the_step() -> None:
    memory = waiting()
    memory.on("C", lambda tx, row: child_refused(tx, row, {"code": "cannot_call", "message": "No such workflow."}))
    assert (memory.by_path("C").error or {})["code"] == "cannot_call"


def test_an_end_that_comes_twice_or_too_late_changes_nothing() -> None:
    memory = waiting()
    memory.on("C", lambda tx, row: child_ended(tx, row, ANSWERED))
    seq = memory.run.event_seq
    assert not memory.on("C", lambda tx, row: child_ended(tx, row, BROKEN))
    stopped = waiting()
    stopped.transact(cancel)
    assert not stopped.on("C", lambda tx, row: child_ended(tx, row, ANSWERED))
    assert (memory.run.event_seq, stopped.statuses()["C"]) == (seq, "cancelled")


def test_a_child_that_succeeds_after_its_step_has_failed_waits_for_a_resume_of_the_step() -> None:
    memory = waiting()
    memory.on("C", lambda tx, row: child_ended(tx, row, BROKEN))
    assert not memory.on("C", lambda tx, row: child_ended(tx, row, ANSWERED))
    assert memory.statuses()["C"] == "failed"


def test_a_step_that_no_longer_waits_has_its_child_stopped() -> None:
    memory = waiting()
    memory.transact(cancel)
    assert [kind for kind, _ in posted(memory)] == ["call_child", "stop_child"]


@pytest.mark.parametrize(("depth", "status"), [(MOST_NESTED - 1, "waiting"), (MOST_NESTED, "failed")])
def test_nesting_has_an_end(depth: int, status: str) -> None:
    run = RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, depth=depth)
    memory = MemoryRun(draw("S > C", plain="pass_through"), run=run)
    memory.finish("C", CALL)
    assert memory.statuses()["C"] == status
    assert bool(memory.outbox) == (status == "waiting")


@pytest.mark.parametrize("outcome", [Succeeded(1), Failed(Error("broken", "It broke."))])
def test_a_child_tells_its_parent_that_it_has_ended(outcome: Succeeded | Failed) -> None:
    run = RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, parent_step_id=5, depth=1)
    memory = MemoryRun(draw("S > A", plain="pass_through"), run=run)
    memory.finish("A", outcome)
    assert posted(memory) == [("child_done", 5)]
