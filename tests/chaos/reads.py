"""What the people of the chaos job look at, as pages would show it."""

FINAL = "('succeeded', 'failed', 'cancelled')"
OPEN = f"SELECT count(*) FROM runs_run WHERE status NOT IN {FINAL}"
UNSETTLED = f"""SELECT (SELECT count(*) FROM runs_run WHERE status NOT IN {FINAL}) + (SELECT count(*) FROM runs_outbox)
    + (SELECT count(*) FROM runs_bulkoperation WHERE status <> 'done')"""
# With what in it failed, or waits for that, and may be mended.
STOPPED = """SELECT r.id::text, coalesce(r.root_id, r.id)::text, r.workflow_id::text, r.generation, r.status, r.input,
    ARRAY(SELECT s.path FROM runs_steprun s WHERE s.run_id = r.id AND (s.status = 'blocked'
        OR s.status = 'failed' AND s.handled IS NULL AND s.key = 'F') ORDER BY s.path)
    FROM runs_run r WHERE r.status IN ('failed', 'cancelled') OR r.status = 'running'
        AND EXISTS (SELECT FROM runs_steprun b WHERE b.run_id = r.id AND b.status = 'blocked')"""
ASKED = """SELECT w.id::text, w.kind, w.data, r.id::text, s.path, r.input FROM runs_wait w
    JOIN runs_run r ON r.id = w.run_id JOIN runs_steprun s ON s.id = w.step_run_id WHERE w.status = 'open'"""
UNDECIDED = """SELECT r.id::text, r.generation, s.path, r.input, s.attempt FROM runs_steprun s
    JOIN runs_run r ON r.id = s.run_id WHERE s.status = 'needs_decision' AND r.status IN ('running', 'paused')"""
PAUSED = """SELECT r.id::text, coalesce(r.root_id, r.id)::text, (SELECT max(e.seq) FROM runs_event e
    WHERE e.run_id = r.id AND e.type = 'run.paused') FROM runs_run r WHERE r.status = 'paused'"""
RETRYING = """SELECT r.id::text, r.generation, s.path, s.attempt FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status = 'retry_wait' AND r.status = 'running'"""
RUNNING = "SELECT id::text FROM runs_run WHERE status = 'running'"
# Where a fork could begin: at any step that has an end.
FORKABLE = """SELECT r.generation, r.workflow_id::text, ARRAY(SELECT s.path FROM runs_steprun s WHERE s.run_id = r.id
    AND left(s.kind, 5) = 'chaos' AND s.status IN ('succeeded', 'failed') ORDER BY s.path)
    FROM runs_run r WHERE r.id = %s"""
INSIDE = "SELECT id::text FROM runs_run WHERE parent_run_id = %s"
CAUTIOUS = "SELECT id::text, revision FROM runs_bulkoperation WHERE status = 'waiting'"
EARLY = """SELECT r.id::text, s.path, r.input FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.kind = 'wait_for_callback' AND s.status = 'pending' AND r.status = 'running'"""
