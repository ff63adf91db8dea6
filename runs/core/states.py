"""The states of runs and step runs, the moves between them, and the questions that others may ask.

One table each; the store refuses every other move, a test walks the whole product, the docs' diagram is made from it.
"""

from enum import StrEnum


class RunStatus(StrEnum):
    RUNNING = "running"  # something may go on, or waits for time, a person or a worker
    PAUSED = "paused"  # waits may be answered, nothing starts
    CANCELLING = "cancelling"  # stopped by a person or by its deadline: running bodies are being told
    SUCCEEDED = "succeeded"  # final for ever
    FAILED = "failed"  # nothing more can go on, or its deadline passed; may be resumed
    CANCELLED = "cancelled"  # stopped by a person; may be resumed


class StepStatus(StrEnum):
    PENDING = "pending"  # its predecessors are not settled
    READY = "ready"  # waits for a worker
    RUNNING = "running"  # a worker holds it, under a fence
    RETRY_WAIT = "retry_wait"  # an attempt failed; the next one starts by itself later
    WAITING = "waiting"  # for a time, a person, or the items of its body
    NEEDS_DECISION = "needs_decision"  # at most once, and nobody knows whether it happened
    BLOCKED = "blocked"  # a predecessor failed and the node's policy says: wait
    SUCCEEDED = "succeeded"  # committed for ever
    FAILED = "failed"  # no retries left
    SKIPPED = "skipped"  # its branch was not taken, or what it needs failed
    CANCELLED = "cancelled"  # the run was stopped before it ended


S = StepStatus
R = RunStatus

RUN_MOVES: dict[RunStatus, frozenset[RunStatus]] = {
    R.RUNNING: frozenset({R.PAUSED, R.CANCELLING, R.SUCCEEDED, R.FAILED, R.CANCELLED}),
    R.PAUSED: frozenset({R.RUNNING, R.CANCELLING, R.CANCELLED}),
    R.CANCELLING: frozenset({R.CANCELLED, R.FAILED}),
    R.SUCCEEDED: frozenset(),
    R.FAILED: frozenset({R.RUNNING}),
    R.CANCELLED: frozenset({R.RUNNING}),
}

STEP_MOVES: dict[StepStatus, frozenset[StepStatus]] = {
    S.PENDING: frozenset({S.READY, S.SUCCEEDED, S.FAILED, S.SKIPPED, S.BLOCKED, S.CANCELLED}),
    S.READY: frozenset({S.RUNNING, S.SUCCEEDED, S.FAILED, S.SKIPPED, S.CANCELLED}),
    S.RUNNING: frozenset(
        {S.SUCCEEDED, S.RETRY_WAIT, S.FAILED, S.WAITING, S.NEEDS_DECISION, S.CANCELLED, S.READY, S.SKIPPED},
    ),
    S.RETRY_WAIT: frozenset({S.READY, S.FAILED, S.CANCELLED}),
    S.WAITING: frozenset({S.SUCCEEDED, S.READY, S.FAILED, S.SKIPPED, S.CANCELLED}),
    S.NEEDS_DECISION: frozenset({S.READY, S.SKIPPED, S.SUCCEEDED, S.FAILED, S.CANCELLED}),
    S.BLOCKED: frozenset({S.PENDING, S.READY, S.SKIPPED, S.SUCCEEDED, S.CANCELLED}),
    S.SUCCEEDED: frozenset(),
    S.FAILED: frozenset({S.READY, S.PENDING, S.WAITING, S.SKIPPED, S.SUCCEEDED}),
    S.SKIPPED: frozenset({S.PENDING}),
    S.CANCELLED: frozenset({S.PENDING, S.READY, S.WAITING, S.NEEDS_DECISION}),
}

OPEN = frozenset(
    {S.PENDING, S.READY, S.RUNNING, S.RETRY_WAIT, S.WAITING, S.NEEDS_DECISION, S.BLOCKED},
)
FINAL_RUNS = frozenset({R.SUCCEEDED, R.FAILED, R.CANCELLED})


def is_open(status: StepStatus) -> bool:
    """Whether the step run may still change by itself, or waits for a person."""
    return status in OPEN


def is_settled(status: StepStatus) -> bool:
    """Whether those that depend on the step run may decide: it succeeded, failed for good or was skipped."""
    return status in (S.SUCCEEDED, S.FAILED, S.SKIPPED)


def waits_for_person(status: StepStatus) -> bool:
    return status in (S.NEEDS_DECISION, S.BLOCKED)


def may_move(before: StepStatus, after: StepStatus) -> bool:
    return after in STEP_MOVES[before]


def run_may_move(before: RunStatus, after: RunStatus) -> bool:
    return after in RUN_MOVES[before]
