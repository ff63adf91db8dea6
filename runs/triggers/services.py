"""What people do to triggers. Each function: permission, act, audit, in one transaction."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.db import transaction

from builder.connections.sealing import seal, unseal
from builder.workflows.models import Workflow
from kit.ids import new_id
from runs.core.ticks import next_tick, ticks
from runs.engine.check_input import check_input
from runs.masking import masker_for, refuse_secrets
from runs.models import Trigger
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.triggers import ledger, schedule
from runs.triggers.errors import BackfillTooLarge, BackfillTooOld, BadTrigger, NotASchedule, NotAWebhook
from runs.triggers.shapes import RunEndSettings, ScheduleSettings, Settings, checked, dumped, schedule_of, text_of
from runs.triggers.turn import columns_of
from teams import audit
from teams.access import SYSTEM, Actor, Permission, require, visible_to

BACKFILL_AT_MOST = 1_000  # ticks of one request
ONE_MOMENT = timedelta(microseconds=1)
NO_TURN: Mapping[str, Any] = {}

NOW = "SELECT statement_timestamp()"


def create_trigger(
    *,
    actor: Actor,
    workflow: Workflow,
    kind: str,
    name: str,
    settings: Mapping[str, Any],
    enabled: bool = True,
    turn: Mapping[str, Any] = NO_TURN,
) -> Trigger:
    """`turn` may hold priority, limit and deadline_s of its runs (turn.py).

    Raises BadTrigger, HoldsSecret; BadRunInput where a schedule's input does not fit the newest version's schema.
    """
    require(actor, Permission.EDIT, workflow.workspace)
    wanted = checked(kind, settings)
    _refuse_secrets(workflow.workspace_id, name, wanted, turn=turn)
    _check_source(workflow, wanted)
    _check_input_of(workflow.id, wanted)
    id_ = new_id()
    with errors_as_djangos(), transaction.atomic():
        now = _now()
        trigger = Trigger.objects.create(
            id=id_, workspace=workflow.workspace, workflow=workflow, kind=kind, name=name, is_enabled=enabled,
            created_by=actor.user, created_at=now, updated_at=now, settings=text_of(wanted),
            **columns_of(turn), **_columns(wanted, now=now, enabled=enabled),
            **(_address(id_) if kind == "webhook" else {}),
        )  # fmt: skip
        data = {"workflow": str(workflow.id), "kind": kind, "name": name, "enabled": enabled}
        audit.record(actor, "trigger.create", target=trigger, workspace=workflow.workspace, data=data)
    return trigger


def _refuse_secrets(
    workspace_id: UUID, name: str | None, settings: Settings | None, *, turn: Mapping[str, Any]
) -> None:
    given = {"name": name, "settings": settings and dumped(settings), "limit": turn.get("limit")}
    refuse_secrets(masker_for(workspace_id, *given.values()), given)


def _address(trigger_id: UUID) -> dict[str, Any]:
    """Where a webhook listens and what its senders prove themselves with: made here, never chosen, so that no two are
    equal and none is guessed.
    """
    return {"path": secrets.token_urlsafe(24), "secret": seal(trigger_id, {"secret": _new_secret()})}


def _new_secret() -> str:
    return "whsec_" + secrets.token_urlsafe(32)


def secret_of(trigger: Trigger) -> str | None:
    """For the one answer that shows it: of the request that made it."""
    return None if trigger.secret is None else str(unseal(trigger.id, trigger.secret)["secret"])


@transaction.atomic
def change_secret(*, actor: Actor, trigger: Trigger) -> str:
    """A new one, which is shown this once; the old one is refused from now on. Raises NotAWebhook."""
    require(actor, Permission.EDIT, trigger.workspace)
    if trigger.kind != "webhook":
        raise NotAWebhook("Only a webhook has a secret.")
    with errors_as_djangos():
        now = _locked_now(trigger.id)
    made = _new_secret()
    sealed = seal(trigger.id, {"secret": made})
    Trigger.objects.filter(id=trigger.id).update(secret=sealed, updated_at=now)
    audit.record(actor, "trigger.new_secret", target=trigger, workspace=trigger.workspace)
    return made


def _columns(settings: Settings, *, now: datetime, enabled: bool) -> dict[str, Any]:
    """What the sweeper asks by, beside the settings' text."""
    if isinstance(settings, ScheduleSettings):
        following = next_tick(settings.timing(), now) if enabled else None
        return {"overlap": settings.overlap.value, "decided_to": now, "next_at": following and following.at}
    if isinstance(settings, RunEndSettings):
        return {"source_id": settings.source, "ends": f" {' '.join(settings.on)} "}
    return {}


def _check_source(workflow: Workflow, settings: Settings) -> None:
    """Raises BadTrigger for a workflow that is not in this workspace, and for one that would start itself."""
    if not isinstance(settings, RunEndSettings):
        return
    problem = None
    if settings.source == workflow.id:
        problem = "A workflow that starts at its own end would never stop. Name another one."
    elif not visible_to(SYSTEM, Workflow.objects.filter(id=settings.source), workflow.workspace).exists():
        problem = "There is no such workflow in this workspace."
    if problem:
        raise BadTrigger(problem, fields=[{"field": "settings.source", "message": problem}])


def change_trigger(
    *,
    actor: Actor,
    trigger: Trigger,
    name: str | None = None,
    enabled: bool | None = None,
    settings: Mapping[str, Any] | None = None,
    turn: Mapping[str, Any] = NO_TURN,
) -> None:
    """What is None, or not named by `turn`, stays. What a schedule's old settings made due goes into the ledger first,
    so that no tick is lost by an edit, and saving what is there already changes no tick. Disabling gives up what is
    queued. Raises BadTrigger, HoldsSecret, BadRunInput.
    """
    require(actor, Permission.EDIT, trigger.workspace)
    wanted = None if settings is None else checked(trigger.kind, settings)
    _refuse_secrets(trigger.workspace_id, name, wanted, turn=turn)
    if wanted is not None:
        _check_source(trigger.workflow, wanted)
        _check_input_of(trigger.workflow_id, wanted)
    with errors_as_djangos(), transaction.atomic():
        now = _locked_now(trigger.id)
        before = Trigger.objects.get(id=trigger.id)
        _settle_due(before)
        changes = _changes(before, name=name, enabled=enabled, settings=wanted)
        changes |= {field: value for field, value in columns_of(turn).items() if value != getattr(before, field)}
        if enabled is False:
            ledger.skip_queue(raw_connection(), trigger.id, "disabled")
        moved = {} if changes.keys().isdisjoint(("is_enabled", "settings")) else _moved(before, changes, now=now)
        Trigger.objects.filter(id=trigger.id).update(**changes, **moved, updated_at=now)
        data = {"changed": sorted(changes)}
        audit.record(actor, "trigger.update", target=trigger, workspace=trigger.workspace, data=data)


def _changes(before: Trigger, *, name: str | None, enabled: bool | None, settings: Settings | None) -> dict[str, Any]:
    wanted = {"name": name, "is_enabled": enabled, "settings": None if settings is None else text_of(settings)}
    return {field: value for field, value in wanted.items() if value not in (None, getattr(before, field))}


def _moved(before: Trigger, changes: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """The columns that follow from the settings. A schedule whose timing stays goes on where it was."""
    if before.kind != "schedule":
        return _columns(
            checked(before.kind, json.loads(changes.get("settings", before.settings))), now=now, enabled=True
        )
    old, new = (schedule_of(text) for text in (before.settings, changes.get("settings", before.settings)))
    enabled = changes.get("is_enabled", before.is_enabled)
    if enabled and before.is_enabled and old.timing() == new.timing():
        return {"overlap": new.overlap.value}
    return _columns(new, now=now, enabled=enabled)


def _settle_due(trigger: Trigger) -> None:
    """Puts every due tick of a schedule into the ledger; the sweeper starts them."""
    if trigger.kind != "schedule" or not trigger.is_enabled:
        return
    connection = raw_connection()
    while True:
        locked = schedule.lock(connection, trigger.id)
        if locked is None or not locked.is_due or schedule.decide_due(connection, locked):
            return


@transaction.atomic
def delete_trigger(*, actor: Actor, trigger: Trigger) -> None:
    """With its ledger. Its runs stay, and keep its name."""
    require(actor, Permission.EDIT, trigger.workspace)
    data = {"kind": trigger.kind, "name": trigger.name, "workflow": str(trigger.workflow_id)}
    audit.record(actor, "trigger.delete", target=trigger, workspace=trigger.workspace, data=data)
    trigger.delete()


@dataclass(frozen=True)
class Backfilled:
    ticks: int
    queued: int  # the others have had a run, or wait for one, already


@transaction.atomic
def backfill(*, actor: Actor, trigger: Trigger, begin: datetime, end: datetime, preview: bool = False) -> Backfilled:
    """Queues every tick of begin <= t <= end that has had no run; the sweeper starts them one after another. The same
    request again changes nothing; a preview does the same and throws it away.

    Raises NotASchedule, BackfillTooLarge, BackfillTooOld.
    """
    require(actor, Permission.RUN, trigger.workspace)
    if trigger.kind != "schedule":
        raise NotASchedule("Only a schedule has times that can be made up for.")
    with errors_as_djangos():
        connection = raw_connection()
        _locked_now(trigger.id)
        _settle_due(trigger)
        locked = schedule.lock(connection, trigger.id)
        assert locked is not None
        found = _past_ticks(locked, begin, end)
        queued = ledger.add_again(connection, trigger.id, found)
    if preview:
        transaction.set_rollback(True)
        return Backfilled(len(found), queued)
    data = {"from": begin.isoformat(), "to": end.isoformat(), "ticks": len(found), "queued": queued}
    audit.record(actor, "trigger.backfill", target=trigger, workspace=trigger.workspace, data=data)
    return Backfilled(len(found), queued)


def _past_ticks(locked: schedule.Locked, begin: datetime, end: datetime) -> list[Any]:
    """What the ledger has forgotten must not be taken for what never ran."""
    oldest = locked.now - timedelta(days=django_settings.RETENTION_DAYS)
    if django_settings.RETENTION_DAYS and begin < oldest:
        raise BackfillTooOld(
            f"The ledger is kept for {django_settings.RETENTION_DAYS} days. Ask for times from {oldest:%Y-%m-%d %H:%M}"
            " UTC on.",
            oldest=oldest.isoformat(),
        )
    timing, until = locked.settings.timing(), min(end, locked.now)
    found = list(islice(ticks(timing, after=begin - ONE_MOMENT, until=until), BACKFILL_AT_MOST + 1))
    if len(found) > BACKFILL_AT_MOST:
        raise BackfillTooLarge(
            f"More than {BACKFILL_AT_MOST} times of this schedule lie between {begin} and {end}. Ask for less at once.",
            limit=BACKFILL_AT_MOST,
        )
    return found


def _now() -> datetime:
    found = raw_connection().execute(NOW).fetchone()
    assert found is not None
    now: datetime = found[0]
    return now


def _locked_now(trigger_id: UUID) -> datetime:
    """Holds the trigger's row to the transaction's end, and answers the database's time after that wait."""
    Trigger.objects.select_for_update(no_key=True).filter(id=trigger_id).first()
    return _now()


def _check_input_of(workflow_id: UUID, settings: Settings) -> None:
    """A schedule's input against the newest version, where there is one. A later version may want another: then its
    firings fail, and the ledger says why.
    """
    if not isinstance(settings, ScheduleSettings):
        return
    newest = Workflow.objects.get(id=workflow_id).versions.order_by("-number").values_list("id", flat=True).first()
    if newest is not None:
        with errors_as_djangos():
            check_input(raw_connection(), newest, settings.input)
