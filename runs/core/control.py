"""What people do to the flow of a run: stop it for a while, let it go on, and say before which steps it stops."""

from collections.abc import Iterable

from kit.errors import BadInput
from runs.core.breakpoints import Breakpoints, what_is_wrong
from runs.core.commands import NotPossibleNow, stop_everything
from runs.core.rows import DEADLINE, Row
from runs.core.states import RunStatus
from runs.core.transition import Transition


class BadBreakpoint(BadInput):
    """A breakpoint names a node or a path that no step of the run can have."""

    code = "bad_breakpoint"


def pause(tx: Transition) -> None:
    """Nothing starts from now on. What runs ends, and its result is taken; questions may be answered."""
    if tx.run.status is not RunStatus.RUNNING:
        raise NotPossibleNow(f"The run is {tx.run.status}: it cannot be paused.", status=tx.run.status)
    tx.move_run(RunStatus.PAUSED)


def unpause(tx: Transition) -> None:
    """Lets it go on: everything that is ready may start, also what a breakpoint holds just now."""
    if tx.run.status is not RunStatus.PAUSED:
        raise NotPossibleNow(f"The run is {tx.run.status}: it is not paused.", status=tx.run.status)
    tx.move_run(RunStatus.RUNNING, generation=tx.run.generation)


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
