"""What comes of steps that are opened again, and end again in the very same transition."""

from contextlib import suppress

import pytest

from builder.graph.model import Policy
from runs.core.commands import cancel
from runs.core.outcomes import Error, Failed, Fans, Succeeded
from runs.core.repair import skip
from runs.core.resume import NothingToResume, resume
from runs.core.transition import Transition
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))
# X is left out because A failed, J goes on without it, and F cannot: no resume runs X or F any more.
LEFT_OUT = {"J": Policy(on_upstream_failure="default"), "F": Policy(on_upstream_failure="fail")}


def begun(drawing: str, **policies: Policy) -> MemoryRun:
    return MemoryRun(draw(drawing, plain="pass_through", policies=policies))


def with_an_item_that_no_resume_can_mend(*, items: int = 1, policy: str = "fail_at_end") -> MemoryRun:
    memory = begun("S > E[A > X, X > J, X > F] > O", **LEFT_OUT)
    memory.finish("E", Fans([*range(items)], 1, policy))
    memory.finish("E[0].A", BROKEN)
    memory.finish("E[0].J", Succeeded(1))
    return memory


def test_a_container_that_is_opened_and_outrun_by_one_resume_leaves_nothing_open() -> None:
    memory = begun("S > A > J, S > E[X] > J", J=Policy(join="first"))
    memory.finish("E", Fans([1, 2], 2, "fail_fast"))
    memory.finish("E[0].X", BROKEN)
    memory.finish("A", Succeeded(1))
    memory.transact(cancel)
    memory.transact(resume)
    assert memory.ready() == ["J"]
    assert [memory.statuses()[path] for path in ("E", "E[0].X", "E[1].X")] == ["cancelled"] * 3
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_an_item_that_fails_again_as_soon_as_it_is_opened_still_counts_as_failed() -> None:
    memory = with_an_item_that_no_resume_can_mend()
    memory.transact(resume)
    memory.finish("E[0].A", Succeeded(1))
    assert (memory.statuses()["E[0].F"], memory.statuses()["E"], memory.run.status) == ("failed", "failed", "failed")
    with pytest.raises(NothingToResume):
        memory.transact(resume)
    memory.on("E[0].F", skip)
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_a_map_that_fails_fast_opens_nothing_behind_an_item_that_fails_again_at_once() -> None:
    memory = with_an_item_that_no_resume_can_mend(items=2, policy="fail_fast")
    memory.transact(resume)
    memory.finish("E[0].A", Succeeded(1))
    memory.transact(resume_anyway)
    assert (memory.statuses()["E"], "E[1].A" in memory.statuses()) == ("failed", False)


def resume_anyway(tx: Transition) -> None:
    with suppress(NothingToResume):
        resume(tx)


def with_a_step_that_no_resume_can_run() -> MemoryRun:
    policies = {"J": Policy(on_upstream_failure="default"), "W": Policy(on_upstream_failure="wait")}
    memory = begun("S > A > X > J, X > W", **policies)
    memory.finish("A", BROKEN)
    memory.finish("J", Succeeded(1))
    assert memory.transact(resume).again == ["A"]
    memory.finish("A", Succeeded(1))
    return memory


def test_a_resume_that_would_only_block_the_same_step_again_is_refused() -> None:
    memory = with_a_step_that_no_resume_can_run()
    assert (memory.statuses()["W"], memory.run.status) == ("blocked", "running")
    with pytest.raises(NothingToResume, match="skip it"):
        memory.transact(resume)
    memory.on("W", skip)
    assert memory.run.status == "succeeded"


def test_a_cancelled_run_in_which_nothing_but_a_blocked_step_is_left_opens_for_a_person() -> None:
    memory = with_a_step_that_no_resume_can_run()
    memory.transact(cancel)
    assert memory.transact(resume).again == []
    assert (memory.statuses()["W"], memory.run.status) == ("blocked", "running")


def test_a_resume_of_one_step_of_a_cancelled_run_takes_up_all_that_was_stopped() -> None:
    memory = begun("S > A > B, S > C")
    memory.transact(cancel)
    assert set(memory.transact(lambda tx: resume(tx, paths=["B"])).again) == {"A", "B", "C"}
    memory.succeed_all()
    assert memory.run.status == "succeeded"
