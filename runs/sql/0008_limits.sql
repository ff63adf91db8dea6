-- Rows that are there already; those that succeeded stay as they are (promise P1), and nobody claims them.
UPDATE runs_steprun s SET workspace_id = r.workspace_id FROM runs_run r WHERE r.id = s.run_id AND s.status <> 'succeeded';

-- An insert that does not name the workspace (a process of the version before, while a new one is rolled out) is put right:
-- a step run without one would never be claimed. Costs nothing where it is named.
CREATE FUNCTION pawl_step_run_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.workspace_id := (SELECT r.workspace_id FROM runs_run r WHERE r.id = NEW.run_id);
    RETURN NEW;
END $$;
CREATE TRIGGER runs_steprun_workspace BEFORE INSERT ON runs_steprun
    FOR EACH ROW WHEN (NEW.workspace_id IS NULL) EXECUTE FUNCTION pawl_step_run_workspace();

-- What a claim takes next: of each workspace, the one whose turn is first. A priority is worth a minute of waiting a level,
-- so the order of two step runs never changes while they age, and nothing starves. (AT TIME ZONE: an index wants it immutable.)
CREATE INDEX step_run_turn ON runs_steprun (
    queue, workspace_id, ((not_before AT TIME ZONE 'UTC') - priority * interval '1 minute'), id
) WHERE status = 'ready' AND held_by IS NULL;
