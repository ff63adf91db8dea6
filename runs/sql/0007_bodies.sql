-- What a body keeps by name is one row: a lost reply that is asked again, even while the first asking still waits in the
-- server, never makes a second. `ordinal` grows within an attempt, so that an older write never replaces a newer one.
ALTER TABLE runs_checkpoint ADD COLUMN ordinal bigint NOT NULL DEFAULT 0;
DELETE FROM runs_checkpoint c USING runs_checkpoint newer
    WHERE newer.step_run_id = c.step_run_id AND newer.run_day = c.run_day AND newer.kind = c.kind AND newer.key = c.key
        AND newer.number > c.number;
CREATE UNIQUE INDEX runs_checkpoint_name ON runs_checkpoint (step_run_id, kind, key, run_day);

-- An attempt's input may be large as well.
ALTER TABLE runs_attempt ADD COLUMN input_ref bytea;
CREATE INDEX runs_attempt_input_ref ON runs_attempt (input_ref) WHERE input_ref IS NOT NULL;

-- Whoever refers to payloads touches them in the same statement, in one order for all. A sweep that judged one by an older
-- look finds it changed, and leaves it. One that is gone already stops the transaction: it must be uploaded again.
CREATE FUNCTION pawl_hold_payloads(wanted bytea[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    found integer;
BEGIN
    UPDATE runs_payload p SET touched_at = statement_timestamp()
        FROM (SELECT hash FROM runs_payload WHERE hash = ANY(wanted) ORDER BY hash FOR UPDATE) w WHERE p.hash = w.hash;
    GET DIAGNOSTICS found = ROW_COUNT;
    IF found <> (SELECT count(DISTINCT each) FROM unnest(wanted) AS each) THEN
        RAISE EXCEPTION 'a payload is no longer there' USING ERRCODE = 'PW002';
    END IF;
    RETURN true;
END $$;

-- P1 and P6 to the end: what belongs to a run goes with the run, and a run goes when it is final.
CREATE FUNCTION pawl_refuse_open_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'run % is %: only a final run may be deleted', OLD.id, OLD.status USING HINT = 'promise P1';
END $$;
CREATE TRIGGER runs_run_kept BEFORE DELETE ON runs_run
    FOR EACH ROW WHEN (OLD.status NOT IN ('succeeded', 'failed', 'cancelled')) EXECUTE FUNCTION pawl_refuse_open_run();
CREATE FUNCTION pawl_refuse_lone_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM gone g JOIN runs_run r ON r.id = g.run_id) THEN
        RAISE EXCEPTION 'step runs are deleted with their run only' USING HINT = 'promise P1';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER runs_steprun_kept AFTER DELETE ON runs_steprun REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pawl_refuse_lone_steps();
CREATE OR REPLACE FUNCTION pawl_refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM runs_run r WHERE r.id = OLD.run_id) THEN
        RETURN OLD;  -- of a run that retention took away in this very transaction, or before
    END IF;
    RAISE EXCEPTION '% of % is refused: the event log is append-only', TG_OP, TG_TABLE_NAME USING HINT = 'promise P6';
END $$;

-- Drops a day's partitions once no run of that day is left. Today's is never dropped: runs still begin in it.
CREATE FUNCTION pawl_drop_day(day date) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    dropped integer := 0;
    base text;
    name text;
BEGIN
    IF day >= (now() AT TIME ZONE 'UTC')::date OR EXISTS (SELECT FROM runs_run r WHERE r.run_day = day) THEN
        RETURN 0;
    END IF;
    FOREACH base IN ARRAY ARRAY['runs_event', 'runs_attempt', 'runs_checkpoint', 'runs_logchunk'] LOOP
        name := base || '_' || to_char(day, 'YYYYMMDD');
        IF to_regclass(name) IS NOT NULL THEN
            EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', base, name);
            EXECUTE format('DROP TABLE %I', name);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END $$;
