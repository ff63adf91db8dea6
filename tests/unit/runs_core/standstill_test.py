"""Runs in which nothing will ever be decided again: seen wherever it is, and decided anew."""

from collections.abc import Callable

import pytest

from runs.core.commands import recompute
from runs.core.outcomes import Again, Error, Failed, Fans, Outcome, Succeeded, Waits
from runs.core.standstill import standing_still
from runs.core.states import RunStatus, StepStatus
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))
FANS: dict[str, Outcome] = {
    "map": Fans([1, 2, 3], 2, "fail_at_end"),
    "loop": Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last"),
    "try_block": Fans([None], 1, "fail_at_end", mode="once", gather="last"),
}
KINDS = sorted(FANS)


def opened(kind: str, drawing: str = "S > E[A > B] > Z, S > P") -> MemoryRun:
    """A container with an item under way; beside it P waits for somebody."""
    memory = MemoryRun(draw(drawing, plain="pass_through", kinds={"E": kind}))
    memory.finish("E", FANS[kind])
    if "P" in memory.ready():
        memory.finish("P", Waits("approval", None, {}))
    return memory


def still(memory: MemoryRun) -> list[str]:
    return standing_still(memory.run.status, memory.open_rows())


def by_hand(memory: MemoryRun, path: str, status: StepStatus) -> None:
    """What no transition does: changes a row and its run's counts, and decides nothing."""
    row = memory.by_path(path)
    row.status = status
    rows = memory.rows.values()
    memory.run.open_count = sum(each.status in {"pending", "ready", "running", "waiting"} for each in rows)
    memory.run.succeeded_count = sum(each.status is StepStatus.SUCCEEDED for each in rows)


def lost_decision(memory: MemoryRun) -> list[str]:
    by_hand(memory, "E[0].A", StepStatus.PENDING)
    return ["E[0].A", "E[0].B"]


def lost_end_of_item(memory: MemoryRun) -> list[str]:
    """All items that are open have ended, and their container has not heard of it."""
    for row in list(memory.rows.values()):
        if row.parent_id is not None:
            row.attempt = 0
            row.port = "out"
            by_hand(memory, row.path, StepStatus.SUCCEEDED)
    return ["E"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("break_it", [lost_decision, lost_end_of_item])
def test_a_standstill_in_a_container_is_seen_though_others_wait_and_is_decided_anew(
    kind: str, break_it: Callable[[MemoryRun], list[str]]
) -> None:
    memory = opened(kind)
    paths = break_it(memory)
    assert [path for path in still(memory) if path in paths] == paths
    memory.transact(recompute)
    assert still(memory) == []
    assert memory.events[-1].type == "recomputed"


@pytest.mark.parametrize("kind", KINDS)
def test_after_that_the_run_comes_to_its_end(kind: str) -> None:
    memory = opened(kind, "S > E[A > B] > Z")
    by_hand(memory, "E[0].A", StepStatus.PENDING)
    memory.transact(recompute)
    for _ in range(50):
        for path in memory.ready():
            again = path == "E" and memory.by_path("E").items is not None
            memory.finish(path, Again(False) if again else Succeeded(1))
    assert memory.run.status is RunStatus.SUCCEEDED


def test_a_container_whose_count_of_items_is_wrong_counts_anew() -> None:
    memory = MemoryRun(draw("S > E[A] > Z", plain="pass_through", kinds={"E": "map"}))
    memory.finish("E", Fans([1, 2, 3], 2, "fail_at_end"))
    memory.finish("E[0].A", BROKEN)
    items = memory.by_path("E").items
    assert items is not None
    assert (items.open, items.failed) == (2, 1)
    items.open, items.failed = 1, 0
    memory.transact(recompute)
    found = memory.by_path("E").items
    assert found is not None
    assert (found.open, found.failed) == (2, 1)


def test_a_run_that_should_have_ended_stands_still() -> None:
    memory = MemoryRun(draw("S > A", plain="pass_through"))
    assert standing_still(memory.run.status, []) == [""]
    assert still(memory) == []


def test_a_run_that_is_being_stopped_stands_still_when_nothing_of_it_runs() -> None:
    memory = MemoryRun(draw("S > A + B", plain="pass_through"))
    memory.claim("A")
    rows = memory.open_rows()
    assert standing_still(RunStatus.CANCELLING, rows) == []
    rest = [row for row in rows if row.path != "A"]
    assert standing_still(RunStatus.CANCELLING, rest) == ["B"]


def test_what_waits_for_a_person_stands_still_nowhere() -> None:
    memory = MemoryRun(draw("S > A > B", plain="pass_through", policies={}))
    memory.finish("A", Waits("approval", None, {}))
    assert still(memory) == []
