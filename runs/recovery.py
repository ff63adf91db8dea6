"""What people and programs do to runs that cannot go on, and what each of it would do: permission, act, audit.

Every operation has a preview; `seen` is the token of the plan that it showed. The act does just that, or is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from builder.connections.masking import MARK
from builder.workflows.errors import WorkflowArchived
from runs.engine import decide, fork, repair, resume
from runs.engine.commands import Command, Commanded
from runs.engine.control import REACHED, preview_control
from runs.engine.fork import Forking
from runs.engine.operations import Operation, Preview
from runs.engine.operations import preview as engine_preview
from runs.engine.repair import BadStepInput
from runs.engine.transact import Told
from runs.masking import is_shown, masked
from runs.models import Run
from runs.payloads import json_text
from runs.services import NotPublished, act_on
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.store.read import Connection
from teams.access import Actor, Permission, require
from teams.models import Workspace

Asked = Mapping[str, Any]  # the fields of a preview's request


def edit_input(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, path: str, given: Any, seen: str | None = None
) -> dict[str, Any]:
    """The failed step runs again on the settings that are given. Raises StepNotFound, BadStepInput, ValueTooLarge,
    NotPossibleNow, GenerationChanged, PlanChanged.
    """
    require(actor, Permission.RUN, run.workspace)
    check_no_secret(run.workspace, given)
    wanted = Command(command_id, run.id, "edit_input", actor.name, generation, subject=path)
    return act_on(
        actor, run, wanted, step=path, act=lambda c: repair.edit_step(c, wanted, path=path, given=given, seen=seen)
    )


def skip_step(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, path: str, seen: str | None = None
) -> dict[str, Any]:
    """The flow goes on without the step. Raises StepNotFound, NotPossibleNow, GenerationChanged, PlanChanged."""
    wanted = Command(command_id, run.id, "skip", actor.name, generation, subject=path)
    return act_on(actor, run, wanted, step=path, act=lambda c: repair.skip_step(c, wanted, path=path, seen=seen))


def supply_output(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, path: str, output: Any, port: str | None = None,
    seen: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The step succeeds with this output, by hand. Secrets in it are masked, as in any output. Raises StepNotFound,
    ValueTooLarge, NotPossibleNow, GenerationChanged, PlanChanged.
    """
    require(actor, Permission.RUN, run.workspace)
    kept = masked(run.workspace_id, output)
    wanted = Command(command_id, run.id, "supply_output", actor.name, generation, subject=path)
    return act_on(
        actor,
        run,
        wanted,
        step=path,
        act=lambda c: repair.supply_step(c, wanted, path=path, output=kept, port=port, seen=seen),
    )


def retry_now(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, path: str, seen: str | None = None
) -> dict[str, Any]:
    """The next attempt starts at once. Raises StepNotFound, NotPossibleNow, GenerationChanged, PlanChanged."""
    wanted = Command(command_id, run.id, "retry_now", actor.name, generation, subject=path)
    return act_on(actor, run, wanted, step=path, act=lambda c: repair.retry_step(c, wanted, path=path, seen=seen))


def fork_run(
    *, actor: Actor, run: Run, command_id: UUID, generation: int, path: str | None = None, version: int | None = None,
    same_effects: bool = False, seen: str | None = None,
) -> UUID:  # fmt: skip
    """A new run, whose id is answered: from a step, on another version of the workflow, or both.

    Raises NotPublished, WorkflowArchived, StepNotFound, NothingToFork, NotPossibleNow, BadRunInput, GenerationChanged,
    PlanChanged.
    """
    require(actor, Permission.RUN, run.workspace)
    if run.workflow.archived_at is not None:
        raise WorkflowArchived(f"The workflow '{run.workflow.name}' is archived: bring it back first.")
    forking = Forking(path, _version_id(run, version), same_effects)
    with errors_as_djangos():
        fork.check_fork(raw_connection(), run.id, forking, command_id=command_id)
    subject = json_text([path, version, same_effects])
    wanted = Command(command_id, run.id, "fork", actor.name, generation, subject=subject)

    def act(connection: Connection) -> Commanded:
        return fork.fork_run(connection, wanted, forking, user_id=actor.id, seen=seen, then=_after_commit)

    return UUID(act_on(actor, run, wanted, step=path, act=act)["run"])


def _after_commit(told: Told) -> None:
    transaction.on_commit(told.announce)


def _version_id(run: Run, number: int | None) -> UUID | None:
    """None: the run's own version."""
    if number is None:
        return None
    found = run.workflow.versions.filter(number=number).values_list("id", flat=True).first()
    if found is None:
        raise NotPublished(f"The workflow '{run.workflow.name}' has no version {number}.")
    return found


# ---------------------------------------------------------------------- previews


def preview(*, actor: Actor, run: Run, asked: Asked) -> Preview:
    """What an operation would do, the seconds that it saves, and the generation that was seen. Changes nothing.

    Raises what the operation would raise.
    """
    require(actor, Permission.VIEW, run.workspace)
    if asked["operation"] == "edit_input":
        check_no_secret(run.workspace, asked.get("input"))
    forking = _asked_fork(run, asked) if asked["operation"] == "fork" else None
    with errors_as_djangos(), transaction.atomic():
        connection = raw_connection()
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        if asked["operation"] == "edit_input":
            repair.check_input(connection, run.id, path=asked["path"], given=asked.get("input"))
        if forking is not None:
            return fork.preview_fork(connection, run.id, forking)
        if asked["operation"] in REACHED:
            return preview_control(connection, run.id, asked["operation"])
        return engine_preview(connection, run.id, OPERATIONS[asked["operation"]](connection, asked))


def _asked_fork(run: Run, asked: Asked) -> Forking:
    forking = Forking(asked.get("path"), _version_id(run, asked.get("version")), asked["same_effects"])
    with errors_as_djangos():
        fork.check_fork(raw_connection(), run.id, forking)
    return forking


def _deciding(connection: Connection, asked: Asked) -> Operation:
    return decide.deciding(connection, path=asked["path"], decision=asked["decision"])


def _supplying(connection: Connection, asked: Asked) -> Operation:
    """The value itself is of no concern to what follows."""
    return repair.supplying(connection, path=asked["path"], output=repair.NOTHING, port=asked.get("port"))


OPERATIONS: Mapping[str, Callable[[Connection, Asked], Operation]] = {
    "resume": lambda _, asked: resume.resuming(asked.get("paths")),
    "decide": _deciding,
    "edit_input": lambda connection, asked: repair.editing(connection, path=asked["path"]),
    "skip": lambda connection, asked: repair.skipping(connection, path=asked["path"]),
    "supply_output": _supplying,
    "retry_now": lambda connection, asked: repair.retrying(connection, path=asked["path"]),
}

# ---------------------------------------------------------------------- secrets


def check_no_secret(workspace: Workspace, given: Any) -> None:
    """An input is kept and shown, so it may hold no secret; masked, it would be another input. Raises BadStepInput."""
    if is_shown(given):
        what = f"It holds {MARK}, which stands where a secret was taken out. Enter the value itself, or a connection."
        raise BadStepInput(what, fields=[{"field": "input", "message": what}])
    if masked(workspace.id, given) != given:
        what = "It holds the secret of a connection, and would be shown to everybody: name the connection instead."
        raise BadStepInput(what, fields=[{"field": "input", "message": what}])
