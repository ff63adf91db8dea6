-- Defaults that hand-written inserts rely on.
CREATE SEQUENCE runs_run_number;
ALTER TABLE runs_run ALTER COLUMN number SET DEFAULT nextval('runs_run_number');
ALTER SEQUENCE runs_run_number OWNED BY runs_run.number;
ALTER TABLE runs_steprun
    ALTER COLUMN attempt SET DEFAULT 0, ALTER COLUMN tries SET DEFAULT 0, ALTER COLUMN crash_count SET DEFAULT 0,
    ALTER COLUMN edition SET DEFAULT 1, ALTER COLUMN origin SET DEFAULT 'executed', ALTER COLUMN item_cursor SET DEFAULT 0,
    ALTER COLUMN item_open SET DEFAULT 0, ALTER COLUMN item_failed SET DEFAULT 0, ALTER COLUMN item_window SET DEFAULT 0,
    ALTER COLUMN priority SET DEFAULT 0, ALTER COLUMN changed_seq SET DEFAULT 0;

-- Short transactions rewrite the same rows often: leave room in each page, so that an update stays in it.
ALTER TABLE runs_run SET (fillfactor = 70);
ALTER TABLE runs_steprun SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE runs_event (
    run_day date NOT NULL, run_id uuid NOT NULL, seq bigint NOT NULL, type text NOT NULL, path text, attempt integer,
    actor text NOT NULL, data text NOT NULL, at timestamptz NOT NULL,
    PRIMARY KEY (run_id, seq, run_day)
) PARTITION BY RANGE (run_day);
CREATE TABLE runs_attempt (
    run_day date NOT NULL, step_run_id bigint NOT NULL, number integer NOT NULL, run_id uuid NOT NULL, fence bigint,
    worker uuid, outcome text NOT NULL, error text, input text, ready_at timestamptz, started_at timestamptz,
    finished_at timestamptz NOT NULL,
    PRIMARY KEY (step_run_id, number, run_day)
) PARTITION BY RANGE (run_day);
CREATE TABLE runs_checkpoint (
    run_day date NOT NULL, step_run_id bigint NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY, attempt integer NOT NULL,
    fence bigint NOT NULL, kind text NOT NULL, key text NOT NULL, value text NOT NULL, at timestamptz NOT NULL,
    PRIMARY KEY (step_run_id, number, run_day)
) PARTITION BY RANGE (run_day);
CREATE TABLE runs_logchunk (
    run_day date NOT NULL, step_run_id bigint NOT NULL, attempt integer NOT NULL, "offset" bigint NOT NULL,
    text text NOT NULL, at timestamptz NOT NULL,
    PRIMARY KEY (step_run_id, attempt, "offset", run_day)
) PARTITION BY RANGE (run_day);

-- A day's partition is made ahead by the sweeper; what it missed lands in the default one, so that nothing is refused.
CREATE TABLE runs_event_default PARTITION OF runs_event DEFAULT;
CREATE TABLE runs_attempt_default PARTITION OF runs_attempt DEFAULT;
CREATE TABLE runs_checkpoint_default PARTITION OF runs_checkpoint DEFAULT;
CREATE TABLE runs_logchunk_default PARTITION OF runs_logchunk DEFAULT;

CREATE FUNCTION pawl_make_partitions(first date, days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    made integer := 0;
    day date;
    base text;
    name text;
BEGIN
    FOR day IN SELECT first + n FROM generate_series(0, days - 1) AS n LOOP
        FOREACH base IN ARRAY ARRAY['runs_event', 'runs_attempt', 'runs_checkpoint', 'runs_logchunk'] LOOP
            name := base || '_' || to_char(day, 'YYYYMMDD');
            IF to_regclass(name) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', name, base, day, day + 1);
                made := made + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN made;
END $$;
SELECT pawl_make_partitions((now() AT TIME ZONE 'UTC')::date, 7);

-- P1: a committed result is never changed. Deleting goes by the run (retention), never by the step.
CREATE FUNCTION pawl_refuse_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'step run % of run % has succeeded: its row never changes', OLD.path, OLD.run_id
        USING ERRCODE = 'raise_exception', HINT = 'promise P1';
END $$;
CREATE TRIGGER runs_steprun_frozen BEFORE UPDATE ON runs_steprun
    FOR EACH ROW WHEN (OLD.status = 'succeeded') EXECUTE FUNCTION pawl_refuse_frozen();

-- P6: the event log is append-only.
CREATE FUNCTION pawl_refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: the event log is append-only', TG_OP, TG_TABLE_NAME USING HINT = 'promise P6';
END $$;
CREATE TRIGGER runs_event_append_only BEFORE UPDATE OR DELETE ON runs_event
    FOR EACH ROW EXECUTE FUNCTION pawl_refuse_rewrite();
CREATE TRIGGER runs_event_no_truncate BEFORE TRUNCATE ON runs_event
    FOR EACH STATEMENT EXECUTE FUNCTION pawl_refuse_rewrite();

-- Compare-and-set inside a statement: a row that is not in the expected state aborts the whole transaction.
CREATE FUNCTION pawl_expect(actual text, expected text, what text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF actual IS DISTINCT FROM expected THEN
        RAISE EXCEPTION '% is %, expected %', what, actual, expected USING ERRCODE = 'PW001';
    END IF;
    RETURN true;
END $$;
