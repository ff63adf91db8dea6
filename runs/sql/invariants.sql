-- What must hold after every transaction. Each view lists the rows that break its rule; all are empty.
CREATE OR REPLACE VIEW runs_broken_i1 AS  -- events are numbered 1..event_seq
    SELECT r.id AS run_id, 'I1: ' || count(e.seq) || ' events, last ' || coalesce(max(e.seq), 0) || ', event_seq ' || r.event_seq AS what
    FROM runs_run r LEFT JOIN runs_event e ON e.run_id = r.id
    GROUP BY r.id, r.event_seq
    HAVING count(e.seq) <> r.event_seq OR coalesce(max(e.seq), 0) <> r.event_seq OR coalesce(min(e.seq), 1) <> 1;
CREATE OR REPLACE VIEW runs_broken_i2 AS  -- exactly one success event per succeeded step run that was executed
    SELECT s.run_id, 'I2: ' || s.path || ' has ' || count(e.seq) || ' success events' AS what
    FROM runs_steprun s LEFT JOIN runs_event e ON e.run_id = s.run_id AND e.path = s.path AND e.type = 'step.succeeded'
    WHERE s.status = 'succeeded' AND s.origin IN ('executed', 'manual', 'reused')
    GROUP BY s.id HAVING count(e.seq) <> 1;
CREATE OR REPLACE VIEW runs_broken_i3 AS  -- nothing starts after its success
    SELECT e.run_id, 'I3: ' || e.path || ' started at ' || e.seq || ' after its success at ' || ok.seq AS what
    FROM runs_event ok JOIN runs_event e ON e.run_id = ok.run_id AND e.path = ok.path AND e.seq > ok.seq
    WHERE ok.type = 'step.succeeded' AND e.type = 'step.running';
CREATE OR REPLACE VIEW runs_broken_i4 AS  -- nothing starts before its predecessors are settled, unless its policy asks for fewer
    SELECT r.id AS run_id, early.what
    FROM runs_run r CROSS JOIN LATERAL (  -- for each run by itself: who asks about one run reads nothing of the others
        WITH graph AS MATERIALIZED (  -- read once, however many step runs it has
            SELECT v.graph::json AS document FROM workflows_version v WHERE v.id = r.version_id
        ), known AS MATERIALIZED (
            SELECT jsonb_object_agg(node ->> 'id', node ->> 'key') AS keys,
                jsonb_object_agg(node ->> 'id', coalesce(node #>> '{policy,join}', 'all')) AS joins
            FROM graph CROSS JOIN LATERAL json_array_elements(graph.document -> 'nodes') node
        ), edges AS MATERIALIZED (
            SELECT edge ->> 'target' AS target, known.keys ->> (edge ->> 'source') AS source_key
            FROM graph CROSS JOIN known CROSS JOIN LATERAL json_array_elements(graph.document -> 'edges') edge
            WHERE known.joins ->> (edge ->> 'target') = 'all'
        ), settled AS MATERIALIZED (
            SELECT path, min(seq) AS seq FROM runs_event
            WHERE run_id = r.id AND type IN ('step.succeeded', 'step.failed', 'step.skipped') GROUP BY path
        ), begun AS MATERIALIZED (
            SELECT t.path, t.node_id, left(t.path, -length(t.key)) AS place, b.seq
            FROM (SELECT path, min(seq) AS seq FROM runs_event WHERE run_id = r.id AND type = 'step.running' GROUP BY path) b
            JOIN runs_steprun t ON t.run_id = r.id AND t.path = b.path
        )
        SELECT 'I4: ' || t.path || ' started before ' || s.path || ' was settled' AS what
        FROM begun t
        JOIN edges e ON e.target = t.node_id
        JOIN runs_steprun s ON s.run_id = r.id AND s.path = t.place || e.source_key
        LEFT JOIN settled d ON d.path = s.path
        WHERE d.seq IS NULL OR t.seq < d.seq
    ) early;
CREATE OR REPLACE VIEW runs_broken_i5 AS  -- running <=> it has a fence and a worker
    SELECT s.run_id, 'I5: ' || s.path || ' is ' || s.status || ', fence ' || coalesce(s.fence::text, 'none') || ', worker '
        || coalesce(s.worker::text, 'none') AS what
    FROM runs_steprun s
    WHERE (s.status = 'running') <> (s.worker IS NOT NULL) OR (s.status = 'running' AND s.fence IS NULL);
CREATE OR REPLACE VIEW runs_broken_i6 AS  -- the run's counters equal the counts
    SELECT r.id AS run_id, 'I6: counters of run ' || r.number || ' differ' AS what
    FROM runs_run r LEFT JOIN LATERAL (
        SELECT count(*) AS total,
            count(*) FILTER (WHERE status IN ('pending','ready','running','retry_wait','waiting','needs_decision','blocked')) AS open,
            count(*) FILTER (WHERE status = 'running') AS running,
            count(*) FILTER (WHERE status IN ('waiting', 'needs_decision', 'blocked')) AS waiting,
            count(*) FILTER (WHERE status = 'failed' AND handled IS NULL) AS failed,
            count(*) FILTER (WHERE status = 'succeeded') AS succeeded
        FROM runs_steprun s WHERE s.run_id = r.id
    ) c ON true
    WHERE (r.total_count, r.open_count, r.running_count, r.waiting_count, r.failed_count, r.succeeded_count)
        IS DISTINCT FROM (c.total, c.open, c.running, c.waiting, c.failed, c.succeeded);
CREATE OR REPLACE VIEW runs_broken_i7 AS  -- whatever waits has one open wait, open items, or a time
    SELECT s.run_id, 'I7: ' || s.path || ' waits for ' || coalesce(s.wait_kind, 'nothing') AS what
    FROM runs_steprun s
    WHERE s.status = 'waiting' AND NOT CASE s.wait_kind
        WHEN 'timer' THEN s.not_before IS NOT NULL
        WHEN 'children' THEN s.item_open > 0
        WHEN 'child' THEN EXISTS (SELECT FROM runs_outbox o WHERE o.step_run_id = s.id)
            OR EXISTS (SELECT FROM runs_run c WHERE c.parent_step_id = s.id AND c.status IN ('running', 'paused', 'cancelling'))
        ELSE s.wait_kind IN ('approval', 'form', 'callback')
            AND (SELECT count(*) FROM runs_wait w WHERE w.step_run_id = s.id AND w.status = 'open') = 1 END
    UNION ALL
    SELECT w.run_id, 'I7: an open wait of ' || s.path || ', which is ' || s.status
    FROM runs_wait w JOIN runs_steprun s ON s.id = w.step_run_id WHERE w.status = 'open' AND s.status <> 'waiting'
    UNION ALL
    SELECT s.run_id, 'I7: ' || s.path || ' waits for a callback that has come'
    FROM runs_steprun s JOIN runs_callback c ON c.step_run_id = s.id
    WHERE s.status = 'waiting' AND s.wait_kind = 'callback' AND c.received_at IS NOT NULL AND c.used_at IS NULL AND c.round =
        (SELECT count(*) FROM runs_wait w WHERE w.step_run_id = s.id AND w.status IN ('closed', 'expired'))
    UNION ALL
    SELECT s.run_id, 'I7: ' || s.path || ' waits to retry without a time'
    FROM runs_steprun s WHERE s.status = 'retry_wait' AND s.not_before IS NULL;
CREATE OR REPLACE VIEW runs_broken_i8 AS  -- a run is final <=> nothing of it is open
    SELECT r.id AS run_id, 'I8: run ' || r.number || ' is ' || r.status || ' with ' || r.open_count || ' open steps' AS what
    FROM runs_run r WHERE (r.status IN ('succeeded', 'failed', 'cancelled')) <> (r.open_count = 0);
CREATE OR REPLACE VIEW runs_broken_i9 AS  -- a container's open items are those with an open step
    SELECT c.run_id, 'I9: ' || c.path || ' says ' || c.item_open || ' open items, there are ' || count(DISTINCT s.item_index) AS what
    FROM runs_steprun c LEFT JOIN runs_steprun s ON s.parent_id = c.id
        AND s.status IN ('pending','ready','running','retry_wait','waiting','needs_decision','blocked')
    WHERE c.item_total IS NOT NULL
    GROUP BY c.id HAVING c.item_open <> count(DISTINCT s.item_index);
CREATE OR REPLACE VIEW runs_broken_i10 AS  -- attempts are 1..n, each ended but the live one
    SELECT s.run_id, 'I10: ' || s.path || ' is ' || s.status || ' at attempt ' || s.attempt || ' with ' || count(a.number) || ' ended' AS what
    FROM runs_steprun s LEFT JOIN runs_attempt a ON a.step_run_id = s.id
    WHERE s.origin IN ('executed', 'manual', 'reused')
    GROUP BY s.id
    HAVING count(a.number) <> s.attempt - (s.status IN ('running', 'waiting'))::int
        OR coalesce(max(a.number), 0) <> s.attempt - (s.status IN ('running', 'waiting'))::int;
CREATE OR REPLACE VIEW runs_broken_i11 AS  -- limits are never exceeded: by what began after they were set, and could be known
    SELECT min(s.run_id::text)::uuid AS run_id, 'I11: ' || count(*) || ' steps run with the key ' || s.limit_key || ', at most '
        || max(s.limit_at_most) AS what
    FROM runs_steprun s WHERE s.status = 'running' AND s.limit_key IS NOT NULL AND s.limit_at_most IS NOT NULL
    GROUP BY s.workspace_id, s.limit_key HAVING count(*) > max(s.limit_at_most)
    UNION ALL
    SELECT min(s.run_id::text)::uuid, 'I11: ' || count(*) || ' steps run under ' || l.name || ', at most ' || l.at_most
    FROM runs_limit l JOIN runs_steprun s ON l.name IN ('queue:' || s.queue, 'workspace:' || s.workspace_id)
    WHERE s.status = 'running' AND s.started_at > l.set_at + interval '5 seconds'
    GROUP BY l.name, l.at_most HAVING count(*) > l.at_most
    UNION ALL
    SELECT min(r.id::text)::uuid, 'I11: ' || count(*) || ' runs are under way under ' || l.name || ', at most ' || l.at_most
    FROM runs_limit l JOIN runs_run r ON l.name = 'workflow:' || r.workflow_id
    WHERE r.begun_at IS NOT NULL AND r.begun_at > l.set_at
    GROUP BY l.name, l.at_most HAVING count(*) > l.at_most
    UNION ALL
    SELECT min(r.id::text)::uuid, 'I11: ' || count(*) || ' runs are under way with the key ' || r.limit_key || ', at most '
        || max(r.limit_at_most)
    FROM runs_run r WHERE r.begun_at IS NOT NULL AND r.limit_key IS NOT NULL
    GROUP BY r.workspace_id, r.limit_key HAVING count(*) > max(r.limit_at_most)
    UNION ALL
    SELECT r.id, 'I11: run ' || r.number || ' has ended and is counted' FROM runs_run r
    WHERE r.begun_at IS NOT NULL AND r.status IN ('succeeded', 'failed', 'cancelled');
CREATE OR REPLACE VIEW runs_broken_i12 AS  -- every reference resolves
    SELECT s.run_id, 'I12: ' || s.path || ' refers to a payload that is not there' AS what
    FROM runs_steprun s
    WHERE (s.output_ref IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs_payload p WHERE p.hash = s.output_ref))
        OR (s.input_ref IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs_payload p WHERE p.hash = s.input_ref))
        OR (s.override_ref IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs_payload p WHERE p.hash = s.override_ref))
        OR (s.items_ref IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs_payload p WHERE p.hash = s.items_ref));
CREATE OR REPLACE VIEW runs_broken_i13 AS  -- copies equal their source, which was executed, and executed nothing themselves
    SELECT c.run_id, 'I13: ' || c.path || ' is not as step run ' || coalesce(c.source_id::text, 'nowhere') AS what
    FROM runs_steprun c LEFT JOIN runs_steprun s ON s.id = c.source_id
    WHERE (c.origin = 'copied' OR c.source_id IS NOT NULL) AND (
        c.origin <> 'copied' OR s.id IS NULL OR s.origin = 'copied' OR s.run_id = c.run_id
        OR (c.node_id, c.kind, c.status, c.port, c.handled, c.reason, c.edition, c.attempt, c.output, c.output_ref,
            c.input, c.input_ref, c.error, c.items, c.items_ref, c.item_total, c.item_cursor, c.started_at, c.finished_at)
        IS DISTINCT FROM
            (s.node_id, s.kind, s.status, s.port, s.handled, s.reason, s.edition, s.attempt, s.output, s.output_ref,
            s.input, s.input_ref, s.error, s.items, s.items_ref, s.item_total, s.item_cursor, s.started_at, s.finished_at)
        OR EXISTS (SELECT FROM runs_attempt a WHERE a.step_run_id = c.id)
        OR EXISTS (SELECT FROM runs_event e WHERE e.run_id = c.run_id AND e.path = c.path AND e.type = 'step.running'));
CREATE OR REPLACE VIEW runs_broken_i14 AS  -- every event has an actor
    SELECT e.run_id, 'I14: event ' || e.seq || ' has no actor' AS what FROM runs_event e WHERE e.actor = '';
CREATE OR REPLACE VIEW runs_broken_i15 AS  -- a firing that is fired has a run, which no other firing has; a trigger's run has its firing
    SELECT f.run_id, 'I15: firing ' || f.id || ' is ' || f.status || CASE WHEN f.run_id IS NULL THEN ' without a run' ELSE ' and has a run' END AS what
    FROM runs_firing f WHERE (f.status = 'fired') <> (f.run_id IS NOT NULL)
    UNION ALL
    SELECT f.run_id, 'I15: ' || count(*) || ' firings have one run' FROM runs_firing f
    WHERE f.run_id IS NOT NULL GROUP BY f.run_id HAVING count(*) > 1
    UNION ALL
    SELECT r.id, 'I15: run ' || r.number || ' is in no ledger' FROM runs_run r JOIN runs_trigger t ON t.id = r.trigger_id
    WHERE NOT EXISTS (SELECT FROM runs_firing f WHERE f.run_id = r.id);
CREATE OR REPLACE VIEW runs_broken_i16 AS  -- what a breakpoint holds is ready, in a paused run
    SELECT r.id AS run_id, 'I16: ' || p.path || ' is held, and is ' || coalesce(s.status, 'not there') || ' in a run that is '
        || r.status AS what
    FROM runs_run r CROSS JOIN LATERAL json_array_elements_text(r.paused_at::json) AS p(path)
    LEFT JOIN runs_steprun s ON s.run_id = r.id AND s.path = p.path
    WHERE r.status <> 'paused' OR s.status IS DISTINCT FROM 'ready';
CREATE OR REPLACE VIEW runs_broken_i17 AS  -- a bulk operation's report is what its commands did
    SELECT i.run_id, 'I17: run ' || i.number || ' is reported as ' || i.status || CASE WHEN c.id IS NULL
        THEN ', and has no such command' ELSE ', and the command was done' END AS what
    FROM runs_bulkrun i JOIN runs_run r ON r.id = i.run_id LEFT JOIN runs_command c ON c.id = i.command_id
    WHERE (i.status = 'done') <> (c.id IS NOT NULL)
    UNION ALL
    SELECT i.run_id, 'I17: run ' || i.number || ' of a bulk operation that is done was left out'
    FROM runs_bulkoperation b JOIN runs_bulkrun i ON i.bulk_id = b.id WHERE b.status = 'done' AND i.status = 'pending';
CREATE OR REPLACE VIEW runs_broken AS
    SELECT * FROM runs_broken_i1 UNION ALL SELECT * FROM runs_broken_i2 UNION ALL SELECT * FROM runs_broken_i3
    UNION ALL SELECT * FROM runs_broken_i4 UNION ALL SELECT * FROM runs_broken_i5 UNION ALL SELECT * FROM runs_broken_i6 UNION ALL SELECT * FROM runs_broken_i7
    UNION ALL SELECT * FROM runs_broken_i8 UNION ALL SELECT * FROM runs_broken_i9 UNION ALL SELECT * FROM runs_broken_i10
    UNION ALL SELECT * FROM runs_broken_i11 UNION ALL SELECT * FROM runs_broken_i12 UNION ALL SELECT * FROM runs_broken_i13
    UNION ALL SELECT * FROM runs_broken_i14
    UNION ALL SELECT * FROM runs_broken_i15
    UNION ALL SELECT * FROM runs_broken_i16
    UNION ALL SELECT * FROM runs_broken_i17;
