"""PgBouncer in transaction mode between PostgreSQL and everything of Pawl. Needs the Debian package pgbouncer.

What it could bring back: a session lock, a prepared statement or a setting that is on another server's session by the
next transaction.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings

from builder.graph.model import Policy, Retry
from config.services import ports
from runs.models import Attempt
from tests.fleet import Fleet

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed: apt-get install pgbouncer"),
]

CONNECT_QUERY = (
    "SET lock_timeout = 5000; SET statement_timeout = 20000; SET idle_in_transaction_session_timeout = 20000"
)
SERVERS = 3  # fewer than connections: each session is many
INI = """[databases]
{name} = host={host} port={server} dbname={name} user={user} password='{password}' connect_query='{query}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {servers}
max_client_conn = 200
logfile = {folder}/pgbouncer.log
"""


@pytest.fixture
def bouncer(db: None, tmp_path: Path) -> Iterator[int]:
    """The port of a PgBouncer in front of the tests' database."""
    database: dict[str, Any] = settings.DATABASES["default"]
    port = ports.free_port()
    folder = Path("/tmp") / f"pawl-bouncer-{port}"  # an ordinary account must get there
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    ini = folder / "pgbouncer.ini"
    ini.write_text(
        INI.format(
            name=database["NAME"], host=database["HOST"], server=database["PORT"], user=database["USER"],
            password=database["PASSWORD"], query=CONNECT_QUERY, port=port, servers=SERVERS, folder=folder,
        )
    )  # fmt: skip
    ini.chmod(0o644)
    account = ["-u", pwd.getpwnam("nobody").pw_name] if os.geteuid() == 0 else []
    assert PGBOUNCER is not None
    process = subprocess.Popen([PGBOUNCER, "-q", *account, str(ini)])
    try:
        yield port
    finally:
        process.terminate()
        process.wait(timeout=10)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], bouncer: int, tmp_path: Path) -> Iterator[Fleet]:
    address, _, name = shared_environment["DATABASE_URL"].rpartition("@")
    url = f"{address}@127.0.0.1:{bouncer}/{name.rpartition('/')[2]}"
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet({**shared_environment, "DATABASE_URL": url, "PAWL_PGBOUNCER": "true"}, folder) as fleet:
        fleet.wait(lambda: ports.accepts(bouncer), what="PgBouncer")
        yield fleet


def test_web_workers_and_sweeper_work_through_pgbouncer(fleet: Fleet, bouncer: int) -> None:
    web = ports.free_port()
    fleet.web(web)
    fleet.worker(threads=4)
    fleet.worker(threads=4)
    fleet.sweeper()
    fleet.ready()
    version = fleet.world.draw(
        "S > A > D > E[Y:test_echo > Z] > F > L > O",
        kinds={"F": "test_work_in_steps"},
        configs={
            "D": {"seconds": 0.5}, "E": {"items": "{{ range(40) | list }}"},
            "F": {"value": str(fleet.folder / "kept")},
        },
        policies={
            "F": Policy(retry=Retry(attempts=3, first_delay_s=0.1)), "L": Policy(limit_key="one", limit_at_most=1),
        },
    )  # fmt: skip
    runs = [fleet.start(version) for _ in range(6)]
    for run_id in runs:
        fleet.wait_for(run_id, "succeeded")
    health = httpx.get(f"http://127.0.0.1:{web}/api/health", timeout=10)
    assert health.status_code == 200
    assert all(part["ok"] for part in health.json().values() if isinstance(part, dict))
    assert {attempt.outcome for attempt in Attempt.objects.filter(run_id__in=runs).exclude(worker=None)} == {
        "succeeded", "failed",
    }  # fmt: skip
    for process in fleet.processes:
        for trouble in ("prepared statement", "unsupported startup parameter"):
            assert not process.says(trouble), process.log.read_text()[-2000:]
    fleet.check()


def test_a_session_behind_pgbouncer_has_the_timeouts_of_its_connect_query(bouncer: int) -> None:
    database: dict[str, Any] = settings.DATABASES["default"]
    while not ports.accepts(bouncer):
        pass
    with psycopg.connect(
        host="127.0.0.1", port=bouncer, dbname=database["NAME"], user=database["USER"], prepare_threshold=None
    ) as connection:
        assert connection.execute("SHOW lock_timeout").fetchone() == ("5s",)
