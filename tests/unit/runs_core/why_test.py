"""Why a step does not run: one sentence for each reason."""

import pytest

from runs.core.rows import BOTH, PARENT
from runs.core.states import RunStatus, StepStatus
from runs.core.why import SILENT, Child, Facts, why_not

R, S = RunStatus, StepStatus


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (Facts(R.RUNNING, S.PENDING), "steps before it"),
        (Facts(R.PAUSED, S.READY), "starts when the run is unpaused"),
        (Facts(R.PAUSED, S.READY, is_held=True), "A breakpoint holds it."),
        (Facts(R.PAUSED, S.READY, paused_by=PARENT), "Unpause that one"),
        (Facts(R.PAUSED, S.READY, paused_by=BOTH), "paused as well"),
        (Facts(R.RUNNING, S.RETRY_WAIT), "at the time shown"),
        (Facts(R.RUNNING, S.RETRY_WAIT, is_overdue=True), "at the time shown"),
        (Facts(R.RUNNING, S.RETRY_WAIT, is_overdue=True, has_sweeper=False), SILENT),
        (Facts(R.PAUSED, S.RETRY_WAIT, is_overdue=True), "when the run is unpaused"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="timer"), "Waits for a time."),
        (Facts(R.RUNNING, S.WAITING, wait_kind="timer", is_overdue=True, has_sweeper=False), SILENT),
        (Facts(R.RUNNING, S.WAITING, wait_kind="approval"), "person's answer"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="form"), "fill in its form"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="callback"), "call back"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="children"), "items"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="child"), "the run that it starts"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="child", has_sweeper=False), SILENT),
        (Facts(R.RUNNING, S.WAITING, wait_kind="child", child=Child(7, R.RUNNING)), "run 7,...is running"),
        (Facts(R.RUNNING, S.WAITING, wait_kind="child", child=Child(7, R.PAUSED)), "by itself: unpause it"),
        (Facts(R.PAUSED, S.WAITING, wait_kind="child", child=Child(7, R.PAUSED, PARENT)), "paused with this one"),
        (Facts(R.RUNNING, S.BLOCKED), "resume the failed step"),
        (Facts(R.RUNNING, S.NEEDS_DECISION), "a person decides"),
    ],
)
def test_each_reason_is_told_with_what_unblocks_it(facts: Facts, said: str) -> None:
    found = why_not(facts)
    assert found is not None
    assert all(part in found for part in said.split("...")), found


@pytest.mark.parametrize("status", [S.RUNNING, S.SUCCEEDED, S.FAILED, S.SKIPPED, S.CANCELLED])
def test_what_runs_or_has_ended_waits_for_nothing(status: StepStatus) -> None:
    assert why_not(Facts(R.RUNNING, status)) is None
