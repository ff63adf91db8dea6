"""Waits: for a person, for a time; and what people may do at which moment."""

import pytest

from builder.graph.model import Graph, Policy
from runs.core.commands import NotPossibleNow, answer, cancel, decide_outcome, expire, timer_due
from runs.core.outcomes import Crashed, Error, Failed, Fans, Succeeded, Waits
from runs.core.rows import Row, Stored
from runs.core.states import RunStatus
from runs.core.transition import Transition
from tests.graphs import draw
from tests.memory import MemoryRun

YES = Stored(text='{"decision":"approved"}')
BROKEN = Failed(Error("broken", "It broke."))


def graph(drawing: str, **options: object) -> Graph:
    return draw(drawing, plain="pass_through", **options)


def asked(drawing: str = "S > P, P ?approved> A, P ?rejected> B", **options: object) -> MemoryRun:
    memory = MemoryRun(graph(drawing, **options))
    memory.finish("P", Waits("approval", 60.0, {}))
    assert memory.statuses()["P"] == "waiting"
    return memory


def approve(tx: Transition, row: Row) -> None:
    answer(tx, row, port="approved", output=YES)


def test_an_answer_takes_its_port_and_closes_the_wait() -> None:
    memory = asked()
    memory.on("P", approve)
    assert memory.statuses() == {"S": "succeeded", "P": "succeeded", "A": "ready", "B": "skipped"}


def test_a_second_answer_is_refused() -> None:
    memory = asked()
    memory.on("P", approve)
    with pytest.raises(NotPossibleNow):
        memory.on("P", approve)


def test_the_first_answer_does_not_answer_the_next_question() -> None:
    memory = asked("S > P > A > P2 > B")
    memory.on("P", lambda tx, row: answer(tx, row, port="out", output=YES))
    memory.finish("A", Succeeded(1))
    memory.finish("P2", Waits("approval", None, {}))
    assert memory.statuses()["P2"] == "waiting"
    assert memory.statuses()["B"] == "pending"


def test_a_wait_that_nobody_answers_fails_as_the_policy_says() -> None:
    memory = asked("S > P > A, P !> B", policies={"P": Policy(on_error="port")})
    memory.on("P", expire)
    assert memory.statuses() == {"S": "succeeded", "P": "failed", "A": "skipped", "B": "ready"}
    assert memory.attempts[-1].outcome == "timed_out"


def test_a_timer_goes_on_by_itself() -> None:
    memory = MemoryRun(graph("S > D > A"))
    memory.finish("D", Waits("timer", 2.0, {}))
    memory.on("D", timer_due)
    assert memory.statuses()["A"] == "ready"


def test_an_answer_in_a_paused_run_may_end_it() -> None:
    memory = asked("S > P")
    memory.run.status = RunStatus.PAUSED
    memory.on("P", approve)
    assert memory.run.status == "succeeded"


def test_only_an_open_question_is_decided() -> None:
    memory = MemoryRun(graph("S > A > B", policies={"A": Policy(delivery="at_most_once")}))
    with pytest.raises(NotPossibleNow):
        memory.on("A", lambda tx, row: decide_outcome(tx, row, "skip"))


def test_nothing_is_decided_in_a_run_that_is_being_cancelled() -> None:
    memory = MemoryRun(graph("S > A > B", policies={"A": Policy(delivery="at_most_once")}))
    memory.finish("A", Crashed("killed"))
    memory.run.status = RunStatus.CANCELLING
    with pytest.raises(NotPossibleNow):
        memory.on("A", lambda tx, row: decide_outcome(tx, row, "skip"))


def test_a_run_that_has_ended_is_not_cancelled() -> None:
    memory = MemoryRun(graph("S > A"))
    memory.succeed_all()
    with pytest.raises(NotPossibleNow):
        memory.transact(cancel)


def test_a_map_that_fails_fast_closes_the_questions_of_its_other_items() -> None:
    memory = MemoryRun(graph("S > E[P]"))
    memory.finish("E", Fans([1, 2], 32, "fail_fast"))
    memory.finish("E[0].P", Waits("approval", None, {}))
    memory.finish("E[1].P", BROKEN)
    assert memory.statuses()["E[0].P"] == "cancelled"
    assert memory.statuses()["E"] == "failed"
