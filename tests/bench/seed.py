"""Rows by the hundred thousand, made in SQL: runs that ended long ago, and steps that are ready."""

from uuid import UUID

from builder.workflows.models import Version
from runs.store.read import Connection

STEPS_EACH = 10

RUNS = """INSERT INTO runs_run (id, workspace_id, workflow_id, version_id, trigger, actor, status, generation,
        event_seq, open_count, running_count, waiting_count, failed_count, succeeded_count, total_count, input,
        priority, run_day, created_at, finished_at)
    SELECT gen_random_uuid(), %(workspace)s, w.id, v.id, 'seeded', 'seed', %(status)s::text, 1, 0,
        %(open)s::int, 0, 0, 0, %(done)s::int, %(open)s::int + %(done)s::int, 'null', 0,
        (now() AT TIME ZONE 'UTC')::date, now(),
        CASE WHEN %(open)s::int = 0 THEN now() END
    FROM generate_series(1, %(runs)s), workflows_version v JOIN workflows_workflow w ON w.id = v.workflow_id
    WHERE v.id = %(version)s"""
STEPS = """INSERT INTO runs_steprun (run_id, run_day, workspace_id, path, node_id, key, kind, queue, delivery, status,
        port, output, not_before, ready_at, finished_at)
    SELECT r.id, r.run_day, r.workspace_id, 'seeded' || n, 'seeded' || n, 'seeded' || n, %(kind)s, %(queue)s,
        'at_least_once', %(status)s::text, 'out', '"seeded"', now() - interval '1 minute', now() - interval '1 minute',
        CASE WHEN %(status)s::text = 'succeeded' THEN now() END
    FROM runs_run r, generate_series(1, %(steps)s) n
    WHERE r.trigger = 'seeded' AND r.workspace_id = %(workspace)s
        AND NOT EXISTS (SELECT FROM runs_steprun s WHERE s.run_id = r.id)"""


def seed_steps(
    connection: Connection,
    version: Version,
    *,
    workspace_id: UUID,
    steps: int,
    status: str,
    queue: str = "default",
    kind: str = "set_fields",
) -> None:
    """`steps` step runs of one status (succeeded or ready), ten in a run. No graph has their nodes: only claim them."""
    is_open = status == "ready"
    counts = {"open": STEPS_EACH if is_open else 0, "done": 0 if is_open else STEPS_EACH}
    values = {
        "workspace": workspace_id, "version": version.id, "runs": steps // STEPS_EACH, "steps": STEPS_EACH,
        "kind": kind, "queue": queue, **counts,
    }  # fmt: skip
    connection.execute(RUNS, {**values, "status": "running" if is_open else "succeeded"})
    connection.execute(STEPS, {**values, "status": status})


def forget_seeded(connection: Connection) -> None:
    """The runs first, as retention does it."""
    gone = "SELECT s.run_id FROM runs_steprun s WHERE NOT EXISTS (SELECT FROM runs_run r WHERE r.id = s.run_id)"
    with connection.transaction():
        connection.execute("UPDATE runs_run SET status = 'cancelled' WHERE trigger = 'seeded' AND status = 'running'")
        connection.execute("DELETE FROM runs_run WHERE trigger = 'seeded'")
        connection.execute(f"DELETE FROM runs_steprun WHERE run_id IN ({gone})")
