"""What waits for people. Answers are plain dicts in the shapes of docs/architecture.md."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from kit.errors import NotFound
from kit.paging import encode_cursor, typed_cursor
from runs.core.questions import FOR_PEOPLE, shown_hash
from runs.models import Vote, Wait
from runs.selectors.following import Graphs, following
from runs.selectors.values import decoded
from teams.access import Actor, visible_to
from teams.models import Workspace


class WaitNotFound(NotFound):
    code = "wait_not_found"


def open_waits(actor: Actor, workspace: Workspace) -> QuerySet[Wait]:
    rows = Wait.objects.filter(status="open", kind__in=FOR_PEOPLE).select_related(
        "run__workflow", "run__version", "run__workspace"
    )
    return visible_to(actor, rows, workspace)


def wait_page(
    actor: Actor, workspace: Workspace, *, limit: int, cursor: str = "", kind: str | None = None
) -> dict[str, Any]:
    """Open questions, the oldest first."""
    rows = open_waits(actor, workspace).annotate(path=F("step_run__path"), node=F("step_run__node_id"))
    if kind is not None:
        rows = rows.filter(kind=kind)
    if cursor:
        opened_at, id_ = typed_cursor(cursor, datetime, UUID)
        rows = rows.filter(Q(opened_at__gt=opened_at) | Q(opened_at=opened_at, id__gt=id_))
    found = list(rows.order_by("opened_at", "id")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    more_after = encode_cursor(page[-1].opened_at.isoformat(), str(page[-1].id)) if more else None
    votes, graphs = votes_on(page), Graphs()
    return {"items": [_inbox_shape(wait, votes.get(wait.id, []), graphs) for wait in page], "next": more_after}


def wait_detail(actor: Actor, workspace: Workspace, wait_id: UUID) -> dict[str, Any]:
    """One question for people as the inbox shows it, also one that is closed. Raises WaitNotFound."""
    rows = Wait.objects.filter(kind__in=FOR_PEOPLE).select_related("run__workflow", "run__version", "answered_by")
    asked = rows.annotate(path=F("step_run__path"), node=F("step_run__node_id"))
    found = visible_to(actor, asked, workspace).filter(id=wait_id).first()
    if found is None:
        raise WaitNotFound("There is no such question in this workspace.")
    return _inbox_shape(found, votes_on([found]).get(found.id, []), Graphs())


def votes_on(waits: Iterable[Wait]) -> dict[UUID, list[Vote]]:
    """The votes on each of these waits, in the order in which they were cast."""
    found: dict[UUID, list[Vote]] = {}
    for vote in Vote.objects.filter(wait_id__in=[wait.id for wait in waits]).order_by("id"):
        found.setdefault(vote.wait_id, []).append(vote)
    return found


def _inbox_shape(wait: Any, votes: Iterable[Vote], graphs: Graphs) -> dict[str, Any]:
    run = wait.run
    return {
        **wait_shape(wait, votes),
        "path": wait.path,
        "follows": following(graphs.of(run.version), wait.node, wait.kind),
        "run": {
            "id": run.id,
            "number": run.number,
            "workflow": {"id": run.workflow_id, "name": run.workflow.name},
            "version": run.version.number,
        },
    }


def wait_for(actor: Actor, workspace: Workspace, wait_id: UUID) -> Wait:
    """An open or closed wait. Raises WaitNotFound."""
    found = visible_to(actor, Wait.objects.select_related("run__workspace"), workspace).filter(id=wait_id).first()
    if found is None:
        raise WaitNotFound("There is no such question in this workspace.")
    return found


def wait_shape(wait: Wait, votes: Iterable[Vote] = ()) -> dict[str, Any]:
    return {
        "id": wait.id,
        "kind": wait.kind,
        "status": wait.status,
        "attempt": wait.attempt,
        "data": decoded(wait.data),
        "opened_at": wait.opened_at,
        "expires_at": wait.expires_at,
        "answer": decoded(wait.answer),
        "answered_at": wait.answered_at,
        "answered_by": str(wait.answered_by) if wait.answered_by else None,
        "shown_hash": shown_hash(wait.data),
        "votes": [
            {"name": vote.name, "decision": vote.decision, "comment": vote.comment, "at": vote.at} for vote in votes
        ],
    }
