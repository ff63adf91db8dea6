"""Runs by the million, made in SQL: what a list looks like, and costs, beside years of work.

They look like runs that ended: nothing of the engine ever touches them, and they have no events. For a workspace of
their own; `forget_many_runs` takes them away again.
"""

from typing import Any

from django.db import connection, transaction

from builder.workflows.models import Version, Workflow
from builder.workflows.selectors import workflows_of
from builder.workflows.services import create_workflow, publish
from teams.access import SYSTEM
from teams.models import Workspace

NAMES = ("Supplier invoices", "Contract review", "Nightly ledger", "Customer onboarding", "Claims intake")
STEPS = ("fetch", "parse", "compliance", "post", "notify")
GRAPH: dict[str, Any] = {
    "schema": 1,
    "nodes": [
        {"id": "n0", "key": "start", "kind": "start"},
        *({"id": f"n{at}", "key": key, "kind": "pass_through"} for at, key in enumerate(STEPS, 1)),
    ],
    "edges": [{"id": f"e{at}", "source": f"n{at - 1}", "target": f"n{at}"} for at in range(1, len(STEPS) + 1)],
}

# One in twenty failed, one in fifty cancelled; one in a thousand begun by Milo, a third by Ana; spread over 90 days.
RUNS = """INSERT INTO runs_run (id, workspace_id, workflow_id, version_id, trigger, actor, status, generation,
        event_seq, open_count, running_count, waiting_count, failed_count, succeeded_count, total_count, input,
        priority, run_day, created_at, finished_at, error)
    SELECT gen_random_uuid(), %(workspace)s, v.workflow_id, v.id,
        CASE WHEN i %% 3 = 0 THEN 'manual' ELSE 'schedule' END,
        CASE WHEN i %% 1000 = 6 THEN 'Milo' WHEN i %% 3 = 0 THEN 'Ana' ELSE 'schedule' END,
        m.status, 1, 0, 0, 0, 0, (m.status = 'failed')::int, CASE m.status WHEN 'succeeded' THEN 6 ELSE 3 END, 6,
        'null', 0,
        (m.at AT TIME ZONE 'UTC')::date, m.at, m.at + make_interval(secs => 5 + (i * 7919) %% 600),
        CASE m.status WHEN 'failed' THEN '{"code": "steps_failed", "message": "A step failed."}' END
    FROM generate_series(1, %(runs)s) i
    CROSS JOIN LATERAL (SELECT now() - interval '1 hour' - interval '90 days' * (%(runs)s - i) / %(runs)s AS at,
        CASE WHEN i %% 20 = 3 THEN 'failed' WHEN i %% 50 = 9 THEN 'cancelled' ELSE 'succeeded' END AS status) m
    JOIN LATERAL (SELECT id, workflow_id FROM workflows_version WHERE id = (%(versions)s::uuid[])[1 + i %% %(kinds)s]) v
        ON true
    ORDER BY i"""
FAILED_STEPS = """INSERT INTO runs_steprun (run_id, run_day, workspace_id, path, node_id, key, kind, queue, delivery,
        status, error, ready_at, started_at, finished_at)
    SELECT r.id, r.run_day, r.workspace_id, k.key, 'n1', k.key, 'http_request', 'default', 'at_least_once', 'failed',
        CASE r.number / 20 %% 4
            WHEN 0 THEN '{"code": "http_status", "message": "503 from http://127.0.0.1:' || r.number %% 9000 || '/x"}'
            WHEN 1 THEN '{"code": "timed_out", "message": "The step''s limit of ' || r.number %% 60 || ' s passed."}'
            WHEN 2 THEN '{"code": "bad_value", "message": "Row ' || r.number || ' has no supplier."}'
            ELSE '{"code": "http_status", "message": "422: order PO-' || r.number || ' is not known."}' END,
        r.created_at, r.created_at, r.finished_at
    FROM runs_run r CROSS JOIN LATERAL (SELECT (%(keys)s::text[])[1 + r.number %% %(steps)s] AS key) k
    WHERE r.workspace_id = %(workspace)s AND r.status = 'failed'
        AND NOT EXISTS (SELECT FROM runs_steprun s WHERE s.run_id = r.id)"""
LABELS = """INSERT INTO runs_runlabel (workspace_id, run_id, number, label, added_by, added_at)
    SELECT r.workspace_id, r.id, r.number, 'month end', 'Ana', r.created_at FROM runs_run r
    WHERE r.workspace_id = %(workspace)s AND r.number %% 500 = 0 ON CONFLICT DO NOTHING"""
FORGET = (  # the runs first: no step goes without its run
    "DELETE FROM runs_run WHERE workspace_id = %(workspace)s",
    """DELETE FROM runs_steprun s WHERE s.workspace_id = %(workspace)s
        AND NOT EXISTS (SELECT FROM runs_run r WHERE r.id = s.run_id)""",
    "DELETE FROM runs_failuregroup WHERE workspace_id = %(workspace)s",
)
ANALYZE = ("runs_run", "runs_steprun", "runs_runlabel")


def make_many_runs(workspace: Workspace, runs: int) -> None:
    """Adds so many to the workspace, newer than all before."""
    versions = [_version(workspace, name) for name in NAMES]
    values = {
        "workspace": workspace.id, "runs": runs, "versions": [each.id for each in versions], "kinds": len(versions),
        "keys": list(STEPS), "steps": len(STEPS),
    }  # fmt: skip
    _say(RUNS, FAILED_STEPS, LABELS, values=values)
    with connection.cursor() as cursor:
        for table in ANALYZE:
            cursor.execute(f"ANALYZE {table}")


def forget_many_runs(workspace: Workspace) -> None:
    """Every run of the workspace, whoever made it."""
    _say(*FORGET, values={"workspace": workspace.id})


def _say(*statements: str, values: dict[str, Any]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, {name: value for name, value in values.items() if f"%({name})s" in statement})


def _version(workspace: Workspace, name: str) -> Version:
    found: Workflow | None = workflows_of(SYSTEM, workspace).filter(name=name).first()
    workflow = found or create_workflow(actor=SYSTEM, workspace=workspace, name=name, graph=GRAPH)
    return workflow.versions.order_by("-number").first() or publish(actor=SYSTEM, workflow=workflow, revision=1)
