CREATE OR REPLACE VIEW runs_broken_i18 AS  -- a run is paused with the run that waits for it, or is about to look
    SELECT c.id AS run_id, 'I18: run ' || c.number || ' is ' || c.status || ' by ' || coalesce(c.paused_by, 'itself')
        || ', and ' || s.path || ' waits for it in a run that is ' || r.status AS what
    FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id JOIN runs_run c ON c.parent_step_id = s.id
    WHERE s.status = 'waiting' AND s.wait_kind = 'child' AND c.status IN ('running', 'paused')
        AND (r.status = 'paused') <> (c.status = 'paused' AND c.paused_by IS NOT NULL)
        AND NOT EXISTS (SELECT FROM runs_outbox o WHERE o.step_run_id = s.id);
CREATE OR REPLACE VIEW runs_broken AS
    SELECT * FROM runs_broken_i1 UNION ALL SELECT * FROM runs_broken_i2 UNION ALL SELECT * FROM runs_broken_i3
    UNION ALL SELECT * FROM runs_broken_i4 UNION ALL SELECT * FROM runs_broken_i5 UNION ALL SELECT * FROM runs_broken_i6 UNION ALL SELECT * FROM runs_broken_i7
    UNION ALL SELECT * FROM runs_broken_i8 UNION ALL SELECT * FROM runs_broken_i9 UNION ALL SELECT * FROM runs_broken_i10
    UNION ALL SELECT * FROM runs_broken_i11 UNION ALL SELECT * FROM runs_broken_i12 UNION ALL SELECT * FROM runs_broken_i13
    UNION ALL SELECT * FROM runs_broken_i14
    UNION ALL SELECT * FROM runs_broken_i15
    UNION ALL SELECT * FROM runs_broken_i16
    UNION ALL SELECT * FROM runs_broken_i17
    UNION ALL SELECT * FROM runs_broken_i18;
