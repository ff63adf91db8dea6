"""Questions about the steps of a run. Answers are plain dicts in the shapes of docs/architecture.md."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from kit.errors import NotFound
from kit.paging import encode_cursor, typed_cursor
from runs.core import why
from runs.core.keys import idempotency_key
from runs.core.rows import CHILD
from runs.core.states import RunStatus, StepStatus
from runs.core.why import Child, Facts
from runs.models import Attempt, Checkpoint, LogChunk, Payload, Run, StepRun, Sweeper, Wait
from runs.selectors.keeping import artifacts_of
from runs.selectors.turns import HEARD_S, why_ready
from runs.selectors.values import decoded
from runs.selectors.waits import votes_on, wait_shape

VALUE_LIMIT = 256 * 1024  # characters of an input or output that a page gets at once
LOG_PAGE = 64 * 1024
CHECKPOINTS_AT_MOST = 500

OVERDUE_S = 5.0


class StepNotFound(NotFound):
    code = "step_not_found"


def step_shape(run: Run, step: StepRun, children: Mapping[int, Any] | None = None) -> dict[str, Any]:
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
        "reused_from": decoded(step.reused_from),
        "error": decoded(step.error),
        "not_before": step.not_before if step.status in ("retry_wait", "waiting") else None,
        "ready_at": step.ready_at,
        "started_at": step.started_at,
        "finished_at": step.finished_at,
        "duration_ms": _duration_ms(step.started_at, step.finished_at),
        "delivery": step.delivery,
        "idempotency_key": idempotency_key(run.key_root or run.id, step.path, step.edition),
        "fence": step.fence,
        "map": _map_shape(step),
        "child": (children or {}).get(step.id),
    }


def children_of(steps: Iterable[StepRun]) -> dict[int, dict[str, Any]]:
    """By step run: the run of another workflow that it has started, the newest of them. Index: run_of_step."""
    runs = (
        Run.objects.filter(parent_step_id__in=[step.id for step in steps]).select_related("workflow").order_by("number")
    )
    return {
        run.parent_step_id: {
            "id": run.id,
            "number": run.number,
            "status": run.status,
            "workflow": {"id": run.workflow_id, "name": run.workflow.name},
        }
        for run in runs
        if run.parent_step_id is not None
    }


def _map_shape(step: StepRun) -> dict[str, int] | None:
    if step.item_total is None:
        return None
    waiting = len(decoded(step.reopen) or [])
    settled = step.item_cursor - step.item_open - waiting
    return {
        "total": step.item_total,
        "opened": step.item_cursor,
        "settled": settled,
        "failed": step.item_failed,
    }


def step_for(run: Run, path: str) -> StepRun:
    # PostgreSQL takes no NUL character, so no step has one
    found = None if "\0" in path else StepRun.objects.filter(run_id=run.id, path=path).first()
    if found is None:
        raise StepNotFound(f"This run has no step '{path}'.", path=path)
    return found


def step_detail(run: Run, step: StepRun, *, output: dict[str, Any]) -> dict[str, Any]:
    """All about one step. `output` is given: a container's is a view that the engine makes."""
    attempts = Attempt.objects.filter(run_day=run.run_day, step_run_id=step.id).order_by("number")
    waits = list(Wait.objects.filter(step_run_id=step.id).select_related("answered_by").order_by("opened_at"))
    votes = votes_on(waits)
    return {
        "step": step_shape(run, step, children_of([step])),
        "input": value_shape(step.input, step.input_ref),
        "edition": step.edition,
        "copied_from": _copied_from(step),
        "override": value_shape(step.override, step.override_ref) if step.override or step.override_ref else None,
        "output": output,
        "attempts": [attempt_shape(attempt) for attempt in attempts],
        "checkpoints": [
            {"key": c.key, "kind": c.kind, "value": _shown(step, c), "attempt": c.attempt, "at": c.at}
            for c in _checkpoints(run, step)
        ],
        "waits": [wait_shape(wait, votes.get(wait.id, [])) for wait in waits],
        "artifacts": artifacts_of(step),
        "why": why_not(run, step),
    }


def _copied_from(step: StepRun) -> dict[str, Any] | None:
    """The step run that was executed, whose copy this is."""
    if step.source_id is None:
        return None
    source = StepRun.objects.select_related("run").get(id=step.source_id)
    return {"run": {"id": source.run.id, "number": source.run.number}, "path": source.path}


def _shown(step: StepRun, kept: Checkpoint) -> Any:
    """Its value; of an act that was intended by an attempt that is over, that nobody knows what became of it."""
    value = decoded(kept.value)
    is_live = step.status == "running" and step.attempt == kept.attempt
    if kept.kind == "act" and value["state"] == "intended" and not is_live:
        return {**value, "state": "unknown"}
    return value


def _checkpoints(run: Run, step: StepRun) -> list[Checkpoint]:
    """The newest CHECKPOINTS_AT_MOST, in their order; of the progress, which a step tells each second, the last one."""
    kept = Checkpoint.objects.filter(run_day=run.run_day, step_run_id=step.id).order_by("-number")
    lasting = list(kept.exclude(kind="progress")[:CHECKPOINTS_AT_MOST])
    progress = list(kept.filter(kind="progress")[:1])
    return sorted((*lasting, *progress), key=lambda each: each.number)


def attempt_shape(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "fence": attempt.fence,
        "worker": attempt.worker,
        "outcome": attempt.outcome,
        "ready_at": attempt.ready_at,
        "started_at": attempt.started_at,
        "finished_at": attempt.finished_at,
        "error": decoded(attempt.error),
        "input": value_shape(attempt.input, attempt.input_ref) if attempt.input or attempt.input_ref else None,
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
    if step.status == "ready" and run.status != RunStatus.PAUSED:
        return why_ready(step)
    facts = Facts(
        RunStatus(run.status),
        StepStatus(step.status),
        paused_by=run.paused_by,
        is_held=step.path in held_at(run),
        wait_kind=step.wait_kind,
        child=_child_of(step),
        is_overdue=StepRun.objects.filter(id=step.id, not_before__lt=Now() - timedelta(seconds=OVERDUE_S)).exists(),
        has_sweeper=Sweeper.objects.filter(seen_at__gte=Now() - timedelta(seconds=HEARD_S)).exists(),
    )
    return why.why_not(facts)


def _child_of(step: StepRun) -> Child | None:
    """The run that the step waits for."""
    if step.wait_kind != CHILD:
        return None
    run = Run.objects.filter(parent_step_id=step.id).order_by("-number").first()
    return None if run is None else Child(run.number, RunStatus(run.status), run.paused_by)


def held_at(run: Run) -> list[str]:
    """The paths before which a breakpoint holds the run."""
    return decoded(run.paused_at) or []


def log_page(run: Run, step: StepRun, *, attempt: int | None, after: int) -> dict[str, Any]:
    """The log of an attempt (the latest where none is named) from byte offset `after`."""
    number = attempt or step.attempt
    rows = LogChunk.objects.filter(run_day=run.run_day, step_run_id=step.id, attempt=number, offset__gte=after)
    text, next_offset, size = "", after, 0
    times: list[dict[str, Any]] = []
    for chunk in rows.order_by("offset")[:1_000]:
        text += chunk.text
        next_offset = chunk.offset + len(chunk.text.encode())
        size += len(chunk.text)
        times.append({"offset": chunk.offset, "at": chunk.at})
        if size > LOG_PAGE:
            return {"text": text, "next_offset": next_offset, "times": times, "complete": False}
    is_over = step.status != "running" or number != step.attempt
    return {"text": text, "next_offset": next_offset, "times": times, "complete": is_over}


def item_page(run: Run, container: StepRun, *, status: str, limit: int, cursor: str = "") -> dict[str, Any]:
    """A container's step runs in the order of their items."""
    rows = StepRun.objects.filter(parent_id=container.id)
    if status:
        rows = rows.filter(status=status)
    if cursor:
        index, id_ = typed_cursor(cursor, int, int)
        rows = rows.filter(Q(item_index__gt=index) | Q(item_index=index, id__gt=id_))
    found = list(rows.order_by("item_index", "id")[: limit + 1])
    page, more = found[:limit], len(found) > limit
    following = encode_cursor(page[-1].item_index, page[-1].id) if more else None
    children = children_of(page)
    return {"items": [step_shape(run, step, children) for step in page], "next": following}


def _duration_ms(started: datetime | None, finished: datetime | None) -> float | None:
    return None if started is None or finished is None else (finished - started).total_seconds() * 1000
