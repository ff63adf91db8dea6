"""What workflows go through. Each function: permission, act, audit, in one transaction.

The workflow's row is locked first, so that revisions and version numbers come one after the other. The lock leaves
foreign keys alone (`no_key`): saving a draft never holds up the start of a run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from builder.workflows import selectors
from builder.workflows.checking import has_errors, problems_of, runnable
from builder.workflows.documents import graph_of, read_draft, text_of
from builder.workflows.errors import DraftConflict, DraftHasProblems, VersionUnchanged, WorkflowArchived
from builder.workflows.models import Draft, Version, Workflow
from teams import audit
from teams.access import Actor, Permission, require
from teams.models import Workspace

FIRST_GRAPH: dict[str, Any] = {
    "schema": 1,
    "nodes": [{"id": "start", "key": "start", "name": "Start", "kind": "start", "position": {"x": 0, "y": 0}}],
    "edges": [],
}


@transaction.atomic
def create_workflow(*, actor: Actor, workspace: Workspace, name: str, graph: Any = None) -> Workflow:
    """With a draft that holds `graph`, or a start node. Raises GraphError."""
    require(actor, Permission.EDIT, workspace)
    document = read_draft(FIRST_GRAPH if graph is None else graph)
    workflow = Workflow.objects.create(workspace=workspace, name=name, updated_by=actor.user)
    Draft.objects.create(workflow=workflow, graph=text_of(document), updated_by=actor.user)
    audit.record(actor, "workflow.create", target=workflow, workspace=workspace, data={"name": name})
    return workflow


@transaction.atomic
def change_workflow(*, actor: Actor, workflow: Workflow, name: str | None = None, archived: bool | None = None) -> None:
    """Both or neither; what is None stays."""
    if name is not None:
        rename_workflow(actor=actor, workflow=workflow, name=name)
    if archived is not None:
        archive_workflow(actor=actor, workflow=workflow, archived=archived)


@transaction.atomic
def rename_workflow(*, actor: Actor, workflow: Workflow, name: str) -> Workflow:
    require(actor, Permission.EDIT, workflow.workspace)
    locked = _lock(workflow)
    audit.record(
        actor, "workflow.rename", target=locked, workspace=locked.workspace, data={"from": locked.name, "to": name}
    )
    locked.name = name
    _touch(locked, actor, "name")
    return locked


@transaction.atomic
def archive_workflow(*, actor: Actor, workflow: Workflow, archived: bool = True) -> Workflow:
    """Out of the way (or back again): an archived workflow cannot be edited or published; its runs stay."""
    require(actor, Permission.EDIT, workflow.workspace)
    locked = _lock(workflow)
    if (locked.archived_at is not None) != archived:
        locked.archived_at = timezone.now() if archived else None
        _touch(locked, actor, "archived_at")
        action = "workflow.archive" if archived else "workflow.unarchive"
        audit.record(actor, action, target=locked, workspace=locked.workspace)
    return locked


def save_draft(*, actor: Actor, workflow: Workflow, revision: int, graph: Any) -> Draft:
    """A draft may be unfinished: problems are no reason to refuse it. What is no graph at all is refused.

    Raises GraphError; DraftConflict where `revision` is not the present one, with the present draft in its data.
    """
    require(actor, Permission.EDIT, workflow.workspace)
    document = read_draft(graph)
    with _or_present(workflow, revision), transaction.atomic():
        draft = _draft_at(workflow, revision)
        draft.graph = text_of(document)
        draft.revision += 1
        draft.updated_by = actor.user
        draft.save()
        _touch(draft.workflow, actor)
        data = {"revision": draft.revision, "nodes": len(document.nodes)}
        audit.record(actor, "draft.save", target=workflow, workspace=workflow.workspace, data=data)
    return draft


def publish(*, actor: Actor, workflow: Workflow, revision: int, note: str = "", again: bool = False) -> Version:
    """Freezes the draft as the next version, which new runs execute from now on. `again`: also where it is the same
    as the newest version. What is in it is checked before the workflow's row is locked: schemas and expressions are
    somebody's, and take as long as they take.

    Raises DraftConflict, DraftHasProblems where a problem is an error, VersionUnchanged: then nothing changes.
    """
    require(actor, Permission.EDIT, workflow.workspace)
    while True:
        looked = Draft.objects.get(workflow_id=workflow.id)
        problems = problems_of(graph_of(looked.graph), workflow.workspace, workflow_id=workflow.id)
        with _or_present(workflow, revision), transaction.atomic():
            draft = _draft_at(workflow, revision)
            if draft.revision == looked.revision:
                return _freeze(actor, draft, note=note, problems=problems, again=again)


def _freeze(actor: Actor, draft: Draft, *, note: str, problems: list[dict[str, Any]], again: bool) -> Version:
    if has_errors(problems):
        raise DraftHasProblems(
            "The draft has problems. Mend those that are errors, then publish again.", problems=problems
        )
    workflow = draft.workflow
    newest = selectors.live_version(workflow)
    if newest is not None and newest.drawn == draft.graph and not again:
        raise VersionUnchanged(
            f"The draft is the same as version {newest.number}: there is nothing to publish. To publish it all the"
            " same, send `again`.",
            version=newest.number,
        )
    number = newest.number + 1 if newest else 1
    drawn = graph_of(draft.graph)
    runs = runnable(drawn)
    version = Version.objects.create(
        workflow=workflow,
        number=number,
        graph=draft.graph if runs is drawn else text_of(runs),
        drawn_graph="" if runs is drawn else draft.graph,
        note=note,
        published_by=actor.user,
    )
    _touch(workflow, actor)
    audit.record(
        actor,
        "workflow.publish",
        target=workflow,
        workspace=workflow.workspace,
        data={"version": version.number, "revision": draft.revision},
    )
    return version


def _lock(workflow: Workflow) -> Workflow:
    rows = Workflow.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("workspace").get(id=workflow.id)


class _Moved(Exception):
    """The draft was saved meanwhile."""


@contextmanager
def _or_present(workflow: Workflow, revision: int) -> Iterator[None]:
    """Around a transaction that finds a draft moved on: DraftConflict. The present draft is checked after it."""
    try:
        yield
    except _Moved:
        present = selectors.draft_of(workflow)
        raise DraftConflict(
            f"The draft was saved meanwhile: it is at revision {present['revision']}, not {revision}. Look at the"
            " present one, then save again.",
            **present,
        ) from None


def _draft_at(workflow: Workflow, revision: int) -> Draft:
    locked = _lock(workflow)
    if locked.archived_at is not None:
        raise WorkflowArchived("This workflow is archived. Bring it back before you change it.")
    draft = Draft.objects.get(workflow_id=locked.id)
    draft.workflow = locked
    if draft.revision != revision:
        raise _Moved
    return draft


def _touch(workflow: Workflow, actor: Actor, *fields: str) -> None:
    workflow.updated_by = actor.user
    workflow.save(update_fields=[*fields, "updated_at", "updated_by"])
