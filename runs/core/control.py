"""What people do to the flow of a run: stop it for a while, let it go on, and say before which steps it stops."""

from collections.abc import Iterable

from kit.errors import BadInput
from runs.core.breakpoints import Breakpoints, what_is_wrong
from runs.core.commands import NotPossibleNow, stop_everything
from runs.core.rows import BOTH, DEADLINE, PARENT, Row
from runs.core.states import RunStatus
from runs.core.transition import Transition


class BadBreakpoint(BadInput):
    """A breakpoint names a node or a path that no step of the run can have."""

    code = "bad_breakpoint"


def pause(tx: Transition) -> None:
    """Nothing starts from now on, in the runs inside it neither. What runs ends, and its result is taken; questions may
    be answered. A run that is paused with its parent then stays paused when that goes on.
    """
    run = tx.run
    if run.status is RunStatus.PAUSED and run.paused_by == PARENT:
        _stay_paused(tx, BOTH)
        return
    if run.status is not RunStatus.RUNNING:
        raise NotPossibleNow(f"The run is {run.status}: it cannot be paused.", status=run.status)
    tx.move_run(RunStatus.PAUSED)


def unpause(tx: Transition) -> None:
    """Lets it go on: everything that is ready may start, also what a breakpoint holds just now. A run that its parent
    holds as well goes on when that does.
    """
    run = tx.run
    if run.status is not RunStatus.PAUSED:
        raise NotPossibleNow(f"The run is {run.status}: it is not paused.", status=run.status)
    if run.paused_by == PARENT:
        message = "The run is paused with the run that waits for it: unpause that one, and this one goes on with it."
        raise NotPossibleNow(message, status=run.status)
    if run.paused_by == BOTH:
        run.paused_at = ()
        _stay_paused(tx, PARENT)
        return
    tx.move_run(RunStatus.RUNNING, generation=run.generation)


def pause_with_parent(tx: Transition, *, is_paused: bool) -> bool:
    """The run whose step waits for this one is paused, or not: this one is so with it, unless it is paused by itself as
    well. Whether anything changed.
    """
    run = tx.run
    match run.status, run.paused_by:
        case RunStatus.RUNNING, _ if is_paused:
            tx.move_run(RunStatus.PAUSED, by=PARENT)
            run.paused_by = PARENT
        case RunStatus.PAUSED, None if is_paused:
            _stay_paused(tx, BOTH)
        case RunStatus.PAUSED, "parent" if not is_paused:
            tx.move_run(RunStatus.RUNNING, generation=run.generation)
        case RunStatus.PAUSED, "both" if not is_paused:
            _stay_paused(tx, None)
        case _:
            return False
    return True


def _stay_paused(tx: Transition, by: str | None) -> None:
    tx.run.paused_by = by
    tx.tell(f"run.{RunStatus.PAUSED}", None, {"by": by or "itself"})


def pass_deadline(tx: Transition, *, deadline_s: float) -> None:
    """The run did not end in time: it is stopped as by a cancel, and ends failed. A resume gives it as much again."""
    tx.run.error = {"code": "run_deadline", "message": f"The run did not end within {deadline_s:g} s."}
    tx.move_run(RunStatus.CANCELLING, reason=DEADLINE)
    stop_everything(tx)


def set_breakpoints(tx: Transition, breakpoints: Breakpoints, *, ready: Iterable[Row]) -> None:
    """These instead of those before. One that is new holds a step which is `ready` already, as long as nobody took it.

    Raises BadBreakpoint, and NotPossibleNow of a run that has succeeded.
    """
    refuse_useless(tx, breakpoints)
    before, tx.run.breakpoints = tx.run.breakpoints, breakpoints
    for row in ready:
        if not before.hold(row.node_id, row.path):
            tx.stop_before(row)


def refuse_useless(tx: Transition, breakpoints: Breakpoints) -> None:
    if (problem := what_is_wrong(tx.definition, breakpoints)) is not None:
        raise BadBreakpoint(problem, field="breakpoints")
    if tx.run.status is RunStatus.SUCCEEDED:
        raise NotPossibleNow("The run has succeeded: nothing of it starts any more.", status=tx.run.status)
