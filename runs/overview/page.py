"""The overview of a workspace, or of one of its workflows: an answer as a plain dict in the shape of
docs/architecture.md. Nobody but members sees any of it.
"""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.db import connection as django_connection
from django.db import transaction

from builder.workflows.models import Workflow
from runs.overview import roll, statements
from runs.overview.sums import columns_of, share_of
from runs.store.djangos import errors_as_djangos, raw_connection
from runs.store.limit_use import HEARD_S, WORKERS_OF_LANES
from runs.store.read import Connection
from teams.access import Actor, Permission, require
from teams.models import Workspace

LIMIT_MS = 5_000  # of one statement: a page is no reason to hold a database
EACH, ALL = 1_000, 30_000  # runs whose durations are looked at: of a column, of a workflow
FAILURES, RESUMED, STEPS = 5_000, 200, 5_000
WORKFLOWS, WORST_STEPS, NEXT, AMISS = 50, 20, 10, 20
READY_AT_MOST = 10_000


@dataclass(frozen=True)
class Period:
    span: timedelta
    step: timedelta  # of a column of the charts


PERIODS = {
    "24h": Period(timedelta(hours=24), timedelta(hours=1)),
    "7d": Period(timedelta(days=7), timedelta(hours=6)),
    "30d": Period(timedelta(days=30), timedelta(days=1)),
}

Line = dict[str, Any]


def overview(actor: Actor, workspace: Workspace, *, period: str, workflow: Workflow | None = None) -> Line:
    """All numbers as of one moment. `workflow` is of that workspace. Raises NotFound for a stranger."""
    require(actor, Permission.VIEW, workspace)
    asked = PERIODS[period]
    with errors_as_djangos(), _one_moment() as connection:
        now, looked_to = cast(tuple[datetime, datetime | None], connection.execute(
            statements.NOW, (roll.NAME,)
        ).fetchone())  # fmt: skip
        until = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        since = until - asked.span
        values: Line = {
            "workspace": workspace.id, "workflow": workflow.id if workflow else None, "since": since,
            "until": until - asked.step, "step": asked.step, "each": EACH, "all": ALL,
            "edge": max(since, roll.edge_of(looked_to)) if looked_to else since,
        }  # fmt: skip
        return {
            "period": period,
            "since": since,
            "now": now,
            "step_s": int(asked.step.total_seconds()),
            **_runs(connection, values, asked),
            "workflows": [] if workflow else _workflows(connection, values),
            "failed_steps": _failed_steps(connection, values),
            "saved": _saved(connection, values),
            "lanes": _lanes(connection, workspace.id),
            "next": _next(connection, values),
            "amiss": _amiss(connection, values),
        }


@contextmanager
def _one_moment() -> Any:
    with transaction.atomic():
        with django_connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(f"SET LOCAL statement_timeout = {LIMIT_MS}")
            cursor.execute("SET LOCAL jit = off")
        yield raw_connection()


def _runs(connection: Connection, values: Mapping[str, Any], asked: Period) -> Line:
    counts = connection.execute(statements.BY_TIME, values).fetchall()
    of_one = values["workflow"] is not None
    taken = statements.DURATIONS_OF_WORKFLOW if of_one else statements.DURATIONS_OF_WORKSPACE
    rows = connection.execute(taken, values).fetchall()
    columns = columns_of(counts, rows, since=values["since"], step=asked.step, count=asked.span // asked.step)
    total = {name: sum(column[name] for column in columns) for name in ("open", "succeeded", "failed", "cancelled")}
    sampled, p50, p95 = next(((row[1], row[2], row[3]) for row in rows if row[0] is None), (0, None, None))
    return {
        "runs": {**total, "total": sum(total.values()), "success_rate": share_of(total)},
        "durations": {"p50_s": p50, "p95_s": p95, "sampled": sampled, "is_exact": sampled == total["succeeded"]},
        "columns": columns,
    }


def _workflows(connection: Connection, values: Mapping[str, Any]) -> list[Line]:
    rows = connection.execute(statements.BY_WORKFLOW, {**values, "most": WORKFLOWS}).fetchall()
    return [
        {
            "workflow": {"id": id_, "name": name}, "archived": archived,
            "open": int(open_), "succeeded": int(succeeded), "failed": int(failed), "cancelled": int(cancelled),
            "success_rate": share_of({"succeeded": int(succeeded), "failed": int(failed)}),
        }
        for id_, open_, succeeded, failed, cancelled, name, archived in rows
    ]  # fmt: skip


def _failed_steps(connection: Connection, values: Mapping[str, Any]) -> Line:
    most = {**values, "all": FAILURES, "most": WORST_STEPS}
    rows = connection.execute(statements.FAILED_STEPS, most).fetchall()
    items = [
        {"workflow": {"id": id_, "name": name}, "key": key, "kind": kind, "steps": steps, "runs": runs, "last_at": last}
        for id_, name, key, kind, steps, runs, last, _ in rows
    ]
    return {"items": items, "is_exact": not rows or rows[0][7] < FAILURES}


def _saved(connection: Connection, values: Mapping[str, Any]) -> Line:
    found = connection.execute(statements.SAVED, {**values, "all": RESUMED, "steps": STEPS}).fetchone()
    runs, saved_s, steps = found or (0, 0.0, 0)
    return {"runs": runs, "seconds": saved_s, "steps": int(steps), "is_exact": runs < RESUMED}


def _lanes(connection: Connection, workspace_id: UUID) -> list[Line]:
    """Lanes in which something of the workspace runs or is ready, and those that a worker serves."""
    asked = {"workspace": workspace_id, "most": READY_AT_MOST}
    ready = {lane: (waiting, oldest) for lane, waiting, oldest in connection.execute(statements.READY, asked)}
    running = dict(connection.execute(statements.RUNNING, asked).fetchall())
    workers = dict(connection.execute(WORKERS_OF_LANES, (HEARD_S,)).fetchall())
    return [
        {
            "lane": lane, "workers": workers.get(lane, 0), "running": running.get(lane, 0),
            "waiting": ready.get(lane, (0, None))[0], "oldest_at": ready.get(lane, (0, None))[1],
        }
        for lane in sorted({*ready, *running, *workers})
    ]  # fmt: skip


def _next(connection: Connection, values: Mapping[str, Any]) -> list[Line]:
    rows = connection.execute(statements.NEXT, {**values, "most": NEXT}).fetchall()
    return [{"trigger": _trigger(row), "at": row[4]} for row in rows]


def _trigger(row: Sequence[Any]) -> Line:
    id_, name, workflow, workflow_name = row[:4]
    return {"id": id_, "name": name, "workflow": {"id": workflow, "name": workflow_name}}


def _amiss(connection: Connection, values: Mapping[str, Any]) -> Line:
    """Times that were due and started nothing."""
    rows = connection.execute(statements.AMISS, {**values, "each": EACH}).fetchall()
    items = [
        {"trigger": _trigger(row), "due_at": row[4], "status": row[5], "reason": row[6], "detail": row[7]}
        for row in rows[:AMISS]
    ]
    return {"items": items, "count": len(rows)}
