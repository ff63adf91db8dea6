"""What people and programs do to runs. Each function: permission, act, audit in one transaction; wake-ups and hints
after it.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from builder.workflows.errors import WorkflowArchived
from builder.workflows.models import Version, Workflow
from kit.errors import NotFound
from runs.answering import check_answer
from runs.core.breakpoints import NO_BREAKPOINTS, Breakpoints, as_json
from runs.core.commands import Decision
from runs.engine.cancel import cancel_run as engine_cancel
from runs.engine.check_input import check_input
from runs.engine.commands import Command, Commanded, keep_person
from runs.engine.control import breakpoints_text
from runs.engine.control import change_breakpoints as engine_breakpoints
from runs.engine.control import pause_run as engine_pause
from runs.engine.control import unpause_run as engine_unpause
from runs.engine.decide import decide_step as engine_decide
from runs.engine.resume import resume_run as engine_resume
from runs.engine.start import Start, Started, same_request
from runs.engine.start import start_run as engine_start
from runs.engine.transact import Told
from runs.engine.wait import Answer
from runs.engine.wait import answer_wait as engine_answer
from runs.masking import masked, masker_for, refuse_secrets
from runs.models import Retention, Run, Wait
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.store.read import Connection
from teams import audit
from teams.access import Actor, Permission, require
from teams.models import Workspace


class NotPublished(NotFound):
    code = "not_published"


def start_run(
    *,
    actor: Actor,
    workflow: Workflow,
    run_input: Any,
    version: int | None = None,
    idempotency_key: str | None = None,
    breakpoints: Breakpoints = NO_BREAKPOINTS,
    deadline_s: float | None = None,
    priority: int = 0,
    limit: tuple[str, int] | None = None,
) -> Started:
    """Starts the newest version, or the one named. The same idempotency key answers the same run. Secrets are masked.

    Raises WorkflowArchived, NotPublished, BadRunInput (the fields that the start step's schema refuses), BadBreakpoint,
    HoldsSecret (a key is one), and IdempotencyKeyReused where the key has started a run with another input.
    """
    require(actor, Permission.RUN, workflow.workspace)
    names = {"idempotency_key": idempotency_key, "limit.key": limit and limit[0], "breakpoints": as_json(breakpoints)}
    run_input = _masked_input(workflow, run_input, names)
    earlier = _same_request(workflow, idempotency_key, run_input=run_input, version=version)
    if earlier is not None:
        return earlier
    pinned = _version(workflow, version)
    with errors_as_djangos():
        check_input(raw_connection(), pinned.id, run_input)
    with errors_as_djangos(), transaction.atomic():
        wanted = Start(
            workflow.id, pinned.id, run_input, actor.name, user_id=actor.id,
            trigger="api" if idempotency_key else "manual",
            idempotency_key=idempotency_key, breakpoints=breakpoints, deadline_s=deadline_s, priority=priority,
            limit=limit,
        )  # fmt: skip
        started = engine_start(raw_connection(), wanted)
        if started.is_new:
            _record_start(actor, workflow, started, version=pinned.number)
    _announce(started.told)
    if started.is_new:
        return started
    return _same_request(workflow, idempotency_key, run_input=run_input, version=version) or started  # of somebody else


def _masked_input(workflow: Workflow, run_input: Any, names: Mapping[str, Any]) -> Any:
    """By one look at the connections. Raises HoldsSecret for a name that is one."""
    masker = masker_for(workflow.workspace_id, run_input, *names.values())
    refuse_secrets(masker, names)
    return masker.value(run_input)


def _record_start(actor: Actor, workflow: Workflow, started: Started, *, version: int) -> None:
    data = {"workflow": str(workflow.id), "version": version, "number": started.number}
    audit.record(actor, "run.start", target=Run(id=started.run_id), workspace=workflow.workspace, data=data)


def _same_request(workflow: Workflow, key: str | None, *, run_input: Any, version: int | None) -> Started | None:
    """The run that this key has started: also where a newer version would by now refuse the same request."""
    if key is None:
        return None
    with errors_as_djangos():
        return same_request(raw_connection(), workflow.id, key, run_input=run_input, version=version)


def _version(workflow: Workflow, number: int | None) -> Version:
    """The newest one, or the one of that number. Raises WorkflowArchived, NotPublished."""
    if workflow.archived_at is not None:
        raise WorkflowArchived(f"The workflow '{workflow.name}' is archived: bring it back before you run it.")
    versions = workflow.versions.order_by("-number")
    found = (versions if number is None else versions.filter(number=number)).first()
    if found is None:
        what = "published version" if number is None else f"version {number}"
        raise NotPublished(f"The workflow '{workflow.name}' has no {what}. Publish it first.")
    return found


def resume_run(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, paths: Collection[str] | None = None,
    seen: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Raises NothingToResume, GenerationChanged, PlanChanged (`seen` is the token of the plan that was shown)."""
    wanted = Command(command_id, run.id, "resume", actor.name, generation, subject=_named(paths))
    return act_on(actor, run, wanted, act=lambda connection: engine_resume(connection, wanted, paths=paths, seen=seen))


def _named(paths: Collection[str] | None) -> str | None:
    return None if paths is None else " ".join(sorted(paths))


def cancel_run(*, actor: Actor, run: Run, command_id: UUID) -> dict[str, Any]:
    """Raises NotPossibleNow."""
    wanted = Command(command_id, run.id, "cancel", actor.name)
    return act_on(actor, run, wanted, act=lambda connection: engine_cancel(connection, wanted))


def pause_run(*, actor: Actor, run: Run, command_id: UUID) -> dict[str, Any]:
    """Raises NotPossibleNow."""
    wanted = Command(command_id, run.id, "pause", actor.name)
    return act_on(actor, run, wanted, act=lambda connection: engine_pause(connection, wanted))


def unpause_run(*, actor: Actor, run: Run, command_id: UUID) -> dict[str, Any]:
    """Raises NotPossibleNow."""
    wanted = Command(command_id, run.id, "unpause", actor.name)
    return act_on(actor, run, wanted, act=lambda connection: engine_unpause(connection, wanted))


def set_breakpoints(*, actor: Actor, run: Run, command_id: UUID, breakpoints: Breakpoints) -> dict[str, Any]:
    """These in place of all before. Raises BadBreakpoint, HoldsSecret, NotPossibleNow."""
    require(actor, Permission.RUN, run.workspace)
    subject = breakpoints_text(breakpoints)
    refuse_secrets(masker_for(run.workspace_id, subject), {"breakpoints": subject})
    wanted = Command(command_id, run.id, "breakpoints", actor.name, subject=subject)
    return act_on(actor, run, wanted, act=lambda connection: engine_breakpoints(connection, wanted, breakpoints))


def decide_step(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, path: str, decision: Decision, output: Any = None,
    seen: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Secrets in the output are masked. Raises StepNotFound, NotPossibleNow, ValueTooLarge, GenerationChanged,
    PlanChanged.
    """
    require(actor, Permission.RUN, run.workspace)
    kept = masked(run.workspace_id, output)
    wanted = Command(command_id, run.id, "decide", actor.name, generation, subject=path)
    return act_on(
        actor,
        run,
        wanted,
        act=lambda connection: engine_decide(connection, wanted, path=path, decision=decision, output=kept, seen=seen),
    )


def answer_wait(
    *,
    actor: Actor,
    wait: Wait,
    command_id: UUID,
    decision: str,
    comment: str = "",
    data: Any = None,
    seen: str | None = None,
) -> dict[str, Any]:
    """Secrets in the comment and the data are masked. Raises WaitClosed where somebody answered meanwhile, or the run
    was cancelled; AnswerRefused (the fields that the form's schema refuses), NotYoursToAnswer, QuestionChanged,
    AlreadyVoted.
    """
    require(actor, Permission.APPROVE, wait.run.workspace)
    comment, data = masked(wait.workspace_id, [comment, data])
    check_answer(actor, wait, decision=decision, data=data)
    wanted = Command(command_id, wait.run_id, "answer", actor.name, subject=str(wait.id))
    given = Answer(wait.id, decision, comment, data, actor.id, seen)
    return act_on(
        actor,
        wait.run,
        wanted,
        act=lambda connection: engine_answer(connection, wanted, given),
        permission=Permission.APPROVE,
    )


def act_on(
    actor: Actor,
    run: Run,
    wanted: Command,
    *,
    act: Callable[[Connection], Commanded],
    permission: Permission = Permission.RUN,
    step: str | None = None,
) -> dict[str, Any]:
    """A command: permission, act, audit (with the path of the `step` that it is about), and then the wake-ups."""
    require(actor, permission, run.workspace)
    with errors_as_djangos(), transaction.atomic():
        done = act(raw_connection())
        if done.told is not None:
            keep_person(raw_connection(), wanted, actor.id)
            data = {"command": str(wanted.id), "number": run.number, **({"step": step} if step else {})}
            audit.record(actor, f"run.{wanted.operation}", target=run, workspace=run.workspace, data=data)
    _announce(done.told)
    return done.result


def set_retention(*, actor: Actor, workspace: Workspace, days: int | None) -> None:
    """How many days the workspace keeps its final runs: 0 is for ever, None is what the installation says."""
    require(actor, Permission.MANAGE_WORKSPACE, workspace)
    with transaction.atomic():
        changed = {"days": days, "changed_at": Now(), "changed_by": actor.name}
        Retention.objects.update_or_create(workspace=workspace, defaults=changed)
        audit.record(actor, "workspace.retention", target=workspace, workspace=workspace, data={"days": days})


def _announce(told: Told | None) -> None:
    """After the commit; where the caller has a transaction of its own open, after that one's."""
    if told is not None:
        transaction.on_commit(told.announce)
