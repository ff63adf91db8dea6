"""What may be done to many runs. A new operation is one more entry of OPERATIONS: everything else asks it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kit.errors import Conflict
from runs import labels, recovery, services
from runs.core.states import RunStatus
from runs.models import Run
from teams.access import Actor, Permission

PATHS_SHOWN = 50

R = RunStatus


@dataclass(frozen=True)
class PlanOfRun:
    """What the operation would do to one run. Of long lists the beginning; the counts are whole."""

    allowed: bool
    refusal: str | None = None
    again: list[str] = field(default_factory=list)
    again_count: int = 0
    kept_count: int = 0
    may_happen_twice: list[str] = field(default_factory=list)
    stops_count: int = 0  # open steps that a cancel ends
    saved_s: float = 0.0


@dataclass(frozen=True)
class Wanted:
    """One run's turn: by whom, with the command id that is its own, and the generation at which it was chosen. `asked`
    is what the whole operation was asked with.
    """

    actor: Actor
    run: Run
    command_id: UUID
    generation: int
    asked: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """`applies_to` are the statuses in which a run is tried at all; others are skipped. `act` raises AppErrors."""

    permission: Permission
    applies_to: frozenset[RunStatus]
    act: Callable[[Wanted], Mapping[str, Any]]
    plan: Callable[[Actor, Run], PlanOfRun]


def resume(wanted: Wanted) -> Mapping[str, Any]:
    done = services.resume_run(
        actor=wanted.actor, run=wanted.run, command_id=wanted.command_id, generation=wanted.generation
    )
    return {"generation": done["generation"], "again_count": len(done["again"])}


def plan_resume(actor: Actor, run: Run) -> PlanOfRun:
    try:
        seen = recovery.preview(actor=actor, run=run, asked={"operation": "resume"})
    except Conflict as refusal:
        return PlanOfRun(allowed=False, refusal=refusal.message)
    plan = seen.plan
    twice = [effect.path for effect in plan.effects if effect.may_happen_twice]
    return PlanOfRun(
        allowed=True,
        again=plan.again[:PATHS_SHOWN],
        again_count=len(plan.again),
        kept_count=len(plan.kept),
        may_happen_twice=twice[:PATHS_SHOWN],
        saved_s=seen.saved_s,
    )


def cancel(wanted: Wanted) -> Mapping[str, Any]:
    return services.cancel_run(actor=wanted.actor, run=wanted.run, command_id=wanted.command_id)


def pause(wanted: Wanted) -> Mapping[str, Any]:
    return services.pause_run(actor=wanted.actor, run=wanted.run, command_id=wanted.command_id)


def unpause(wanted: Wanted) -> Mapping[str, Any]:
    return services.unpause_run(actor=wanted.actor, run=wanted.run, command_id=wanted.command_id)


def label(wanted: Wanted) -> Mapping[str, Any]:
    change = wanted.asked["labels"]
    return {"labels": labels.change_labels(actor=wanted.actor, run=wanted.run, **change)}


def plan_cancel(actor: Actor, run: Run) -> PlanOfRun:
    return PlanOfRun(allowed=True, stops_count=run.open_count, kept_count=run.succeeded_count)


def plan_nothing(actor: Actor, run: Run) -> PlanOfRun:
    """Of what only changes whether steps may start."""
    return PlanOfRun(allowed=True, kept_count=run.succeeded_count)


OPERATIONS: dict[str, Operation] = {
    "resume": Operation(Permission.RUN, frozenset({R.FAILED, R.CANCELLED, R.RUNNING, R.PAUSED}), resume, plan_resume),
    "cancel": Operation(Permission.RUN, frozenset({R.RUNNING, R.PAUSED}), cancel, plan_cancel),
    "pause": Operation(Permission.RUN, frozenset({R.RUNNING}), pause, plan_nothing),
    "unpause": Operation(Permission.RUN, frozenset({R.PAUSED}), unpause, plan_nothing),
    "label": Operation(Permission.RUN, frozenset(R), label, plan_nothing),
}


def plan_of(operation: str, actor: Actor, run: Run) -> PlanOfRun:
    """What it would do to the run as it stands now. Changes nothing."""
    wanted = OPERATIONS[operation]
    if run.status not in wanted.applies_to:
        return PlanOfRun(allowed=False, refusal=f"The run is {run.status}: it would be skipped.")
    return wanted.plan(actor, run)
