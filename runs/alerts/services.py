"""What people do to alerts. Each function: permission, act, audit, in one transaction."""

import json
import secrets
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from builder.connections.sealing import seal, unseal
from builder.workflows.models import Workflow
from kit.ids import new_id
from runs.alerts.errors import AlertTestWaits, NoAlertSecret, TooManyAlerts
from runs.alerts.shapes import check_target, events_text
from runs.masking import masker_for, refuse_secrets
from runs.models import AlertDelivery, AlertFact, AlertRule
from teams import audit
from teams.access import Actor, Permission, require, visible_to
from teams.models import Workspace

AT_MOST = 100
TARGET = ("recipients", "connection", "url")
PLAIN = ("name", "quiet_s", "no_worker_s")


@transaction.atomic
def create_alert(
    *, actor: Actor, workspace: Workspace, workflow: Workflow | None, channel: str, wanted: Mapping[str, Any]
) -> AlertRule:
    """`wanted`: name, events, recipients, connection, url, quiet_s, no_worker_s, enabled. It tells of what happens from
    now on. Raises BadAlert, TooManyAlerts, HoldsSecret.
    """
    require(actor, Permission.EDIT, workspace)
    events = events_text(wanted["events"])
    check_target(workspace, channel, wanted)
    _refuse_secrets(workspace, wanted)
    Workspace.objects.select_for_update(no_key=True).get(id=workspace.id)  # two at once are counted one after the other
    if visible_to(actor, AlertRule.objects.all(), workspace).count() >= AT_MOST:
        raise TooManyAlerts(f"A workspace has at most {AT_MOST} alerts. Delete one first.", limit=AT_MOST)
    id_ = new_id()
    rule = AlertRule.objects.create(
        id=id_, workspace=workspace, workflow=workflow, channel=channel, events=events,
        **{name: wanted[name] for name in PLAIN}, **_target(channel, wanted), is_enabled=wanted["enabled"],
        secret=_sealed(id_) if channel == "webhook" else None, created_by=actor.user, since=Now(), created_at=Now(),
        updated_at=Now(),
    )  # fmt: skip
    data = {"name": rule.name, "channel": channel, "events": wanted["events"]}
    audit.record(actor, "alert.create", target=rule, workspace=workspace, data=data)
    return rule


def _target(channel: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    if channel == "webhook":
        return {"url": wanted["url"]}
    return {"recipients": json.dumps(wanted["recipients"]), "connection": wanted["connection"]}


def _refuse_secrets(workspace: Workspace, wanted: Mapping[str, Any]) -> None:
    given = {name: wanted.get(name) for name in ("name", *TARGET)}
    refuse_secrets(masker_for(workspace.id, *given.values()), given)


def _sealed(rule_id: UUID) -> str:
    return seal(rule_id, {"secret": "whsec_" + secrets.token_urlsafe(32)})


def secret_of(rule: AlertRule) -> str | None:
    """For the one answer that shows it: of the request that made it."""
    return None if rule.secret is None else str(unseal(rule.id, rule.secret)["secret"])


@transaction.atomic
def change_alert(*, actor: Actor, rule: AlertRule, wanted: Mapping[str, Any]) -> None:
    """What is not named stays. Disabling drops what was not yet told; enabling begins anew from now. Raises BadAlert,
    HoldsSecret.
    """
    require(actor, Permission.EDIT, rule.workspace)
    before = AlertRule.objects.select_for_update(no_key=True).select_related("workspace").get(id=rule.id)
    changes: dict[str, Any] = {name: wanted[name] for name in PLAIN if name in wanted}
    if "events" in wanted:
        changes["events"] = events_text(wanted["events"])
    if any(name in wanted for name in TARGET):
        now = {"recipients": json.loads(before.recipients), "connection": before.connection, "url": before.url}
        target = {**now, **{name: wanted[name] for name in TARGET if name in wanted}}
        check_target(before.workspace, before.channel, target)
        changes |= _target(before.channel, target)
    _refuse_secrets(before.workspace, wanted)
    if "enabled" in wanted and wanted["enabled"] != before.is_enabled:
        changes |= _switched(before, on=wanted["enabled"])
    changed = sorted(name for name, value in changes.items() if name == "since" or value != getattr(before, name))
    AlertRule.objects.filter(id=rule.id).update(**changes, updated_at=Now())
    audit.record(actor, "alert.update", target=rule, workspace=rule.workspace, data={"changed": changed})


def _switched(rule: AlertRule, *, on: bool) -> dict[str, Any]:
    if not on:
        AlertFact.objects.filter(rule=rule, delivery__isnull=True).delete()
        gone = "The alert was switched off before this was sent."
        AlertDelivery.objects.filter(rule=rule, status="waiting").update(status="failed", error=gone)
        return {"is_enabled": False}
    return {"is_enabled": True, "since": Now()}


@transaction.atomic
def delete_alert(*, actor: Actor, rule: AlertRule) -> None:
    """With what it told."""
    require(actor, Permission.EDIT, rule.workspace)
    audit.record(actor, "alert.delete", target=rule, workspace=rule.workspace, data={"name": rule.name})
    rule.delete()


@transaction.atomic
def send_test(*, actor: Actor, rule: AlertRule) -> AlertDelivery:
    """Sends a delivery that says it is a test, whatever the quiet period; once, without another try.

    Raises AlertTestWaits while one is on its way.
    """
    require(actor, Permission.EDIT, rule.workspace)
    AlertRule.objects.select_for_update(no_key=True).get(id=rule.id)
    if AlertDelivery.objects.filter(rule=rule, status="waiting", is_test=True).exists():
        raise AlertTestWaits("A test of this alert is on its way. Wait for its outcome.")
    made = AlertDelivery.objects.create(
        rule=rule, status="waiting", is_test=True, fact_count=0, attempts=0, not_before=Now(), created_at=Now()
    )
    audit.record(actor, "alert.test", target=rule, workspace=rule.workspace)
    return AlertDelivery.objects.get(id=made.id)


@transaction.atomic
def change_secret(*, actor: Actor, rule: AlertRule) -> str:
    """A new one, which is shown this once; requests are signed with it from now on. Raises NoAlertSecret."""
    require(actor, Permission.EDIT, rule.workspace)
    if rule.channel != "webhook":
        raise NoAlertSecret("Only an alert by webhook has a secret.")
    sealed = _sealed(rule.id)
    AlertRule.objects.filter(id=rule.id).update(secret=sealed, updated_at=Now())
    audit.record(actor, "alert.new_secret", target=rule, workspace=rule.workspace)
    return str(unseal(rule.id, sealed)["secret"])
