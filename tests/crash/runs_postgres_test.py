"""PostgreSQL restarts, throws everybody out, hangs and goes away: transactions are repeated, and no worker is buried.

Faults 25, 26, 27, 28 of the fault matrix. What they could bring back: a step that is claimed and never run because the
reply went down with the server, a result that is written twice, healthy workers declared dead for a silence that was
the database's own.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from builder.graph.model import Policy
from builder.workflows.models import Version
from config.services.postgres import Postgres
from tests.fleet import Fleet
from tests.proxy import Proxy

pytestmark = pytest.mark.crash

AWAY_S = 20
TERMINATE = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name IN ('pawl worker', 'pawl heartbeat', 'pawl sweeper')"""


@pytest.fixture(scope="module")
def durable(db: None, servers: Any) -> Iterator[None]:
    """Without fsync a server that is killed loses nothing as long as its machine lives, if it writes at each commit."""
    role = connection.settings_dict["USER"]
    with psycopg.connect(servers.postgres.url(), autocommit=True) as superuser:
        superuser.execute(f"ALTER ROLE {role} SET synchronous_commit = on")
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    yield
    with psycopg.connect(servers.postgres.url(), autocommit=True) as superuser:
        superuser.execute(f"ALTER ROLE {role} RESET synchronous_commit")


@pytest.fixture(scope="module")
def fleet(
    durable: None, shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path_factory.mktemp("fleet")) as fleet:
        for _ in range(2):
            fleet.worker()
        fleet.sweeper()
        fleet.ready()
        yield fleet


@pytest.fixture(scope="module")
def version(fleet: Fleet) -> Version:
    drawing = "S > A > B > E[Y:test_echo > Z] > J > T:test_sleep > O"
    configs = {
        "A": {"value": "{{ run.input }}"},
        "E": {"items": [1, 2, 3, 4, 5, 6], "window": 3},
        "Y": {"value": "{{ item * 10 }}"},
        "Z": {"value": "{{ steps.Y.output }}"},
        "J": {"value": "{{ steps.E.output }}"},
        "T": {"value": 0.2},
    }
    return fleet.world.draw(drawing, configs=configs)


@contextmanager
def without(postgres: Postgres, fleet: Fleet) -> Iterator[None]:
    """PostgreSQL ends at once, as by a power cut of its own, and is back on the same port at the end."""
    port = postgres.port
    fleet.world.link.close()
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    postgres.stop(immediately=True)
    try:
        yield
    finally:
        postgres.start(preferred=[port])
        assert postgres.port == port


def finish_all(fleet: Fleet, runs: list[UUID]) -> None:
    for run in runs:
        fleet.wait_for(run, "succeeded")
        assert fleet.world.output(run, "J") == [10, 20, 30, 40, 50, 60]
    assert not fleet.workers().filter(queues="default").exclude(dead_at=None).exists(), "a healthy worker was buried"
    assert all(process.is_up for process in fleet.processes)
    fleet.check()


def attempts(fleet: Fleet, run: UUID) -> dict[str, int]:
    return {path: step.attempt for path, step in fleet.world.steps(run).items() if step.attempt > 1}


def test_an_immediate_restart_under_load_costs_no_result_and_no_second_attempt(
    fleet: Fleet, servers: Any, version: Version
) -> None:
    runs = [fleet.start(version, number) for number in range(8)]
    for pause_s in (0.3, 0.7):
        time.sleep(pause_s)
        with without(servers.postgres, fleet):
            pass
        runs += [fleet.start(version, number) for number in range(2)]
    finish_all(fleet, runs)
    assert {run: attempts(fleet, run) for run in runs if attempts(fleet, run)} == {}


def test_a_server_that_throws_everybody_out_all_the_time_still_gets_its_runs_done(
    fleet: Fleet, servers: Any, version: Version
) -> None:
    runs = [fleet.start(version, number) for number in range(6)]
    thrown_out = 0
    with psycopg.connect(servers.postgres.url(), autocommit=True) as superuser:
        for _ in range(12):
            thrown_out += superuser.execute(TERMINATE).rowcount
            time.sleep(0.25)
    assert thrown_out >= 12
    finish_all(fleet, runs)


def test_twenty_seconds_without_postgresql_bury_no_worker_and_running_steps_finish_afterwards(
    fleet: Fleet, servers: Any, version: Version, tmp_path: Path
) -> None:
    gates = {name: {"folder": str(tmp_path)} for name in ("A", "B")}
    held = fleet.start(fleet.world.draw("S > A:test_gate + B:test_gate > J > O", configs=gates))
    fleet.wait(lambda: len(list(tmp_path.iterdir())) == 2, what="two bodies that run")
    with without(servers.postgres, fleet):
        time.sleep(AWAY_S / 2)
        (tmp_path / "go").touch()  # the bodies end while nobody can take their results
        time.sleep(AWAY_S / 2)
    fleet.wait_for(held, "succeeded")
    assert attempts(fleet, held) == {}
    finish_all(fleet, [fleet.start(version) for _ in range(2)])


def test_connections_that_hang_are_given_up_and_the_worker_goes_on(
    fleet: Fleet, shared_environment: Mapping[str, str], servers: Any
) -> None:
    """A half-open connection: nothing comes back, and no error either. The sweeper, whose own connection is well, may
    take the worker for dead; then it starts again under a new id."""
    lane = Policy(queue="stalled")
    configs, policies = {"A": {"value": 1}}, dict.fromkeys("SABO", lane)
    version = fleet.world.draw("S > A:test_sleep > B > O", configs=configs, policies=policies)
    with Proxy(servers.postgres.port) as proxy:
        through = shared_environment["DATABASE_URL"].replace(f":{servers.postgres.port}/", f":{proxy.port}/")
        stalled = fleet.worker(DATABASE_URL=through, PAWL_WORKER_QUEUES="stalled")
        fleet.wait_for(fleet.start(version), "succeeded")
        run = fleet.start(version)
        fleet.wait_for_step(run, "A", "running")
        proxy.stall()
        time.sleep(2)
        proxy.cut()
        proxy.mend()
        fleet.wait_for(run, "succeeded", patience_s=60)
        assert stalled.is_up
        stalled.kill()
    fleet.processes.remove(stalled)
    fleet.check()
