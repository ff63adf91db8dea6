"""Whole runs by the ten thousand, copied in SQL from one that was started as usual: each can be executed."""

from builder.workflows.models import Version
from kit.ids import new_id
from runs.engine.start import Start, start_run
from runs.store.read import Connection


def columns(connection: Connection, table: str, *, but: set[str]) -> str:
    query = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    return ", ".join(f'"{name}"' for (name,) in connection.execute(query, (table,)) if name not in but)


def flood(connection: Connection, version: Version, *, runs: int) -> None:
    """So many more runs of a version, as they stand right after their start."""
    with connection.transaction():
        first = start_run(connection, Start(version.workflow_id, version.id, None, "flood")).run_id
    connection.execute("CREATE TEMPORARY TABLE IF NOT EXISTS flooded (id uuid PRIMARY KEY)")
    connection.execute("TRUNCATE flooded")
    of_run = columns(connection, "runs_run", but={"id", "number", "input_hash"})
    of_step = columns(connection, "runs_steprun", but={"id", "run_id"})
    of_event = columns(connection, "runs_event", but={"run_id"})
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = '300s'")
        with connection.cursor() as cursor, cursor.copy("COPY flooded (id) FROM STDIN") as copy:
            for _ in range(runs):
                copy.write_row((new_id(),))
        for table, names, key in [
            ("runs_run", of_run, "id"), ("runs_steprun", of_step, "run_id"), ("runs_event", of_event, "run_id"),
        ]:  # fmt: skip
            source = ", ".join(f"t.{name}" for name in names.split(", "))
            copied = f"SELECT f.id, {source} FROM {table} t, flooded f WHERE t.{key} = %s"
            connection.execute(f"INSERT INTO {table} ({key}, {names}) {copied}", (first,))
    connection.execute("ANALYZE runs_steprun")


def drain(connection: Connection, version: Version) -> None:
    """Takes away all runs of a version, as retention does it: the runs first. No worker may run."""
    gone = "SELECT s.run_id FROM runs_steprun s WHERE NOT EXISTS (SELECT FROM runs_run r WHERE r.id = s.run_id)"
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = '300s'")
        values = (version.id,)
        connection.execute(
            "UPDATE runs_run SET status = 'cancelled' WHERE version_id = %s AND status = 'running'", values
        )
        connection.execute("DELETE FROM runs_run WHERE version_id = %s", values)
        connection.execute(f"DELETE FROM runs_steprun WHERE run_id IN ({gone})")
