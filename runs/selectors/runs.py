"""Questions about runs. Answers are plain dicts in the shapes of docs/architecture.md; JSON values are decoded."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import BigIntegerField, Case, F, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from kit.errors import NotFound
from runs.core.states import OPEN, RunStatus
from runs.models import Event, Run, RunLabel, StepRun
from runs.selectors.steps import children_of, held_at, step_shape, value_shape
from runs.selectors.told import forked_at, pause_of
from runs.selectors.values import decoded
from teams.access import Actor, visible_to
from teams.models import Workspace

ITEMS_IN_SNAPSHOT = 200  # step runs inside each container
STEPS_IN_SNAPSHOT = 5_000  # inside all of them
EVENTS_A_PAGE = 1_000
OPEN_VALUES = [status.value for status in OPEN]


class RunNotFound(NotFound):
    code = "run_not_found"


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


def rows_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows of the runs list."""
    ids = [run.id for run in runs]
    marks, labels = _marks(ids), labels_of(ids)
    return [{**_run_row(run, marks.get(run.id, {})), "labels": labels.get(run.id, [])} for run in runs]


def labels_of(run_ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """Those of each run that has some, by the alphabet. Index: run_label_once."""
    found: dict[UUID, list[str]] = {}
    rows = RunLabel.objects.filter(run_id__in=run_ids).order_by("label")
    for run_id, label in rows.values_list("run_id", "label"):
        found.setdefault(run_id, []).append(label)
    return found


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
