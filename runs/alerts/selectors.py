"""What people see of alerts. Answers are plain dicts in the shapes of docs/architecture.md."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from kit.paging import encode_cursor, typed_cursor
from runs.alerts.deliver import own_mail
from runs.alerts.errors import AlertNotFound
from runs.alerts.letter import Told, sentence
from runs.alerts.post import origin_of
from runs.models import AlertDelivery, AlertFact, AlertRule
from teams.access import Actor, Permission, can, visible_to
from teams.models import Workspace

LATEST = 5  # deliveries beside a rule
FACTS = 5  # of a delivery


def alerts_of(actor: Actor, workspace: Workspace) -> QuerySet[AlertRule]:
    return visible_to(actor, AlertRule.objects.select_related("workspace", "workflow", "created_by"), workspace)


def alert_for(actor: Actor, workspace: Workspace, rule_id: UUID) -> AlertRule:
    """Raises AlertNotFound, also for one of another workspace."""
    found = alerts_of(actor, workspace).filter(id=rule_id).first()
    if found is None:
        raise AlertNotFound("There is no such alert in this workspace.")
    return found


def alert_list(actor: Actor, workspace: Workspace, *, workflow: UUID | None = None) -> dict[str, Any]:
    """All of them (a workspace has at most a hundred); of one workflow: also those of every workflow."""
    rows = alerts_of(actor, workspace).order_by("name", "id")
    if workflow is not None:
        rows = rows.filter(Q(workflow_id=workflow) | Q(workflow__isnull=True))
    may_edit = can(actor, Permission.EDIT, workspace)
    items = [_alert_shape(rule, may_edit=may_edit) for rule in rows]
    return {"items": items, "has_own_mail": own_mail() is not None}


def alert_detail(actor: Actor, rule: AlertRule) -> dict[str, Any]:
    return _alert_shape(rule, may_edit=can(actor, Permission.EDIT, rule.workspace))


def _alert_shape(rule: AlertRule, *, may_edit: bool) -> dict[str, Any]:
    """A webhook's address may hold a token: whoever may not change it sees where it leads, no more."""
    return {
        "id": rule.id,
        "name": rule.name,
        "workflow": {"id": rule.workflow.id, "name": rule.workflow.name} if rule.workflow else None,
        "events": rule.events.split(),
        "channel": rule.channel,
        "recipients": json.loads(rule.recipients),
        "connection": rule.connection,
        "url": rule.url if may_edit or not rule.url else origin_of(rule.url),
        "quiet_s": rule.quiet_s,
        "no_worker_s": rule.no_worker_s,
        "enabled": rule.is_enabled,
        "untold": AlertFact.objects.filter(rule=rule, delivery__isnull=True)[:1000].count(),
        "deliveries": delivery_shapes(AlertDelivery.objects.filter(rule=rule).order_by("-created_at", "-id")[:LATEST]),
        "created_by": str(rule.created_by) if rule.created_by else None,
        "created_at": rule.created_at,
        "updated_at": rule.updated_at,
    }


def delivery_page(rule: AlertRule, *, limit: int, cursor: str = "") -> dict[str, Any]:
    """The latest first. Index: alert_delivery_newest."""
    rows = AlertDelivery.objects.filter(rule=rule)
    if cursor:
        created_at, id_ = typed_cursor(cursor, datetime, UUID)
        rows = rows.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=id_))
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    page = found[:limit]
    following = encode_cursor(page[-1].created_at.isoformat(), str(page[-1].id)) if len(found) > limit else None
    return {"items": delivery_shapes(page), "next": following}


def delivery_shapes(deliveries: Sequence[AlertDelivery] | QuerySet[AlertDelivery]) -> list[dict[str, Any]]:
    return [_delivery_shape(each) for each in deliveries]


def _delivery_shape(delivery: AlertDelivery) -> dict[str, Any]:
    facts = AlertFact.objects.filter(delivery=delivery).order_by("-at", "-id")[:FACTS]
    return {
        "id": delivery.id,
        "status": delivery.status,
        "is_test": delivery.is_test,
        "facts": [_fact_shape(fact) for fact in facts],
        "fact_count": delivery.fact_count,
        "attempts": delivery.attempts,
        "error": delivery.error,
        "next_at": delivery.not_before if delivery.status == "waiting" else None,
        "created_at": delivery.created_at,
        "sent_at": delivery.sent_at,
    }


def _fact_shape(fact: AlertFact) -> dict[str, Any]:
    data: Mapping[str, Any] = json.loads(fact.data)
    return {
        "kind": fact.kind,
        "at": fact.at,
        "text": sentence(Told(fact.kind, data, fact.at)),
        "run": (data.get("run") or {}).get("id"),
    }
