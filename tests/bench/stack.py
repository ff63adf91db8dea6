"""Pawl's own processes for the bench, as `make run` starts them, and the doors that it measures at."""

import select
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import psycopg
from django.conf import settings

from config.services.ports import LOOPBACK, free_port
from config.services.run import programs
from config.services.supervisor import Supervisor
from sample.crash.clients import PawlClient

PATIENCE_S = 90.0
# Tells the moment at which a run's end can be seen by others, so that nobody has to poll for it while it is measured.
TELL_ENDS = """
CREATE OR REPLACE FUNCTION bench_tell_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('bench_ends', NEW.id::text); RETURN NULL; END $$;
CREATE TRIGGER bench_ends AFTER UPDATE ON runs_run FOR EACH ROW
    WHEN (NEW.status IN ('succeeded', 'failed', 'cancelled')) EXECUTE FUNCTION bench_tell_end();
"""
TELL_NO_MORE = "DROP TRIGGER bench_ends ON runs_run"


class BenchProblem(Exception):
    """The bench cannot go on; the message says what did not come."""


def connect(*, port: int | None = None, name: str = "pawl bench") -> psycopg.Connection[Any]:
    database: dict[str, Any] = settings.DATABASES["default"]
    return psycopg.connect(
        host=database["HOST"], port=port or database["PORT"], dbname=database["NAME"], user=database["USER"],
        password=database["PASSWORD"], autocommit=True, prepare_threshold=2, application_name=name,
    )  # fmt: skip


class Stack:
    """`with Stack(...)`: web, two worker processes and the sweeper run, and are started again when they die."""

    def __init__(self, *, logs: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.port = free_port()
        self.url = f"http://{LOOPBACK}:{self.port}"
        self.logs = logs
        kept = [one for one in programs(dict(environment), web=self.port) if one.name != "sample"]
        self._supervisor = Supervisor(kept, logs=logs, say=say)

    def __enter__(self) -> Self:
        self.look()
        return self

    def __exit__(self, *_: object) -> None:
        self._supervisor.stop()

    def look(self) -> None:
        self._supervisor.look()

    def until(self, what: str, ask: Callable[[], Any], *, every_s: float = 0.02) -> Any:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.look()
            if found := ask():
                return found
            time.sleep(every_s)
        raise BenchProblem(f"Waited {PATIENCE_S:g} s for {what}, in vain. The logs are in {self.logs}.")


@dataclass
class Bench:
    """What every measure works with."""

    stack: Stack
    client: PawlClient
    database: psycopg.Connection[Any]

    def start(self, workflow_id: UUID, run_input: Any) -> str:
        """By the API, as a page does it."""
        answer = self.client.post(f"/workflows/{workflow_id}/runs", {"input": run_input})
        return str(answer["id"])

    def status(self, run_id: str) -> str:
        row = self.database.execute("SELECT status FROM runs_run WHERE id = %s", (run_id,)).fetchone()
        assert row is not None
        return str(row[0])

    def output(self, run_id: str, path: str) -> str | None:
        query = "SELECT output FROM runs_steprun WHERE run_id = %s AND path = %s AND status = 'succeeded'"
        row = self.database.execute(query, (run_id, path)).fetchone()
        return None if row is None else str(row[0])

    def finish(self, run_id: str) -> None:
        self.stack.until(f"run {run_id} to end", lambda: self.status(run_id) not in ("running", "created"))
        if self.status(run_id) != "succeeded":
            raise BenchProblem(f"Run {run_id} is {self.status(run_id)}. The logs are in {self.stack.logs}.")


class Ends:
    """`with Ends() as ends`: `ends.wait(run)` returns when the commit that ended the run can be seen."""

    def __enter__(self) -> Self:
        self._connection = connect(name="pawl bench ends")
        self._connection.execute(TELL_ENDS)
        self._connection.execute("LISTEN bench_ends")
        self._seen: set[str] = set()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.execute(TELL_NO_MORE)
        self._connection.close()

    def wait(self, run_id: str) -> float:
        """time.monotonic() at which it was seen."""
        deadline = time.monotonic() + PATIENCE_S
        connection = self._connection.pgconn
        while run_id not in self._seen:
            ready, _, _ = select.select([connection.socket], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise BenchProblem(f"Run {run_id} did not end within {PATIENCE_S:g} s.")
            seen_at = time.monotonic()
            connection.consume_input()
            while (told := connection.notifies()) is not None:
                self._seen.add(told.extra.decode())
        return seen_at
