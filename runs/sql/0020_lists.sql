-- What stands beside a run goes with it, whoever deletes the run: an old sweeper knows nothing of these tables.
CREATE FUNCTION pawl_forget_beside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM runs_runlabel WHERE run_id = OLD.id;
    DELETE FROM runs_runfailure WHERE run_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_beside AFTER DELETE ON runs_run FOR EACH ROW EXECUTE FUNCTION pawl_forget_beside();
