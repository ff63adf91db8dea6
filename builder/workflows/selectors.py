"""Questions about workflows, drafts and versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from django.conf import settings
from django.db.models import F, Max, Q, QuerySet
from django.utils.module_loading import import_string

from builder.connections.selectors import UsingWorkflow
from builder.workflows.checking import problems_of
from builder.workflows.documents import document_of, graph_of
from builder.workflows.errors import VersionNotFound, WorkflowNotFound
from builder.workflows.models import Draft, Version, Workflow
from kit.paging import BadCursor, decode_cursor, encode_cursor
from teams.access import Actor, visible_to
from teams.models import Workspace


class LastRun(TypedDict):
    id: UUID
    number: int
    status: str
    started_at: datetime


@dataclass(frozen=True)
class Page:
    items: list[dict[str, Any]]
    next: str | None


def workflows_of(actor: Actor, workspace: Workspace) -> QuerySet[Workflow]:
    rows = visible_to(actor, Workflow.objects.all(), workspace)
    return rows.annotate(live_version=Max("versions__number"), draft_revision=F("draft__revision")).select_related(
        "updated_by"
    )


def workflow_for(actor: Actor, workspace: Workspace, workflow_id: UUID) -> Workflow:
    found = workflows_of(actor, workspace).select_related("workspace").filter(id=workflow_id).first()
    if found is None:
        raise WorkflowNotFound("There is no such workflow in this workspace.")
    return found


def workflow_page(
    actor: Actor, workspace: Workspace, *, limit: int, cursor: str = "", q: str = "", archived: bool = False
) -> Page:
    """The last changed first. One that changes while somebody turns pages moves to the front, behind their back."""
    rows = workflows_of(actor, workspace).filter(archived_at__isnull=not archived)
    if q:
        rows = rows.filter(name__icontains=q)
    if cursor:
        changed_at, last_id = _read_cursor(cursor)
        rows = rows.filter(Q(updated_at__lt=changed_at) | Q(updated_at=changed_at, id__lt=last_id))
    found = list(rows.order_by("-updated_at", "-id")[: limit + 1])
    page = found[:limit]
    last_runs = last_runs_of([row.id for row in page])
    following = encode_cursor(page[-1].updated_at.isoformat(), str(page[-1].id)) if len(found) > limit else None
    return Page([summary(row, last_runs) for row in page], following)


def _read_cursor(cursor: str) -> tuple[datetime, UUID]:
    changed_at, last_id = decode_cursor(cursor, length=2)
    try:
        return datetime.fromisoformat(changed_at), UUID(last_id)
    except (TypeError, ValueError, AttributeError) as error:
        raise BadCursor("This page's cursor belongs to another list. Start again from the first page.") from error


def last_runs_of(workflow_ids: Sequence[UUID]) -> Mapping[UUID, LastRun]:
    """Runs are a room above: settings.LAST_RUNS names the function there that answers."""
    if not settings.LAST_RUNS or not workflow_ids:
        return {}
    found: Mapping[UUID, LastRun] = import_string(settings.LAST_RUNS)(workflow_ids)
    return found


def summary(workflow: Workflow, last_runs: Mapping[UUID, LastRun] | None = None) -> dict[str, Any]:
    """A row of `workflows_of`, as lists show it."""
    runs = last_runs_of([workflow.id]) if last_runs is None else last_runs
    added: Any = workflow  # with what workflows_of adds to each row
    return {
        "id": workflow.id,
        "name": workflow.name,
        "created_at": workflow.created_at,
        "updated_at": workflow.updated_at,
        "updated_by": str(workflow.updated_by) if workflow.updated_by else None,
        "archived_at": workflow.archived_at,
        "live_version": added.live_version,
        "draft_revision": added.draft_revision,
        "last_run": runs.get(workflow.id),
    }


def draft_of(workflow: Workflow) -> dict[str, Any]:
    """The draft with the problems that it has now. `workflow_for`, which gave the workflow, asked who may see it."""
    draft = Draft.objects.select_related("updated_by", "workflow").get(workflow_id=workflow.id)
    return {
        "revision": draft.revision,
        "graph": document_of(draft.graph),
        "problems": problems_of(graph_of(draft.graph), workflow.workspace, workflow_id=workflow.id),
        "updated_at": draft.updated_at,
        "updated_by": str(draft.updated_by) if draft.updated_by else None,
    }


def version_page(workflow: Workflow, *, limit: int, cursor: str = "") -> Page:
    """The newest first, without their graphs."""
    rows = Version.objects.filter(workflow_id=workflow.id).select_related("published_by").defer("graph", "drawn_graph")
    if cursor:
        (number,) = decode_cursor(cursor, length=1)
        if not isinstance(number, int):
            raise BadCursor("This page's cursor belongs to another list. Start again from the first page.")
        rows = rows.filter(number__lt=number)
    found = list(rows.order_by("-number")[: limit + 1])
    page = found[:limit]
    following = encode_cursor(page[-1].number) if len(found) > limit else None
    return Page([version_row(version) for version in page], following)


def version_row(version: Version) -> dict[str, Any]:
    return {
        "number": version.number,
        "note": version.note,
        "published_at": version.published_at,
        "published_by": str(version.published_by) if version.published_by else None,
    }


def version_for(workflow: Workflow, number: int) -> Version:
    found = Version.objects.filter(workflow_id=workflow.id, number=number).select_related("published_by").first()
    if found is None:
        raise VersionNotFound(f"This workflow has no version {number}.", number=number)
    return found


def live_version(workflow: Workflow) -> Version | None:
    """The newest: what a run executes when nobody names a version. None where nothing was published yet."""
    return Version.objects.filter(workflow_id=workflow.id).order_by("-number").first()


def using_connection(workspace_id: UUID, name: str) -> list[UsingWorkflow]:
    """Workflows whose newest version has a node with that connection (settings.CONNECTION_USERS)."""
    newest = (
        Version.objects.filter(workflow__workspace_id=workspace_id, workflow__archived_at=None)
        .order_by("workflow_id", "-number")
        .distinct("workflow_id")
        .select_related("workflow")
    )
    return [
        {"id": str(version.workflow_id), "name": version.workflow.name}
        for version in newest.iterator()
        if any(node.config.get("connection") == name for node in graph_of(version.graph).nodes)
    ]
