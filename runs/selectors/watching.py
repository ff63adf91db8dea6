"""What the page of a run asks while somebody watches: who is at work and was heard when, and how long steps take.

Both are bounded, whatever the run holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any

from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Now

from runs.models import Checkpoint, Run, StepRun, Worker
from runs.selectors.values import decoded

PULSES_AT_MOST = 200
WORKED = ["running", "retry_wait", "needs_decision", "failed", "cancelled"]  # what may have got some of its way

RUNS_LOOKED_AT = 20
ROWS_LOOKED_AT = 10_000
ITEMS_LOOKED_AT = 3  # of a container, in each run


def pulse_of(run: Run) -> dict[str, Any]:
    """Of the step runs that are at work or stopped on their way, those at work first: when the worker that holds them
    was last heard, in seconds by the database's clock, and how far they say that they got.
    """
    first = Case(When(status="running", then=Value(0)), default=Value(1), output_field=IntegerField())
    steps = list(
        StepRun.objects.filter(run_id=run.id, status__in=WORKED, attempt__gt=0, item_total=None)
        .only("id", "run_id", "path", "status", "attempt", "worker")
        .order_by(first, "id")[:PULSES_AT_MOST]
    )
    holders = {step.worker for step in steps if step.status == "running" and step.worker}
    ages = Worker.objects.filter(id__in=holders).annotate(age=Now() - F("heartbeat_at"))
    heard = {worker.id: worker.age.total_seconds() for worker in ages.only("id", "heartbeat_at")}
    progress = _progress_of(run, steps)
    items = [_pulse_shape(step, heard, progress.get(step.id)) for step in steps]
    return {"items": [item for item in items if item["heard_s"] is not None or item["progress"]]}


def _progress_of(run: Run, steps: Iterable[StepRun]) -> dict[int, Checkpoint]:
    """The last that each of them told; there is one row of it for each step run."""
    told = Checkpoint.objects.filter(
        run_day=run.run_day, step_run_id__in=[step.id for step in steps], kind="progress"
    ).order_by("number")
    return {row.step_run_id: row for row in told}


def _pulse_shape(step: StepRun, heard: Mapping[Any, float], told: Checkpoint | None) -> dict[str, Any]:
    progress = None
    if told is not None:
        said = decoded(told.value)
        progress = {
            "done": said["done"],
            "total": said["total"],
            "text": said["text"],
            "attempt": told.attempt,
            "at": told.at,
        }
    is_held = step.status == "running" and step.worker is not None
    return {
        "path": step.path,
        "attempt": step.attempt,
        "heard_s": max(0.0, heard[step.worker]) if is_held and step.worker in heard else None,
        "progress": progress,
    }


def usual_of(run: Run, graph: Any) -> dict[str, Any]:
    """By node: how the step runs of the last runs of the same workflow that executed it went, this one left out.

    Of the items of a container, the first few of each run are looked at.
    """
    paths = paths_of(graph)
    runs_at_most = max(1, min(RUNS_LOOKED_AT, ROWS_LOOKED_AT // max(1, len(paths))))
    recent = Run.objects.filter(workflow_id=run.workflow_id, finished_at__isnull=False).exclude(id=run.id)
    begins = dict(recent.order_by("-number").values_list("id", "created_at")[:runs_at_most])
    rows = StepRun.objects.filter(
        run_id__in=list(begins), path__in=paths[:ROWS_LOOKED_AT], status="succeeded", origin="executed"
    ).exclude(started_at=None)
    found: dict[str, list[StepRun]] = {}
    for row in rows.only("run_id", "node_id", "ready_at", "started_at", "finished_at"):
        found.setdefault(row.node_id, []).append(row)
    return {"items": [_usual_shape(node, rows, begins) for node, rows in sorted(found.items())]}


def paths_of(graph: Any) -> list[str]:
    """Of each node the step run's path, inside a container those of its first items; the first rounds, of a loop."""
    nodes = {node["id"]: node for node in graph["nodes"]}

    def of(node: Any, depth: int = 0) -> list[str]:
        outer = nodes.get(node["parent"])
        if outer is None or depth > len(nodes):
            return [str(node["key"])]
        above = of(outer, depth + 1)
        items = range(ITEMS_LOOKED_AT) if nodes.get(outer["parent"]) is None else range(1)
        return [f"{path}[{index}].{node['key']}" for path in above for index in items]

    return [path for node in graph["nodes"] for path in of(node)]


def _usual_shape(node: str, rows: Sequence[StepRun], begins: Mapping[Any, Any]) -> dict[str, Any]:
    took = [_ms(row.started_at, row.finished_at) for row in rows]
    queued = [_ms(row.ready_at, row.started_at) for row in rows if row.ready_at]
    began = [_ms(begins[row.run_id], row.started_at) for row in rows]
    return {
        "node": node,
        "runs": len({row.run_id for row in rows}),
        "took_ms": median(took),
        "took_p95_ms": quantiles(took, n=20, method="inclusive")[-1] if len(took) > 1 else took[0],
        "queued_ms": median(queued) if queued else None,
        "began_ms": median(began),
    }


def _ms(since: Any, until: Any) -> float:
    return max(0.0, float((until - since).total_seconds()) * 1000)
