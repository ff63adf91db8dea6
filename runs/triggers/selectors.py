"""What people see of triggers. Answers are plain dicts in the shapes of docs/architecture.md."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from builder.workflows.models import Workflow
from kit.paging import encode_cursor, typed_cursor
from runs.core.firings import LATE_S
from runs.core.ticks import Cron, Tick, upcoming
from runs.models import Firing, Run, Trigger
from runs.triggers.errors import TriggerNotFound
from runs.triggers.shapes import schedule_of
from runs.triggers.turn import turn_of
from teams.access import Actor, Permission, can, visible_to
from teams.models import Workspace

UPCOMING = 5


def triggers_of(actor: Actor, workspace: Workspace) -> QuerySet[Trigger]:
    return visible_to(actor, Trigger.objects.select_related("workspace", "workflow", "created_by"), workspace)


def trigger_for(actor: Actor, workspace: Workspace, trigger_id: UUID) -> Trigger:
    """Raises TriggerNotFound, also for one of another workspace."""
    found = triggers_of(actor, workspace).filter(id=trigger_id).first()
    if found is None:
        raise TriggerNotFound("There is no such trigger in this workspace.")
    return found


def trigger_page(
    actor: Actor, workspace: Workspace, *, workflow: Workflow | None = None, limit: int, cursor: str = ""
) -> dict[str, Any]:
    """The newest first: of one workflow, or of all."""
    rows = triggers_of(actor, workspace)
    if workflow is not None:
        rows = rows.filter(workflow=workflow)
    if cursor:
        created_at, id_ = typed_cursor(cursor, datetime, UUID)
        rows = rows.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=id_))
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    page = found[:limit]
    following = encode_cursor(page[-1].created_at.isoformat(), str(page[-1].id)) if len(found) > limit else None
    last, shows_path = _last_firings([each.id for each in page]), can(actor, Permission.RUN, workspace)
    items = [_trigger_shape(each, last.get(each.id), shows_path=shows_path) for each in page]
    return {"items": items, "next": following}


def trigger_detail(actor: Actor, trigger: Trigger) -> dict[str, Any]:
    last = _last_firings([trigger.id]).get(trigger.id)
    return _trigger_shape(trigger, last, shows_path=can(actor, Permission.RUN, trigger.workspace))


def _trigger_shape(trigger: Trigger, last: Mapping[str, Any] | None, *, shows_path: bool) -> dict[str, Any]:
    """`shows_path`: whoever knows the address of a webhook without a signature may start runs with it."""
    return {
        "id": trigger.id,
        "kind": trigger.kind,
        "name": trigger.name,
        "workflow": {"id": trigger.workflow_id, "name": trigger.workflow.name},
        "enabled": trigger.is_enabled,
        "settings": json.loads(trigger.settings),
        **turn_of(trigger),
        "path": f"/hooks/{trigger.path}" if trigger.path and shows_path else None,
        "upcoming": _upcoming_of(trigger),
        "last_firing": last,
        "created_by": str(trigger.created_by) if trigger.created_by else None,
        "created_at": trigger.created_at,
        "updated_at": trigger.updated_at,
    }


def _upcoming_of(trigger: Trigger) -> list[dict[str, Any]]:
    if trigger.kind != "schedule" or not trigger.is_enabled:
        return []
    return upcoming_shapes(schedule_of(trigger.settings).timing())


def upcoming_shapes(timing: Cron, *, after: datetime | None = None) -> list[dict[str, Any]]:
    """The next times by the database's clock, those marked at which the zone's clock is changed."""
    return [_tick_shape(tick) for tick in upcoming(timing, after or _now(), count=UPCOMING)]


def _tick_shape(tick: Tick) -> dict[str, Any]:
    return {"at": tick.at, "local": tick.local.isoformat(), "clock": tick.clock}


def _now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


# ---------------------------------------------------------------------- the ledger


def firing_page(trigger: Trigger, *, limit: int, cursor: str = "", status: str = "") -> dict[str, Any]:
    """The latest first. Index: firing_newest."""
    rows = Firing.objects.filter(trigger_id=trigger.id)
    if status:
        rows = rows.filter(status=status)
    if cursor:
        due_at, id_ = typed_cursor(cursor, datetime, int)
        rows = rows.filter(Q(due_at__lt=due_at) | Q(due_at=due_at, id__lt=id_))
    found = list(rows.order_by("-due_at", "-id")[: limit + 1])
    page = found[:limit]
    following = encode_cursor(page[-1].due_at.isoformat(), page[-1].id) if len(found) > limit else None
    return {"items": firing_shapes(page), "next": following}


def firing_shapes(firings: Sequence[Firing]) -> list[dict[str, Any]]:
    wanted = [each.run_id for each in firings if each.run_id]
    runs = {run.id: run for run in Run.objects.filter(id__in=wanted).only("id", "number", "status")}
    return [_firing_shape(each, runs.get(each.run_id) if each.run_id else None) for each in firings]


def _firing_shape(firing: Firing, run: Run | None) -> dict[str, Any]:
    late_s = (firing.fired_at - firing.due_at).total_seconds() if firing.fired_at else 0.0
    return {
        "id": firing.id,
        "due_at": firing.due_at,
        "status": firing.status,
        "reason": firing.reason,
        "detail": firing.detail,
        "is_backfill": firing.is_backfill,
        "is_late": firing.status == "fired" and late_s > LATE_S,
        "fired_at": firing.fired_at,
        "run": {"id": run.id, "number": run.number, "status": run.status} if run else None,
    }


def _last_firings(trigger_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    rows = Firing.objects.filter(trigger_id__in=trigger_ids)
    newest = list(rows.order_by("trigger_id", "-due_at", "-id").distinct("trigger_id"))
    return {each.trigger_id: shape for each, shape in zip(newest, firing_shapes(newest), strict=True)}
