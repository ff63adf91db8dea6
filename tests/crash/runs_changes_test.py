"""Somebody changes the workflow, or the database's tables, while runs go on: no run notices.

Faults 44 and 46 of the fault matrix. What they could bring back: a run that goes on by another graph than the one that
it was started on, a transition that fails because a column came or went.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.db.models import ProtectedError

from builder.workflows.models import Version, Workflow
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

WAITS = "SET lock_timeout = '200ms'"  # as a migration of a running installation must: whoever waits holds up all others


@pytest.fixture(scope="module")
def fleet(shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path_factory.mktemp("fleet")) as fleet:
        for _ in range(2):
            fleet.worker(threads=3)
        fleet.sweeper()
        fleet.ready()
        yield fleet


def test_a_workflow_that_is_changed_and_archived_meanwhile_changes_no_run_and_its_version_stays(
    fleet: Fleet, tmp_path: Path
) -> None:
    version = fleet.world.draw("S > A:test_gate > B > O", configs={"A": {"folder": str(tmp_path)}, "B": {"value": 1}})
    run = fleet.start(version)
    fleet.wait((tmp_path / "A.1").exists, what="a body that runs")
    other = fleet.world.draw("S > B > O", configs={"B": {"value": "another"}})
    Version.objects.create(workflow=version.workflow, number=2, graph=other.graph)
    Workflow.objects.filter(id=version.workflow_id).update(name="renamed", archived_at="2026-01-01T00:00:00Z")
    with pytest.raises(ProtectedError):
        version.delete()
    with pytest.raises(ProtectedError):
        version.workflow.delete()
    (tmp_path / "go").touch()
    fleet.wait_for(run, "succeeded")
    assert fleet.world.run(run).version_id == version.id
    assert fleet.world.output(run, "B") == 1
    fleet.check()


def test_columns_that_come_and_go_under_load_fail_no_transition(fleet: Fleet) -> None:
    """A migration of two steps: first a column more, later one less. It waits for its lock briefly, again and again."""
    configs = {"E": {"items": list(range(40)), "window": 6}, "T": {"value": 0.5}}
    version = fleet.world.draw("S > T:test_sleep > E[Y:test_echo > Z] > O", configs=configs)
    runs = [fleet.start(version) for _ in range(4)]
    tables = ("runs_run", "runs_steprun", "runs_event", "runs_attempt")
    with psycopg.connect(**where(), autocommit=True) as migrating:
        migrating.execute(WAITS)
        for change in ("ADD COLUMN later integer", "DROP COLUMN later"):
            for table in tables:
                alter(migrating, f"ALTER TABLE {table} {change}")
            runs += [fleet.start(version)]
    for run in runs:
        fleet.wait_for(run, "succeeded")
        assert {step.attempt for step in fleet.world.steps(run).values()} <= {0, 1}
    assert all(process.is_up for process in fleet.processes)
    fleet.check()


def where() -> dict[str, object]:
    settings = connection.settings_dict
    return {"host": settings["HOST"], "port": settings["PORT"], "dbname": settings["NAME"], "user": settings["USER"],
            "password": settings["PASSWORD"]}  # fmt: skip


def alter(migrating: "psycopg.Connection[tuple[object, ...]]", statement: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            migrating.execute(statement.encode())
            return
        except psycopg.errors.LockNotAvailable:
            assert time.monotonic() < deadline, f"never had its lock: {statement}"
            time.sleep(0.1)
