"""The whole product of states: every move that the table allows, and no other."""

import itertools

import pytest

from runs.core import states
from runs.core.rows import Row, RunRow
from runs.core.states import RUN_MOVES, STEP_MOVES, RunStatus, StepStatus
from runs.core.transition import ImpossibleMove, Transition
from tests.graphs import draw
from tests.memory import MemoryRun

STEP_PAIRS = list(itertools.product(StepStatus, StepStatus))
RUN_PAIRS = list(itertools.product(RunStatus, RunStatus))


def transition() -> Transition:
    memory = MemoryRun(draw("S > A"))
    return Transition(memory.definition, memory.run, memory, actor="test")


@pytest.mark.parametrize(("before", "after"), STEP_PAIRS, ids=lambda status: status.value)
def test_a_step_run_moves_only_as_the_table_says(before: StepStatus, after: StepStatus) -> None:
    tx = transition()
    row = Row(id=99, path="x", node_id="n_A", status=before)
    events = len(tx.events)
    if after in STEP_MOVES[before]:
        tx.move(row, after)
        assert row.status is after
        assert tx.events[-1].type == f"step.{after.value}"
        assert tx.touched["x"] == (before, row)
    else:
        with pytest.raises(ImpossibleMove):
            tx.move(row, after)
        assert row.status is before
        assert len(tx.events) == events


@pytest.mark.parametrize(("before", "after"), RUN_PAIRS, ids=lambda status: status.value)
def test_a_run_moves_only_as_the_table_says(before: RunStatus, after: RunStatus) -> None:
    tx = transition()
    tx.run.status = before
    if after in RUN_MOVES[before]:
        tx.move_run(after)
        assert tx.run.status is after
    else:
        with pytest.raises(ImpossibleMove):
            tx.move_run(after)
        assert tx.run.status is before


@pytest.mark.parametrize(("before", "after"), STEP_PAIRS, ids=lambda status: status.value)
def test_the_counters_follow_every_move(before: StepStatus, after: StepStatus) -> None:
    if after not in STEP_MOVES[before]:
        return
    counts = []
    for row_status in (before, after):
        tx = transition()
        tx.run = RunRow(tx.run.id, RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0)
        row = Row(id=99, path="x", node_id="n_A", status=row_status)
        tx._count(row, +1)
        if row_status is before:
            tx.move(row, after)
        run = tx.run
        counts.append((run.open_count, run.running_count, run.waiting_count, run.failed_count, run.succeeded_count))
    assert counts[0] == counts[1]


def test_success_is_for_ever() -> None:
    assert STEP_MOVES[StepStatus.SUCCEEDED] == frozenset()
    assert RUN_MOVES[RunStatus.SUCCEEDED] == frozenset()


def test_every_status_answers_the_questions_about_it() -> None:
    for status in StepStatus:
        assert states.is_open(status) == (status in states.OPEN)
        settled = status in (StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.SKIPPED)
        assert states.is_settled(status) == settled
        assert states.waits_for_person(status) == (status in (StepStatus.NEEDS_DECISION, StepStatus.BLOCKED))
        assert not (states.is_open(status) and settled)
