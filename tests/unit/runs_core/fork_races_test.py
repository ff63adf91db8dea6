"""Forks of runs in which a join took the first way and stopped the others."""

import pytest

from builder.graph.model import Policy
from runs.core.commands import NotPossibleNow, cancel
from runs.core.outcomes import Succeeded
from tests.graphs import draw
from tests.memory import MemoryRun

FIRST = Policy(join="first")


def raced(drawing: str = "S > A > J, S > B > C > J, S > C", **policies: Policy) -> MemoryRun:
    """B runs when A is first."""
    memory = MemoryRun(draw(drawing, plain="pass_through", policies={"J": FIRST, **policies}))
    memory.claim("B")
    memory.finish("A", Succeeded(1))
    memory.succeed_all()
    assert (memory.statuses()["B"], memory.run.status) == ("cancelled", "succeeded")
    return memory


def test_a_fork_that_runs_the_race_again_runs_all_its_ways() -> None:
    fork, planned = raced().fork("A")
    assert set(planned.plan.again) == {"A", "B", "C", "J"}
    assert fork.ready() == ["A", "B"]
    fork.finish("B", Succeeded(1))
    fork.finish("C", Succeeded(1))
    assert (fork.statuses()["J"], fork.statuses()["A"]) == ("ready", "cancelled")
    fork.succeed_all()
    assert fork.run.status == "succeeded"


def test_a_fork_that_keeps_the_race_leaves_its_losers_as_they_are() -> None:
    memory = raced("S > A > J, S > B > C > J, J > K")
    fork, planned = memory.fork("K")
    assert planned.plan.again == ["K"]
    fork.succeed_all()
    assert fork.statuses() == memory.statuses()


def test_a_loser_that_may_have_acted_is_not_run_again_unless_that_was_chosen() -> None:
    memory = raced(B=Policy(delivery="at_most_once"))
    with pytest.raises(NotPossibleNow, match="Nobody knows whether B took effect"):
        memory.fork("A")
    fork, _ = memory.fork("B")
    assert fork.ready() == ["J"]  # A has won already


def test_a_loser_that_had_not_begun_asks_nobody() -> None:
    policies = {"J": FIRST, "B": Policy(delivery="at_most_once")}
    memory = MemoryRun(draw("S > A > J, S > B > J", plain="pass_through", policies=policies))
    memory.finish("A", Succeeded(1))
    memory.succeed_all()
    fork, _ = memory.fork("A")
    assert fork.ready() == ["A", "B"]


def test_a_race_that_was_cancelled_before_its_join_began_is_won_by_the_same_way_again() -> None:
    memory = MemoryRun(draw("S > A > J, S > B > J", plain="pass_through", policies={"J": FIRST}))
    memory.finish("A", Succeeded(1))
    memory.transact(cancel)
    fork, _ = memory.fork()
    assert fork.ready() == ["J"]
    fork.succeed_all()
    assert fork.run.status == "succeeded"
