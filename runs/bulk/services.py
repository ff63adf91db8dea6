"""What people do with bulk operations: look first, begin, stop, continue. Permission, act, audit in one transaction."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from kit.errors import BadInput, Conflict
from kit.ids import new_id
from runs.bulk.operations import OPERATIONS, plan_of
from runs.core.commands import NotPossibleNow
from runs.engine.commands import CommandIdTaken
from runs.masking import masker_for, refuse_secrets
from runs.models import BulkOperation, BulkRun, Run
from runs.payloads import json_text
from runs.selectors.filters import Filters, filtered
from runs.selectors.runs import runs_of
from teams import audit
from teams.access import Actor, Permission, require
from teams.models import Workspace

RUNS_LIMIT = 10_000
PLANS_SHOWN = 5


class NoRunsSelected(BadInput):
    code = "no_runs_selected"


class TooManyRuns(BadInput):
    code = "too_many_runs"


class SelectionChanged(Conflict):
    code = "selection_changed"


class BulkChanged(Conflict):
    code = "bulk_changed"


@dataclass(frozen=True)
class Selection:
    """Which runs are meant: those that the filters find now, or those of these ids, all of one workspace."""

    filters: Filters | None = None
    ids: Sequence[UUID] | None = None


@dataclass(frozen=True)
class Pace:
    """`rate_per_s`: at most so many runs in any second. `canary`: after so many it waits for a person."""

    rate_per_s: float | None = None
    canary: int | None = None


@dataclass(frozen=True)
class _Chosen:
    id: UUID
    number: int
    status: str
    generation: int


@dataclass(frozen=True)
class Preview:
    """`by_status`: how many of the chosen runs are in which status now. `plans`: of the first ones."""

    count: int
    skipped: int
    by_status: dict[str, int]
    plans: list[tuple[Run, Any]]


def preview_bulk(*, actor: Actor, workspace: Workspace, operation: str, selection: Selection) -> Preview:
    """Changes nothing. Raises NoRunsSelected, TooManyRuns."""
    require(actor, Permission.VIEW, workspace)
    chosen = _chosen(actor, workspace, selection)
    applies_to = OPERATIONS[operation].applies_to
    by_status = Counter(run.status for run in chosen)
    tried = [run.id for run in chosen if run.status in applies_to][:PLANS_SHOWN]
    runs = {run.id: run for run in runs_of(actor, workspace).filter(id__in=tried)}
    return Preview(
        count=len(chosen),
        skipped=sum(count for status, count in by_status.items() if status not in applies_to),
        by_status=dict(sorted(by_status.items())),
        plans=[(runs[id_], plan_of(operation, actor, runs[id_])) for id_ in tried if id_ in runs],
    )


def begin_bulk(
    *,
    actor: Actor,
    workspace: Workspace,
    command_id: UUID,
    operation: str,
    selection: Selection,
    pace: Pace,
    request: Mapping[str, Any],
    expected_count: int | None = None,
) -> tuple[BulkOperation, bool]:
    """Chooses the runs now and lets sweepers act on them; whether it is new. The same id with the same request answers
    the same operation.

    Raises CommandIdTaken, NoRunsSelected, TooManyRuns, HoldsSecret, SelectionChanged (other runs match by now).
    """
    require(actor, OPERATIONS[operation].permission, workspace)
    refuse_secrets(masker_for(workspace.id, json_text(request)), {"filter": json_text(request)})
    with transaction.atomic():
        bulk, is_new = BulkOperation.objects.get_or_create(
            id=command_id,
            defaults={
                "workspace": workspace, "operation": operation, "request": json_text(request), "user": actor.user,
                "actor": actor.name, "rate_per_s": pace.rate_per_s, "canary": pace.canary, "created_at": Now(),
            },
        )  # fmt: skip
        if not is_new:
            if (bulk.workspace_id, bulk.request) != (workspace.id, json_text(request)):
                raise CommandIdTaken
            return bulk, False
        chosen = _chosen(actor, workspace, selection)
        if expected_count not in (None, len(chosen)):
            raise SelectionChanged(
                f"You saw {expected_count} runs; by now {len(chosen)} match. Look at them again.", count=len(chosen)
            )
        _keep_runs(bulk, chosen)
        data = {"operation": operation, "runs": len(chosen), "rate_per_s": pace.rate_per_s, "canary": pace.canary}
        audit.record(actor, "bulk.start", target=bulk, workspace=workspace, data=data)
    bulk.refresh_from_db()
    return bulk, True


def _keep_runs(bulk: BulkOperation, chosen: Sequence[_Chosen]) -> None:
    rows = [
        BulkRun(
            bulk=bulk, run_id=run.id, number=run.number, position=at, generation=run.generation, command_id=new_id()
        )
        for at, run in enumerate(chosen, 1)
    ]
    BulkRun.objects.bulk_create(rows, batch_size=1_000)
    BulkOperation.objects.filter(id=bulk.id).update(total=len(rows))


def _chosen(actor: Actor, workspace: Workspace, selection: Selection) -> list[_Chosen]:
    """The runs that are meant, the oldest first."""
    rows: QuerySet[Run] = runs_of(actor, workspace)
    if selection.filters is not None:
        rows = filtered(rows, selection.filters)
    else:
        rows = rows.filter(id__in=selection.ids or [])
    values = rows.order_by("number").values_list("id", "number", "status", "generation")
    found = [_Chosen(*row) for row in values[: RUNS_LIMIT + 1]]
    if len(found) > RUNS_LIMIT:
        raise TooManyRuns(f"More than {RUNS_LIMIT} runs match: choose fewer, and do the rest afterwards.")
    unknown = set(selection.ids or []).difference(run.id for run in found)
    if unknown:
        raise NoRunsSelected(f"There is no run {min(unknown)} in this workspace.", field="ids")
    if not found:
        raise NoRunsSelected("No run matches.", field="filter")
    return found


def stop_bulk(*, actor: Actor, bulk: BulkOperation) -> BulkOperation:
    """No further run is begun. Raises NotPossibleNow where it is done already."""
    require(actor, OPERATIONS[bulk.operation].permission, bulk.workspace)
    with transaction.atomic():
        fresh = _locked(bulk)
        if fresh.status == "done":
            raise NotPossibleNow("The bulk operation is done: there is nothing to stop.", status=fresh.status)
        if fresh.status != "stopped":
            message = f"{actor.name} stopped it."
            set_status(fresh, "stopped", reason={"code": "by_person", "message": message})
            audit.record(actor, "bulk.stop", target=fresh, workspace=fresh.workspace, data={})
    return fresh


def continue_bulk(*, actor: Actor, bulk: BulkOperation, revision: int) -> BulkOperation:
    """Goes on with the runs that are left, in the name of whoever says so. `revision` is the one that they saw.

    Raises BulkChanged, NotPossibleNow where it is not stopped and does not wait.
    """
    require(actor, OPERATIONS[bulk.operation].permission, bulk.workspace)
    with transaction.atomic():
        fresh = _locked(bulk)
        if fresh.revision != revision:
            raise BulkChanged("The bulk operation changed meanwhile. Look at it again.", revision=fresh.revision)
        if fresh.status not in ("stopped", "waiting"):
            raise NotPossibleNow(f"The bulk operation is {fresh.status}.", status=fresh.status)
        passed = fresh.canary_passed or fresh.status == "waiting"
        rows = BulkOperation.objects.filter(id=fresh.id)
        rows.update(canary_passed=passed, user=actor.user, actor=actor.name)
        fresh.refresh_from_db(fields=["canary_passed", "user", "actor"])
        set_status(fresh, "running", reason=None)
        audit.record(actor, "bulk.continue", target=fresh, workspace=fresh.workspace, data={})
    return fresh


def _locked(bulk: BulkOperation) -> BulkOperation:
    """Waits for the run that is being done just now, if one is."""
    return BulkOperation.objects.select_for_update(of=("self",)).select_related("workspace").get(id=bulk.id)


def set_status(bulk: BulkOperation, status: str, *, reason: Mapping[str, str] | None) -> None:
    """The caller holds the row."""
    bulk.status, bulk.reason = status, json_text(reason) if reason else None
    end = Now() if status == "done" else None
    changes: dict[str, Any] = {"status": status, "reason": bulk.reason, "finished_at": end}
    BulkOperation.objects.filter(id=bulk.id).update(revision=F("revision") + 1, **changes)
    bulk.refresh_from_db(fields=["revision", "finished_at"])
