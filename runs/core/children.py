"""Child runs: a step that starts a run of another workflow, and waits for its end.

The child has its own lock and its own log, so the two runs speak through the outbox: what one tells the other is a row
that its own transition writes, and that is delivered in another transaction (runs/engine/children.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.core.advance import fail, propagate
from runs.core.rows import CHILD, Row, Stored
from runs.core.settle import succeed
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import Transition


@dataclass(frozen=True)
class ChildEnd:
    """How a child run ended. `error` where it did not succeed."""

    status: RunStatus
    output: Stored | None = None
    error: Mapping[str, Any] | None = None


def child_ended(tx: Transition, row: Row, end: ChildEnd) -> bool:
    """Hands the end over to the step that waits for it; False where none does any more (it was cancelled, or told)."""
    if row.status is not StepStatus.WAITING or row.wait_kind != CHILD:
        return False
    row.wait_kind = None  # it has ended: nobody needs to stop it
    if end.status is RunStatus.SUCCEEDED:
        succeed(tx, row, output=end.output, port="out")
    else:
        _fail(tx, row, end.error or {"code": "child_failed", "message": "The run that this step started has failed."})
    propagate(tx, (row.parent_id, row.index))
    return True


def child_refused(tx: Transition, row: Row, error: Mapping[str, Any]) -> bool:
    """The run that the step asked for cannot be started."""
    return child_ended(tx, row, ChildEnd(RunStatus.FAILED, error=error))


def _fail(tx: Transition, row: Row, error: Mapping[str, Any]) -> None:
    tx.end_attempt(row, "failed", dict(error))
    fail(tx, row, error)
