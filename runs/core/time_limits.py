"""What passed limits do to a step that no attempt of is running: nobody took it in time, or all together took too long.

An attempt that runs is ended by its own worker.
"""

from runs.core.advance import cancel_children, fail, propagate
from runs.core.questions import ASKED
from runs.core.rows import Row
from runs.core.settle import as_json, total_limit_error
from runs.core.states import StepStatus
from runs.core.transition import Transition


def queue_limit_passed(tx: Transition, row: Row, *, limit_s: float) -> None:
    """It was ready for so long, and no worker took it. Its body did not begin."""
    fail(tx, row, {"code": "queue_wait_limit", "message": f"No worker took the step within {limit_s:g} s."})
    propagate(tx, (row.parent_id, row.index))


def total_limit_passed(tx: Transition, row: Row, *, limit_s: float) -> None:
    """Between two attempts, or while it waits: for a time, a person, another program, or its items."""
    error = as_json(total_limit_error(limit_s))
    if row.status is StepStatus.WAITING:
        if row.wait_kind in ASKED:
            tx.close_wait(row, "expired", {})
        if row.items is not None:
            cancel_children(tx, row)
        tx.end_attempt(row, "timed_out", error)
    fail(tx, row, error)
    propagate(tx, (row.parent_id, row.index))
