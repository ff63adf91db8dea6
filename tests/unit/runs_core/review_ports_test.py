"""What a hostile reader found in the core: which way the flow leaves a step that did not end by itself."""

import pytest

from builder.graph.model import Policy
from runs.core.commands import NotPossibleNow, decide_outcome, expire
from runs.core.outcomes import Crashed, Error, Failed, Waits
from runs.core.rows import Stored
from tests.graphs import draw
from tests.memory import MemoryRun


def test_a_question_that_nobody_answered_approves_nothing_although_it_has_a_fallback() -> None:
    memory = MemoryRun(
        draw(
            "S > P, P ?approved> A, P ?rejected> R",
            plain="pass_through",
            policies={"P": Policy(on_error="fallback", fallback={"decision": "none"})},
        )
    )
    memory.finish("P", Waits("approval", 60.0, {}))
    memory.on("P", expire)
    assert "A" not in memory.ready(), "it was paid for although nobody approved"
    assert not {"A", "R"} <= set(memory.ready())


def test_a_branch_that_fails_with_a_fallback_does_not_take_both_ways() -> None:
    memory = MemoryRun(
        draw(
            "S > I, I ?true> A, I ?false> B",
            plain="pass_through",
            policies={"I": Policy(on_error="fallback", fallback=None)},
        )
    )
    memory.finish("I", Failed(Error("expression_undefined", "no such name")))
    assert not {"A", "B"} <= set(memory.ready())


def test_a_step_that_a_person_skips_does_not_also_leave_by_its_error_port() -> None:
    memory = MemoryRun(
        draw(
            "S > A, A > B, A !> H",
            plain="pass_through",
            policies={"A": Policy(delivery="at_most_once", on_error="port")},
        )
    )
    memory.finish("A", Crashed("killed"))
    memory.on("A", lambda tx, row: decide_outcome(tx, row, "skip"))
    assert memory.ready() == ["B"]
    assert memory.statuses()["H"] == "skipped"


def test_a_question_whose_step_was_lost_is_not_answered_by_saying_that_it_happened() -> None:
    memory = MemoryRun(
        draw(
            "S > P, P ?approved> A, P ?rejected> R",
            plain="pass_through",
            policies={"P": Policy(delivery="at_most_once")},
        )
    )
    memory.finish("P", Crashed("killed"))
    with pytest.raises(NotPossibleNow, match="nobody knows by which"):
        memory.on("P", lambda tx, row: decide_outcome(tx, row, "happened", output=Stored(text="1")))
    assert memory.statuses()["P"] == "needs_decision"
