"""Questions about runs. Answers are plain dicts in the shapes of docs/architecture.md; JSON values are decoded."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from kit.errors import NotFound
from kit.paging import BadCursor, decode_cursor, encode_cursor
from runs.core.keys import idempotency_key
from runs.core.states import OPEN
from runs.models import Attempt, Checkpoint, Event, LogChunk, Payload, Run, StepRun, Wait
from teams.access import Actor, visible_to
from teams.models import Workspace

ITEMS_IN_SNAPSHOT = 200  # step runs inside each container
EVENTS_A_PAGE = 1_000
VALUE_LIMIT = 256 * 1024  # characters of an input or output that a page gets at once
LOG_PAGE = 64 * 1024

WAITS_FOR = {
    "timer": "Waits for a time.",
    "approval": "Waits for a person's answer.",
    "children": "Works through its items.",
}
OPEN_VALUES = [status.value for status in OPEN]


class RunNotFound(NotFound):
    code = "run_not_found"


class StepNotFound(NotFound):
    code = "step_not_found"


class WaitNotFound(NotFound):
    code = "wait_not_found"


@dataclass(frozen=True)
class Filters:
    status: Sequence[str] = ()
    workflow: UUID | None = None
    started_after: datetime | None = None
    started_before: datetime | None = None
    q: str = ""


def runs_of(actor: Actor, workspace: Workspace) -> QuerySet[Run]:
    return visible_to(actor, Run.objects.select_related("workflow", "version", "started_by", "workspace"), workspace)


def run_for(actor: Actor, workspace: Workspace, run_id: UUID) -> Run:
    """Raises RunNotFound, also for a run of another workspace."""
    found = runs_of(actor, workspace).filter(id=run_id).first()
    if found is None:
        raise RunNotFound("There is no such run in this workspace.")
    return found


def run_page(actor: Actor, workspace: Workspace, *, filters: Filters, limit: int, cursor: str = "") -> dict[str, Any]:
    """The newest first, by number: a keyset, so that new runs never shift a page."""
    rows = _filtered(runs_of(actor, workspace), filters)
    if cursor:
        (number,) = decode_cursor(cursor, length=1)
        if not isinstance(number, int):
            raise BadCursor("This page's cursor belongs to another list. Start again from the first page.")
        rows = rows.filter(number__lt=number)
    found = list(rows.order_by("-number")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    return {"items": rows_of(page), "next": encode_cursor(page[-1].number) if more else None}


def _filtered(rows: QuerySet[Run], filters: Filters) -> QuerySet[Run]:
    if filters.status:
        rows = rows.filter(status__in=filters.status)
    if filters.workflow:
        rows = rows.filter(workflow_id=filters.workflow)
    if filters.started_after:
        rows = rows.filter(created_at__gte=filters.started_after)
    if filters.started_before:
        rows = rows.filter(created_at__lt=filters.started_before)
    text = filters.q.strip().lstrip("#")
    if text.isdigit() and len(text) < 19:
        rows = rows.filter(Q(number=int(text)) | Q(workflow__name__icontains=text))
    elif text:
        rows = rows.filter(workflow__name__icontains=text)
    return rows


def rows_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows of the runs list."""
    marks = _marks([run.id for run in runs])
    return [_run_row(run, marks.get(run.id, {})) for run in runs]


def _marks(run_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """For each run: its first unhandled failure, and what it waits for. Index: step_run_path."""
    found: dict[UUID, dict[str, Any]] = {}
    wanted = StepRun.objects.filter(run_id__in=run_ids).filter(
        Q(status="failed", handled__isnull=True) | Q(status__in=["waiting", "needs_decision", "blocked"])
    )
    for step in wanted.order_by("id").values("run_id", "path", "status", "wait_kind", "error", "item_total"):
        mark = found.setdefault(step["run_id"], {})
        if step["status"] == "failed":
            mark.setdefault("failed_step", {"path": step["path"], "error": _json(step["error"])})
        elif step["item_total"] is None:
            mark.setdefault("waits_for", {"path": step["path"], "kind": step["wait_kind"] or step["status"]})
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
        fresh = Run.objects.select_related("workflow", "version").get(id=run.id)
        steps = list(StepRun.objects.filter(run_id=run.id, parent__isnull=True).order_by("id"))
        for container in [step for step in steps if step.item_total is not None]:
            steps += _items(container)
        row = rows_of([fresh])[0]
    return {
        "run": {**row, "input": _json(fresh.input)},
        "graph": _json(fresh.version.graph),
        "steps": [step_shape(step) for step in steps],
        "seq": fresh.event_seq,
    }


def _items(container: StepRun) -> list[StepRun]:
    """A container's step runs, at most ITEMS_IN_SNAPSHOT: failed and open ones first, nested ones after their
    container.
    """
    children = StepRun.objects.filter(parent_id=container.id)
    urgent = list(children.filter(Q(status="failed") | Q(status__in=OPEN_VALUES)).order_by("id")[:ITEMS_IN_SNAPSHOT])
    rest = ITEMS_IN_SNAPSHOT - len(urgent)
    if rest > 0:
        urgent += children.exclude(id__in=[step.id for step in urgent]).order_by("-item_index", "id")[:rest]
    nested = [step for step in urgent if step.item_total is not None]
    return urgent + [child for step in nested for child in _items(step)]


def step_shape(step: StepRun) -> dict[str, Any]:
    return {
        "path": step.path,
        "node": step.node_id,
        "key": step.key,
        "parent": step.path.rsplit("[", 1)[0] if step.parent_id else None,
        "index": step.item_index,
        "kind": step.kind,
        "status": step.status,
        "attempt": step.attempt,
        "crash_count": step.crash_count,
        "port": step.port,
        "handled": step.handled,
        "reason": step.reason,
        "wait": step.wait_kind,
        "origin": step.origin,
        "error": _json(step.error),
        "not_before": step.not_before if step.status in ("retry_wait", "waiting") else None,
        "ready_at": step.ready_at,
        "started_at": step.started_at,
        "finished_at": step.finished_at,
        "duration_ms": _duration_ms(step.started_at, step.finished_at),
        "delivery": step.delivery,
        "idempotency_key": idempotency_key(step.run_id, step.path, step.edition),
        "fence": step.fence,
        "map": _map_shape(step),
    }


def _map_shape(step: StepRun) -> dict[str, int] | None:
    if step.item_total is None:
        return None
    waiting = len(_json(step.reopen) or [])
    settled = step.item_cursor - step.item_open - waiting
    return {
        "total": step.item_total,
        "opened": step.item_cursor,
        "settled": settled,
        "failed": step.item_failed,
    }


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
        "data": _json(event.data),
    }


# ---------------------------------------------------------------------- one step


def step_for(run: Run, path: str) -> StepRun:
    found = StepRun.objects.filter(run_id=run.id, path=path).first()
    if found is None:
        raise StepNotFound(f"This run has no step '{path}'.", path=path)
    return found


def step_detail(run: Run, step: StepRun, *, output: dict[str, Any]) -> dict[str, Any]:
    """All about one step. `output` is given: a container's is a view that the engine makes."""
    attempts = Attempt.objects.filter(run_day=run.run_day, step_run_id=step.id).order_by("number")
    kept = Checkpoint.objects.filter(run_day=run.run_day, step_run_id=step.id).order_by("number")
    waits = Wait.objects.filter(step_run_id=step.id).select_related("answered_by").order_by("opened_at")
    return {
        "step": step_shape(step),
        "input": value_shape(step.input, step.input_ref),
        "output": output,
        "attempts": [attempt_shape(attempt) for attempt in attempts],
        "checkpoints": [
            {"key": c.key, "kind": c.kind, "value": _json(c.value), "attempt": c.attempt, "at": c.at}
            for c in kept[:500]
        ],
        "waits": [wait_shape(wait) for wait in waits],
        "why": why_not(run, step),
    }


def attempt_shape(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "fence": attempt.fence,
        "worker": attempt.worker,
        "outcome": attempt.outcome,
        "ready_at": attempt.ready_at,
        "started_at": attempt.started_at,
        "finished_at": attempt.finished_at,
        "error": _json(attempt.error),
        "input": value_shape(attempt.input, None) if attempt.input else None,
    }


def wait_shape(wait: Wait) -> dict[str, Any]:
    return {
        "id": wait.id,
        "kind": wait.kind,
        "status": wait.status,
        "attempt": wait.attempt,
        "data": _json(wait.data),
        "opened_at": wait.opened_at,
        "expires_at": wait.expires_at,
        "answer": _json(wait.answer),
        "answered_at": wait.answered_at,
        "answered_by": str(wait.answered_by) if wait.answered_by else None,
    }


def value_shape(text: str | None, ref: bytes | memoryview | None) -> dict[str, Any]:
    """`{value, size, truncated}`: a value larger than VALUE_LIMIT comes as the beginning of its text."""
    if ref is not None:
        text = Payload.objects.values_list("body", flat=True).get(hash=bytes(ref))
    if text is None:
        return {"value": None, "size": 0, "truncated": False}
    if len(text) > VALUE_LIMIT:
        return {"value": text[:VALUE_LIMIT], "size": len(text), "truncated": True}
    return {"value": json.loads(text), "size": len(text), "truncated": False}


def why_not(run: Run, step: StepRun) -> str | None:
    """One sentence on why a step does not run just now; None where it runs or has ended."""
    match step.status:
        case "pending":
            return "Waits until the steps before it are settled."
        case "ready":
            return f"Ready: waits for a worker that serves the lane '{step.queue}'."
        case "retry_wait":
            return "An attempt failed; the next one starts by itself at the time shown."
        case "waiting":
            return WAITS_FOR.get(step.wait_kind or "")
        case "blocked":
            return "A step that it needs has failed, and its settings say to wait: resume the failed step, or skip it."
        case "needs_decision":
            return "It may have happened, and must not happen twice: a person decides what became of it."
        case _:
            return None


def log_page(run: Run, step: StepRun, *, attempt: int | None, after: int) -> dict[str, Any]:
    """The log of an attempt (the latest where none is named) from byte offset `after`."""
    number = attempt or step.attempt
    rows = LogChunk.objects.filter(run_day=run.run_day, step_run_id=step.id, attempt=number, offset__gte=after)
    text, next_offset, size = "", after, 0
    for chunk in rows.order_by("offset")[:1_000]:
        text += chunk.text
        next_offset = chunk.offset + len(chunk.text.encode())
        size += len(chunk.text)
        if size > LOG_PAGE:
            return {"text": text, "next_offset": next_offset, "complete": False}
    return {"text": text, "next_offset": next_offset, "complete": step.status != "running" or number != step.attempt}


def item_page(run: Run, container: StepRun, *, status: str, limit: int, cursor: str = "") -> dict[str, Any]:
    """A container's step runs in the order of their items."""
    rows = StepRun.objects.filter(parent_id=container.id)
    if status:
        rows = rows.filter(status=status)
    if cursor:
        index, id_ = decode_cursor(cursor, length=2)
        rows = rows.filter(Q(item_index__gt=index) | Q(item_index=index, id__gt=id_))
    found = list(rows.order_by("item_index", "id")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    following = encode_cursor(page[-1].item_index, page[-1].id) if more else None
    return {"items": [step_shape(step) for step in page], "next": following}


# ---------------------------------------------------------------------- waits


def open_waits(actor: Actor, workspace: Workspace) -> QuerySet[Wait]:
    rows = Wait.objects.filter(status="open").select_related("run__workflow", "run__version", "run__workspace")
    return visible_to(actor, rows, workspace)


def wait_page(actor: Actor, workspace: Workspace, *, limit: int, cursor: str = "") -> dict[str, Any]:
    """Open questions, the oldest first."""
    rows = open_waits(actor, workspace).annotate(path=F("step_run__path"), node=F("step_run__node_id"))
    if cursor:
        opened_at, id_ = decode_cursor(cursor, length=2)
        rows = rows.filter(Q(opened_at__gt=opened_at) | Q(opened_at=opened_at, id__gt=id_))
    found = list(rows.order_by("opened_at", "id")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    following = encode_cursor(page[-1].opened_at.isoformat(), str(page[-1].id)) if more else None
    return {"items": [_inbox_shape(wait) for wait in page], "next": following}


def _inbox_shape(wait: Any) -> dict[str, Any]:
    run = wait.run
    return {
        **wait_shape(wait),
        "path": wait.path,
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


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _duration_ms(started: datetime | None, finished: datetime | None) -> float | None:
    return None if started is None or finished is None else (finished - started).total_seconds() * 1000
