"""Questions about bulk operations: how far they are, and what became of each run."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from kit.errors import NotFound
from kit.paging import encode_cursor, typed_cursor
from runs.models import BulkOperation, BulkRun, Run
from runs.selectors.values import decoded
from teams.access import Actor, visible_to
from teams.models import Workspace

STATUSES = ("pending", "done", "refused", "skipped")


class BulkNotFound(NotFound):
    code = "bulk_not_found"


def bulk_for(actor: Actor, workspace: Workspace, bulk_id: UUID) -> BulkOperation:
    """Raises BulkNotFound, also for one of another workspace."""
    rows = visible_to(actor, BulkOperation.objects.select_related("workspace"), workspace)
    found = rows.filter(id=bulk_id).first()
    if found is None:
        raise BulkNotFound("There is no such bulk operation in this workspace.")
    return found


def bulk_page(actor: Actor, workspace: Workspace, *, limit: int, cursor: str = "") -> dict[str, Any]:
    """The newest first."""
    rows = visible_to(actor, BulkOperation.objects.all(), workspace)
    if cursor:
        created_at, id_ = typed_cursor(cursor, datetime, UUID)
        rows = rows.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=id_))
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    following = encode_cursor(page[-1].created_at.isoformat(), str(page[-1].id)) if more else None
    return {"items": shapes_of(page), "next": following}


def shapes_of(operations: Iterable[BulkOperation]) -> list[dict[str, Any]]:
    """With the counts of this moment, out of the rows themselves: never a counter that could be wrong."""
    found = list(operations)
    counts = {bulk.id: dict.fromkeys(STATUSES, 0) for bulk in found}
    counted = BulkRun.objects.filter(bulk_id__in=counts).values("bulk_id", "status").annotate(runs=Count("id"))
    for row in counted:
        counts[row["bulk_id"]][row["status"]] = row["runs"]
    return [_bulk_shape(bulk, counts[bulk.id]) for bulk in found]


def _bulk_shape(bulk: BulkOperation, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "id": bulk.id,
        "operation": bulk.operation,
        "status": bulk.status,
        "reason": decoded(bulk.reason),
        "revision": bulk.revision,
        "rate_per_s": bulk.rate_per_s,
        "canary": bulk.canary,
        "counts": {"total": bulk.total, **counts},
        "actor": bulk.actor,
        "request": decoded(bulk.request),
        "created_at": bulk.created_at,
        "finished_at": bulk.finished_at,
    }


def result_page(bulk: BulkOperation, *, status: str, limit: int, cursor: str = "") -> dict[str, Any]:
    """What became of each run, in the order in which they come."""
    rows: QuerySet[BulkRun] = BulkRun.objects.filter(bulk=bulk)
    if status:
        rows = rows.filter(status=status)
    if cursor:
        (position,) = typed_cursor(cursor, int)
        rows = rows.filter(position__gt=position)
    found = list(rows.order_by("position")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    runs = Run.objects.select_related("workflow").in_bulk([item.run_id for item in page])
    items = [_result_shape(item, runs.get(item.run_id)) for item in page]
    return {"items": items, "next": encode_cursor(page[-1].position) if more else None}


def _result_shape(item: BulkRun, run: Run | None) -> dict[str, Any]:
    return {
        "run": {
            "id": item.run_id,
            "number": item.number,
            "status": run and run.status,
            "workflow": run and {"id": run.workflow_id, "name": run.workflow.name},
        },
        "status": item.status,
        "code": item.code,
        "message": item.message,
        "result": decoded(item.result),
        "actor": item.actor,
        "acted_at": item.acted_at,
    }
