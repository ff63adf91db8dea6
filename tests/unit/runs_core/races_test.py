"""Joins that ask for less than all: any, the first, k of n."""

import pytest

from builder.graph.model import Policy
from runs.core.commands import cancel
from runs.core.outcomes import Error, Failed, Fans, Succeeded
from runs.core.resume import NothingToResume, resume
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))


def joined(drawing: str, join: str, count: int | None = None, **policies: Policy) -> MemoryRun:
    policies = {"J": Policy(join=join, join_count=count), **policies}
    return MemoryRun(draw(drawing, plain="pass_through", policies=policies))


def started(memory: MemoryRun) -> list[str | None]:
    return [event.path for event in memory.events if event.type == "step.running"]


def test_any_goes_on_with_the_first_and_lets_the_others_run_on() -> None:
    memory = joined("S > A + B > J > O", "any")
    memory.finish("A", Succeeded(1))
    assert memory.statuses() == {**memory.statuses(), "B": "ready", "J": "ready"}
    memory.finish("J", Succeeded(1))
    memory.finish("O", Succeeded(1))
    assert memory.run.status == "running"
    memory.finish("B", Succeeded(1))
    assert memory.run.status == "succeeded"
    assert started(memory) == ["A", "J", "O", "B"]


def test_any_waits_while_what_came_was_not_live() -> None:
    memory = joined("S > I + B, I ?true> A > J, B > J", "any")
    memory.finish("I", Succeeded(None, "false"))
    assert memory.statuses()["J"] == "pending"
    memory.finish("B", Succeeded(1))
    assert memory.statuses()["J"] == "ready"


def test_the_first_stops_what_leads_only_to_it() -> None:
    memory = joined("S > A + B > J, S > C > K, C > J", "first")
    memory.claim("B")
    fence = memory.by_path("B").fence
    assert fence is not None
    memory.finish("A", Succeeded(1))
    assert memory.statuses() == {**memory.statuses(), "B": "cancelled", "C": "ready", "J": "ready", "K": "pending"}
    assert (memory.by_path("B").fence, memory.by_path("B").reason) == (None, "outrun")
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_the_first_stops_a_whole_container_with_what_runs_in_it() -> None:
    memory = joined("S > A > J, S > E[X] > Y > J", "first")
    memory.finish("E", Fans([1, 2, 3], 2, "fail_at_end"))
    memory.claim("E[0].X")
    memory.finish("A", Succeeded(1))
    assert [memory.statuses()[path] for path in ("E", "E[0].X", "E[1].X", "Y")] == ["cancelled"] * 4
    memory.finish("J", Succeeded(1))
    assert memory.run.status == "succeeded"


def test_a_resume_never_starts_a_loser_again() -> None:
    memory = joined("S > A + B > J > O", "first")
    memory.finish("A", Succeeded(1))
    memory.finish("J", BROKEN)
    assert memory.run.status == "failed"
    assert memory.transact(resume).again == ["J", "O"]
    memory.succeed_all()
    assert started(memory) == ["A", "J", "J", "O"]
    assert memory.statuses()["B"] == "cancelled"


def test_a_resume_of_something_else_starts_no_way_that_failed_before_another_was_first() -> None:
    memory = joined("S > A + B > J, S > K", "first")
    memory.finish("B", BROKEN)
    memory.finish("A", Succeeded(1))
    memory.finish("J", Succeeded(1))
    memory.finish("K", BROKEN)
    assert memory.transact(resume).again == ["K"]
    assert memory.statuses()["B"] == "failed"


def test_a_cancelled_run_resumes_its_race_without_the_losers() -> None:
    memory = joined("S > A + B > J", "first")
    memory.finish("A", Succeeded(1))
    memory.transact(cancel)
    assert memory.transact(resume).again == ["J"]
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_a_loser_that_may_have_acted_says_so_and_asks_nobody() -> None:
    memory = joined("S > A + B > J", "first", B=Policy(delivery="at_most_once"))
    memory.claim("B")
    memory.finish("A", Succeeded(1))
    stopped = next(event for event in memory.events if event.type == "step.cancelled")
    assert stopped.data == {"reason": "outrun", "outcome": "unknown"}
    memory.finish("J", BROKEN)
    memory.transact(resume)
    assert memory.statuses()["B"] == "cancelled"


def test_k_of_n_goes_on_with_k_and_not_before() -> None:
    memory = joined("S > A + B + C > J", "count", 2)
    memory.finish("A", Succeeded(1))
    assert memory.statuses()["J"] == "pending"
    memory.finish("C", Succeeded(1))
    assert memory.statuses()["J"] == "ready"
    memory.succeed_all()
    assert started(memory).count("J") == 1


def test_k_of_n_is_left_out_where_fewer_are_live() -> None:
    memory = joined("S > I + B, I ?true> J, I ?false> J, I ?neither> A > J, B > J", "count", 3)
    memory.finish("I", Succeeded(None, "true"))
    memory.finish("B", Succeeded(1))
    assert memory.by_path("J").reason == "not_taken"
    assert memory.run.status == "succeeded"


@pytest.mark.parametrize("join", ["any", "first", "count"])
def test_a_failure_that_leads_only_to_a_join_that_went_on_fails_nothing(join: str) -> None:
    memory = joined("S > A > X > J, S > B > J", join, 1)
    memory.finish("A", BROKEN)
    assert memory.run.status == "running"
    memory.finish("B", Succeeded(1))
    memory.finish("J", Succeeded(1))
    assert memory.run.status == "succeeded"


def test_a_failure_that_also_leads_elsewhere_fails_the_run() -> None:
    memory = joined("S > A > J, A > K, S > B > J", "any")
    memory.finish("B", Succeeded(1))
    memory.finish("J", Succeeded(1))
    memory.finish("A", BROKEN)
    assert memory.run.status == "failed"
    memory.transact(resume)
    memory.succeed_all()
    assert (memory.run.status, started(memory).count("J")) == ("succeeded", 1)


def test_a_failed_item_is_made_up_for_inside_a_map_as_well() -> None:
    memory = MemoryRun(draw("S > E[A > J, B > J] > K", plain="pass_through", policies={"J": Policy(join="any")}))
    memory.finish("E", Fans([1], 1, "fail_at_end"))
    memory.finish("E[0].A", BROKEN)
    memory.finish("E[0].B", Succeeded(1))
    memory.finish("E[0].J", Succeeded(1))
    assert memory.statuses()["K"] == "ready"


def test_any_follows_the_failures_where_no_way_is_live() -> None:
    memory = joined("S > A + B > J", "any")
    memory.finish("A", BROKEN)
    assert memory.statuses()["J"] == "pending"
    memory.finish("B", BROKEN)
    assert memory.by_path("J").reason == "upstream_failed"
    assert memory.run.status == "failed"
    assert memory.transact(resume).again == ["A", "B", "J"]
    memory.finish("B", Succeeded(1))
    assert memory.statuses()["J"] == "ready"


def test_a_join_that_failed_unrun_makes_up_for_nothing() -> None:
    memory = joined("S > A + B > J", "any", J=Policy(join="any", on_upstream_failure="fail"))
    memory.finish("A", BROKEN)
    memory.finish("B", BROKEN)
    assert memory.run.status == "failed"
    assert memory.events[-1].data["failed"] == ["A", "B", "J"]


def test_a_step_that_was_left_out_runs_on_a_resume_though_a_race_behind_it_has_begun() -> None:
    memory = joined("S > A > X > K, X > J, S > B > J", "any")
    memory.finish("A", BROKEN)
    memory.finish("B", Succeeded(1))
    memory.finish("J", Succeeded(1))
    assert memory.transact(resume).again == ["A", "X", "K"]
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    with pytest.raises(NothingToResume):
        memory.transact(resume)
