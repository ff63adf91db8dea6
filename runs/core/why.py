"""Why a step does not run just now, in one sentence that says what unblocks it."""

from dataclasses import dataclass

from runs.core.rows import BOTH, CHILD, PARENT
from runs.core.states import RunStatus, StepStatus

WAITS_FOR = {
    "timer": "Waits for a time.",
    "approval": "Waits for a person's answer.",
    "form": "Waits for a person to fill in its form.",
    "callback": "Waits for another program to call back.",
    "children": "Works through its items.",
}
HELD = "A breakpoint holds it."
SILENT = "Its time has come, and no sweeper was heard of to take it up: start one (manage.py sweeper)."


@dataclass(frozen=True)
class Child:
    """The run that a step has started, as it is now."""

    number: int
    status: RunStatus
    paused_by: str | None = None


@dataclass(frozen=True)
class Facts:
    run: RunStatus
    step: StepStatus
    paused_by: str | None = None  # runs.core.rows.RunRow
    is_held: bool = False  # by a breakpoint
    wait_kind: str | None = None
    child: Child | None = None
    is_overdue: bool = False  # its time came some seconds ago
    has_sweeper: bool = True


def why_not(facts: Facts) -> str | None:
    """None where it runs or has ended; and of a ready step in a run that goes on, whose turn others know about."""
    match facts.step:
        case StepStatus.PENDING:
            return "Waits until the steps before it are settled."
        case StepStatus.READY:
            return why_paused(facts) if facts.run is RunStatus.PAUSED else None
        case StepStatus.RETRY_WAIT | StepStatus.WAITING:
            return why_waiting(facts)
        case StepStatus.BLOCKED:
            return "A step that it needs has failed, and its settings say to wait: resume the failed step, or skip it."
        case StepStatus.NEEDS_DECISION:
            return "It may have happened, and must not happen twice: a person decides what became of it."
        case _:
            return None


def why_paused(facts: Facts) -> str:
    if facts.paused_by == PARENT:
        return "Ready: its run is paused with the run that waits for it. Unpause that one."
    own = HELD if facts.is_held else "Ready: starts when the run is unpaused."
    return f"{own} The run that waits for its run is paused as well." if facts.paused_by == BOTH else own


def why_waiting(facts: Facts) -> str | None:
    is_timed = facts.step is StepStatus.RETRY_WAIT or facts.wait_kind == "timer"
    if is_timed and facts.is_overdue and facts.run is RunStatus.PAUSED:
        return "Its time has come: it goes on when the run is unpaused."
    if is_timed and facts.is_overdue and not facts.has_sweeper:
        return SILENT
    if facts.step is StepStatus.RETRY_WAIT:
        return "An attempt failed; the next one starts by itself at the time shown."
    return why_child(facts) if facts.wait_kind == CHILD else WAITS_FOR.get(facts.wait_kind or "")


def why_child(facts: Facts) -> str:
    child = facts.child
    if child is None:
        return "Waits for the run that it starts." if facts.has_sweeper else SILENT
    if child.status is RunStatus.PAUSED:
        rest = "with this one" if child.paused_by == PARENT else "by itself: unpause it"
        return f"Waits for run {child.number}, which it has started and which is paused {rest}."
    return f"Waits for run {child.number}, which it has started and which is {child.status}."
