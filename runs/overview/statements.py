"""The overview's questions, each with its index and its bound. `workflow` is null where all of a workspace are meant;
`since` lies on a whole hour.
"""

# What lies before `edge` was summed by the hour (roll.py); the rest is counted. Indexes: run_hour_once,
# run_hour_of_workflow; run_measured.
COUNTED = """SELECT h.workflow_id, h.hour AS at, h.open, h.succeeded, h.failed, h.cancelled FROM runs_runhour h
        WHERE h.workspace_id = %(workspace)s AND h.hour >= %(since)s AND h.hour < %(edge)s
            AND (%(workflow)s::uuid IS NULL OR h.workflow_id = %(workflow)s)
    UNION ALL SELECT r.workflow_id, date_bin('1 hour', r.created_at, %(since)s),
            count(*) FILTER (WHERE r.status IN ('running', 'paused', 'cancelling')),
            count(*) FILTER (WHERE r.status = 'succeeded'), count(*) FILTER (WHERE r.status = 'failed'),
            count(*) FILTER (WHERE r.status = 'cancelled')
        FROM runs_run r WHERE r.workspace_id = %(workspace)s AND r.created_at >= greatest(%(since)s, %(edge)s)
            AND (%(workflow)s::uuid IS NULL OR r.workflow_id = %(workflow)s) GROUP BY 1, 2"""
BY_TIME = f"""SELECT date_bin(%(step)s::interval, at, %(since)s), sum(open), sum(succeeded), sum(failed), sum(cancelled)
    FROM ({COUNTED}) counted GROUP BY 1 ORDER BY 1"""
BY_WORKFLOW = f"""SELECT c.*, w.name, w.archived_at IS NOT NULL FROM (
        SELECT workflow_id, sum(open) AS open, sum(succeeded) AS succeeded, sum(failed) AS failed,
            sum(cancelled) AS cancelled FROM ({COUNTED}) counted GROUP BY 1
        ORDER BY sum(failed) DESC, sum(open + succeeded + failed + cancelled) DESC, workflow_id LIMIT %(most)s
    ) c JOIN workflows_workflow w ON w.id = c.workflow_id ORDER BY c.failed DESC, w.name"""

# Of each column of the chart at most so many of its youngest runs that have succeeded. Index: run_measured.
SAMPLE_OF_WORKSPACE = """SELECT b.at, r.took FROM
    generate_series(%(since)s::timestamptz, %(until)s::timestamptz, %(step)s::interval) AS b(at)
    CROSS JOIN LATERAL (
        SELECT extract(epoch FROM m.finished_at - m.created_at)::float8 AS took FROM runs_run m
        WHERE m.workspace_id = %(workspace)s AND m.created_at >= b.at AND m.created_at < b.at + %(step)s::interval
            AND m.status = 'succeeded' ORDER BY m.created_at DESC LIMIT %(each)s) r"""
# Of one workflow: its youngest runs, by number. Index: run_newest_of_workflow.
SAMPLE_OF_WORKFLOW = """SELECT date_bin(%(step)s::interval, n.created_at, %(since)s) AS at,
        extract(epoch FROM n.finished_at - n.created_at)::float8 AS took
    FROM (SELECT m.created_at, m.finished_at, m.status FROM runs_run m WHERE m.workflow_id = %(workflow)s
        AND m.workspace_id = %(workspace)s ORDER BY m.number DESC LIMIT %(all)s) n
    WHERE n.created_at >= %(since)s AND n.status = 'succeeded'"""
PERCENTILES = """WITH sampled AS ({sample})
    SELECT at, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY took),
        percentile_cont(0.95) WITHIN GROUP (ORDER BY took)
    FROM sampled GROUP BY GROUPING SETS ((at), ())"""
DURATIONS_OF_WORKSPACE = PERCENTILES.format(sample=SAMPLE_OF_WORKSPACE)
DURATIONS_OF_WORKFLOW = PERCENTILES.format(sample=SAMPLE_OF_WORKFLOW)

# Steps that stand failed now, the youngest so many. Index: step_run_failures.
FAILED_STEPS = """SELECT f.workflow_id, w.name, f.key, f.kind, count(*), count(DISTINCT f.run_id), max(f.finished_at),
        sum(count(*)) OVER ()
    FROM (SELECT r.workflow_id, s.key, s.kind, s.run_id, s.finished_at FROM (
            SELECT run_id, key, kind, finished_at FROM runs_steprun WHERE workspace_id = %(workspace)s
                AND status = 'failed' AND handled IS NULL AND finished_at >= %(since)s
            ORDER BY finished_at DESC LIMIT %(all)s) s
        JOIN runs_run r ON r.id = s.run_id
        WHERE r.created_at >= %(since)s AND (%(workflow)s::uuid IS NULL OR r.workflow_id = %(workflow)s)) f
    JOIN workflows_workflow w ON w.id = f.workflow_id
    GROUP BY 1, 2, 3, 4 ORDER BY 6 DESC, 5 DESC, 3 LIMIT %(most)s"""

# Runs that people set going again, the youngest so many: what had succeeded before the last time. Indexes: run_resumed,
# runs_command's of its run, step_run_path.
SAVED = """WITH resumed AS (
    SELECT r.id, (SELECT max(c.created_at) FROM runs_command c WHERE c.run_id = r.id
            AND c.operation IN ('resume', 'edit_input', 'skip', 'supply', 'supply_output')) AS at
    FROM (SELECT id FROM runs_run WHERE workspace_id = %(workspace)s AND created_at >= %(since)s AND generation > 1
            AND (%(workflow)s::uuid IS NULL OR workflow_id = %(workflow)s)
        ORDER BY created_at DESC LIMIT %(all)s) r
)
SELECT count(*), coalesce(sum(kept.took), 0)::float8, coalesce(sum(kept.steps), 0) FROM resumed
    CROSS JOIN LATERAL (
        SELECT sum(extract(epoch FROM k.finished_at - k.started_at)) AS took, count(*) AS steps FROM (
            SELECT s.started_at, s.finished_at FROM runs_steprun s WHERE s.run_id = resumed.id
                AND s.status = 'succeeded' AND s.origin = 'executed' AND s.item_total IS NULL
                AND s.finished_at < resumed.at LIMIT %(steps)s) k) kept
    WHERE resumed.at IS NOT NULL"""

# Lane after lane, of each at most so many, and the first in turn. Index: step_run_turn.
READY = """WITH RECURSIVE lanes AS (
    (SELECT s.queue FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by IS NULL ORDER BY s.queue LIMIT 1)
    UNION ALL
    SELECT (SELECT s.queue FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by IS NULL AND s.queue > l.queue
        ORDER BY s.queue LIMIT 1) FROM lanes l WHERE l.queue IS NOT NULL
)
SELECT l.queue, c.waiting, c.oldest FROM lanes l CROSS JOIN LATERAL (
    SELECT count(*) AS waiting, min(f.not_before) AS oldest FROM (
        SELECT s.not_before FROM runs_steprun s WHERE s.queue = l.queue AND s.workspace_id = %(workspace)s
            AND s.status = 'ready' AND s.held_by IS NULL
        ORDER BY (s.not_before AT TIME ZONE 'UTC') - s.priority * interval '1 minute', s.id LIMIT %(most)s) f
    WHERE f.not_before <= statement_timestamp()) c
WHERE l.queue IS NOT NULL AND c.waiting > 0"""
# Index: step_run_running.
RUNNING = """SELECT queue, count(*) FROM runs_steprun WHERE status = 'running' AND workspace_id = %(workspace)s
    GROUP BY queue"""

# Indexes: runs_trigger's of its workspace; firing_amiss.
AMISS = """SELECT t.id, t.name, t.workflow_id, w.name, f.due_at, f.status, f.reason, f.detail
    FROM runs_trigger t JOIN workflows_workflow w ON w.id = t.workflow_id
    CROSS JOIN LATERAL (
        SELECT due_at, status, reason, detail FROM runs_firing WHERE trigger_id = t.id AND due_at >= %(since)s
            AND status IN ('missed', 'failed') ORDER BY due_at DESC LIMIT %(each)s) f
    WHERE t.workspace_id = %(workspace)s AND (%(workflow)s::uuid IS NULL OR t.workflow_id = %(workflow)s)
    ORDER BY f.due_at DESC"""
NEXT = """SELECT t.id, t.name, t.workflow_id, w.name, t.next_at FROM runs_trigger t
    JOIN workflows_workflow w ON w.id = t.workflow_id
    WHERE t.workspace_id = %(workspace)s AND t.next_at IS NOT NULL
        AND (%(workflow)s::uuid IS NULL OR t.workflow_id = %(workflow)s) ORDER BY t.next_at LIMIT %(most)s"""
NOW = """SELECT statement_timestamp(), (SELECT looked_to FROM runs_look WHERE name = %s)"""
