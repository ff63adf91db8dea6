"""Questions about runs. Answers are plain dicts in the shapes of docs/architecture.md; JSON values are decoded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import BigIntegerField, Case, Exists, F, OuterRef, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from kit.errors import NotFound
from kit.paging import encode_cursor, typed_cursor
from runs.core.questions import FOR_PEOPLE
from runs.core.states import FINAL_RUNS, OPEN, RunStatus
from runs.models import Event, Run, StepRun
from runs.selectors.steps import children_of, held_at, step_shape, value_shape
from runs.selectors.told import forked_at, pause_of
from runs.selectors.values import decoded
from teams.access import Actor, visible_to
from teams.models import Workspace

ITEMS_IN_SNAPSHOT = 200  # step runs inside each container
STEPS_IN_SNAPSHOT = 5_000  # inside all of them
EVENTS_A_PAGE = 1_000
OPEN_RUNS = [status.value for status in RunStatus if status not in FINAL_RUNS]
OPEN_VALUES = [status.value for status in OPEN]


class RunNotFound(NotFound):
    code = "run_not_found"


@dataclass(frozen=True)
class Filters:
    status: Sequence[str] = ()
    workflow: UUID | None = None
    started_after: datetime | None = None
    started_before: datetime | None = None
    q: str = ""
    forked_from: UUID | None = None
    waits: str = ""  # 'person': open runs of which a step waits for a person; 'nobody': the other open ones


def runs_of(actor: Actor, workspace: Workspace) -> QuerySet[Run]:
    return visible_to(
        actor, Run.objects.select_related("workflow", "version", "started_by", "workspace", "forked_from"), workspace
    )


def run_for(actor: Actor, workspace: Workspace, run_id: UUID) -> Run:
    """Raises RunNotFound, also for a run of another workspace."""
    found = runs_of(actor, workspace).filter(id=run_id).first()
    if found is None:
        raise RunNotFound("There is no such run in this workspace.")
    return found


def run_page(actor: Actor, workspace: Workspace, *, filters: Filters, limit: int, cursor: str = "") -> dict[str, Any]:
    """The newest first, by number: a keyset, so that new runs never shift a page."""
    rows = filtered(runs_of(actor, workspace), filters)
    if cursor:
        (number,) = typed_cursor(cursor, int)
        rows = rows.filter(number__lt=number)
    found = list(rows.order_by("-number")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    return {"items": rows_of(page), "next": encode_cursor(page[-1].number) if more else None}


def filtered(rows: QuerySet[Run], filters: Filters) -> QuerySet[Run]:
    if filters.status:
        rows = rows.filter(status__in=filters.status)
    if filters.workflow:
        rows = rows.filter(workflow_id=filters.workflow)
    if filters.forked_from:
        rows = rows.filter(forked_from_id=filters.forked_from)
    if filters.started_after:
        rows = rows.filter(created_at__gte=filters.started_after)
    if filters.started_before:
        rows = rows.filter(created_at__lt=filters.started_before)
    if filters.waits:
        rows = _by_waits(rows, person=filters.waits == "person")
    text = filters.q.strip().lstrip("#")
    if text.isdecimal() and len(text) < 19:
        rows = rows.filter(Q(number=int(text)) | Q(workflow__name__icontains=text))
    elif text:
        rows = rows.filter(workflow__name__icontains=text)
    return rows


def _by_waits(rows: QuerySet[Run], *, person: bool) -> QuerySet[Run]:
    """Open runs that do, or do not, wait for a person. The counter says of most that nothing of theirs waits at all.
    Index: step_run_asks.
    """
    asks = Q(status__in=["needs_decision", "blocked"]) | Q(status="waiting", wait_kind__in=FOR_PEOPLE)
    waiting = Q(waiting_count__gt=0) & Exists(StepRun.objects.filter(asks, run_id=OuterRef("pk")))
    return rows.filter(status__in=OPEN_RUNS).filter(waiting if person else ~waiting)


def rows_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows of the runs list."""
    marks = _marks([run.id for run in runs])
    return [_run_row(run, marks.get(run.id, {})) for run in runs]


def _marks(run_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """For each run: its first unhandled failure, and what it waits for. One row of each, however many items failed.
    Index: step_run_path.
    """
    found: dict[UUID, dict[str, Any]] = {run_id: {} for run_id in run_ids}
    of_each = StepRun.objects.filter(run_id__in=run_ids).order_by("run_id", "id").distinct("run_id")
    failed = of_each.filter(status="failed", handled__isnull=True)
    for run_id, path, error in failed.values_list("run_id", "path", "error"):
        found[run_id]["failed_step"] = {"path": path, "error": decoded(error)}
    waiting = of_each.filter(status__in=["waiting", "needs_decision", "blocked"], item_total__isnull=True)
    for run_id, path, status, wait_kind in waiting.values_list("run_id", "path", "status", "wait_kind"):
        found[run_id]["waits_for"] = {"path": path, "kind": wait_kind or status}
    return found


def _run_row(run: Run, marks: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": run.id,
        "number": run.number,
        "status": run.status,
        "generation": run.generation,
        "workflow": {"id": run.workflow_id, "name": run.workflow.name},
        "version": run.version.number,
        "trigger": run.trigger,
        "trigger_id": run.trigger_id,
        "forked_from": run.forked_from and {"id": run.forked_from.id, "number": run.forked_from.number},
        "started_by": run.actor,
        "started_at": run.created_at,
        "finished_at": run.finished_at,
        "counts": {
            "total": run.total_count,
            "open": run.open_count,
            "running": run.running_count,
            "waiting": run.waiting_count,
            "failed": run.failed_count,
            "succeeded": run.succeeded_count,
        },
        "failed_step": marks.get("failed_step"),
        "waits_for": marks.get("waits_for"),
        "error": decoded(run.error),
        "deadline_at": run.deadline_at,
        "paused_at": held_at(run),
        "paused_by": (run.paused_by or "itself") if run.status == RunStatus.PAUSED else None,
    }


def last_runs(workflow_ids: Iterable[UUID]) -> dict[UUID, dict[str, Any]]:
    """The newest run of each workflow (settings.LAST_RUNS)."""
    newest = Run.objects.filter(workflow_id__in=list(workflow_ids)).order_by("workflow_id", "-number")
    return {
        run.workflow_id: {"id": run.id, "number": run.number, "status": run.status, "started_at": run.created_at}
        for run in newest.distinct("workflow_id")
    }


# ---------------------------------------------------------------------- one run


def snapshot(run: Run) -> dict[str, Any]:
    """Run, graph and steps as of one moment, with the number of the last event that they contain."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        fresh = Run.objects.select_related("workflow", "version", "forked_from").get(id=run.id)
        steps = list(StepRun.objects.filter(run_id=run.id, parent__isnull=True).order_by("id"))
        steps += _items([step for step in steps if step.item_total is not None])
        row = rows_of([fresh])[0]
        output = run_output(fresh)
        children = children_of(steps)
        parent = _parent_of(fresh)
        told = {"pause": pause_of(fresh), "forked_at": forked_at(fresh)}
    own = {
        "input": decoded(fresh.input),
        "output": output,
        "parent": parent,
        "breakpoints": decoded(fresh.breakpoints) or [],
        "deadline_s": fresh.deadline_s,
        "priority": fresh.priority,
        "limit": None if fresh.limit_key is None else {"key": fresh.limit_key, "at_most": fresh.limit_at_most},
    }
    return {
        "run": {**row, **own, **told},
        "graph": decoded(fresh.version.graph),
        "steps": [step_shape(fresh, step, children) for step in steps],
        "seq": fresh.event_seq,
    }


def _parent_of(run: Run) -> dict[str, Any] | None:
    """The run, and the step of it, that has started this one; None also where that run is deleted by now."""
    if run.parent_run_id is None or run.parent_step_id is None:
        return None
    parent = Run.objects.filter(id=run.parent_run_id).select_related("workflow").first()
    step = StepRun.objects.filter(id=run.parent_step_id).first()
    if parent is None or step is None:
        return None
    workflow = {"id": parent.workflow_id, "name": parent.workflow.name}
    return {"run": parent.id, "number": parent.number, "workflow": workflow, "path": step.path}


def run_output(run: Run) -> dict[str, Any] | None:
    """What a run that has succeeded answers: the last of its output steps to end. None where it has none."""
    if run.status != RunStatus.SUCCEEDED:
        return None
    ends = StepRun.objects.filter(run_id=run.id, parent__isnull=True, kind="output", status="succeeded")
    last = ends.order_by("-finished_at", "-id").first()
    return None if last is None else value_shape(last.output, last.output_ref)


def _items(containers: Sequence[StepRun], *, at_most: int = STEPS_IN_SNAPSHOT) -> list[StepRun]:
    """The containers' step runs and, below them, those of the containers among these, one question a level. Of each
    container at most ITEMS_IN_SNAPSHOT: failed and open ones first.
    """
    if not containers or at_most <= 0:
        return []
    is_urgent = Q(status="failed") | Q(status__in=OPEN_VALUES)
    place = Window(
        RowNumber(),
        partition_by=F("parent_id"),
        order_by=[
            Case(When(is_urgent, then=0), default=1),
            Case(When(is_urgent, then=F("id")), default=-F("item_index"), output_field=BigIntegerField()),
            F("id"),
        ],
    )
    rows: QuerySet[Any] = StepRun.objects.filter(parent_id__in=[step.id for step in containers]).annotate(place=place)
    found = list(rows.filter(place__lte=ITEMS_IN_SNAPSHOT).order_by("place", "parent_id")[:at_most])
    found.sort(key=lambda step: (step.parent_id, step.place))
    return found + _items([step for step in found if step.item_total is not None], at_most=at_most - len(found))


def events_after(run: Run, after: int) -> dict[str, Any]:
    """At most EVENTS_A_PAGE events with seq > after, in order."""
    rows = Event.objects.filter(run_day=run.run_day, run_id=run.id, seq__gt=after).order_by("seq")[:EVENTS_A_PAGE]
    items = [event_shape(event) for event in rows]
    return {"items": items, "last": items[-1]["seq"] if items else after}


def event_shape(event: Event) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "type": event.type,
        "at": event.at,
        "path": event.path,
        "attempt": event.attempt,
        "actor": event.actor,
        "data": decoded(event.data),
    }
