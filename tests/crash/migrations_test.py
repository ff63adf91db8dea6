"""A migration while runs go on (fault 46): widen first, let both versions work, narrow last. No transition fails.

What it could bring back: a prepared statement that does not survive a new column, a lock that all finishes wait behind.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from runs.models import Attempt
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

LOCK_MS = 50  # a change that would wait longer lets the others go first, and tries again
RUNS = 40
WIDEN = [
    "ALTER TABLE runs_steprun ADD COLUMN of_tomorrow text",
    "ALTER TABLE runs_run ADD COLUMN of_tomorrow integer NOT NULL DEFAULT 7",
    "ALTER TABLE runs_event ADD COLUMN of_tomorrow text",
]
FILL = """UPDATE runs_steprun SET of_tomorrow = path WHERE id IN (
    SELECT id FROM runs_steprun WHERE of_tomorrow IS NULL AND status <> 'succeeded' LIMIT 50 FOR UPDATE SKIP LOCKED)"""
INDEX = "CREATE INDEX CONCURRENTLY of_tomorrow ON runs_steprun (of_tomorrow) WHERE status = 'ready'"
NARROW = [
    "DROP INDEX CONCURRENTLY of_tomorrow",
    "ALTER TABLE runs_steprun DROP COLUMN of_tomorrow",
    "ALTER TABLE runs_run DROP COLUMN of_tomorrow",
    "ALTER TABLE runs_event DROP COLUMN of_tomorrow",
]


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(shared_environment, folder) as fleet:
        yield fleet


@pytest.fixture
def owner(db: None) -> "Iterator[psycopg.Connection[tuple[object, ...]]]":
    database = settings.DATABASES["default"]
    with psycopg.connect(
        host=database["HOST"], port=database["PORT"], dbname=database["NAME"], user=database["USER"],
        password=database["PASSWORD"], autocommit=True,
    ) as connection:  # fmt: skip
        yield connection


def patiently(owner: "psycopg.Connection[tuple[object, ...]]", statement: str) -> None:
    """In a moment in which nobody else wants the table, as a migration under load does it."""
    concurrent = "CONCURRENTLY" in statement
    owner.execute(f"SET lock_timeout = {0 if concurrent else LOCK_MS}")
    while True:
        try:
            owner.execute(statement)
        except psycopg.errors.LockNotAvailable:
            continue
        return


def test_columns_come_and_go_while_runs_go_on_and_no_transition_fails(
    fleet: Fleet, owner: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    fleet.worker(threads=3)
    fleet.worker(threads=3)
    fleet.sweeper()
    fleet.ready()
    version = fleet.world.draw(
        "S > A > E[Y:test_echo > Z] > D > B > O",
        configs={"E": {"items": "{{ range(6) | list }}"}, "D": {"seconds": 0.2}},
    )
    runs = []
    for statement in [*WIDEN, FILL, FILL, INDEX, *NARROW]:
        runs += [fleet.start(version) for _ in range(RUNS // 10)]
        ended = Attempt.objects.filter(run_id=runs[-1]).exclude(worker=None)
        fleet.wait(ended.exists, what="a step of it")
        patiently(owner, statement)
    for run_id in runs:
        fleet.wait_for(run_id, "succeeded")
    outcomes = Attempt.objects.filter(run_id__in=runs).exclude(worker=None).values_list("outcome", "number")
    assert set(outcomes) == {("succeeded", 1)}
    assert not [process.log for process in fleet.processes if process.says("Traceback")]
    fleet.check()
