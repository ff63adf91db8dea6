"""Two worker hosts: processes that see nothing of each other, each with its own way to PostgreSQL. One is cut off.

What it could bring back: steps that stay with a host that nobody hears, and results of that host which overwrite those
of whoever took over.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from runs.models import Attempt
from tests.fleet import Fleet, Process
from tests.proxy import Proxy

pytestmark = pytest.mark.crash

SILENCE_S = 12
UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")


def are_permitted() -> bool:
    if shutil.which(UNSHARE[0]) is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(shared_environment, folder) as fleet:
        yield fleet


@pytest.fixture
def proxies(servers: object) -> Iterator[list[Proxy]]:
    with Proxy(servers.postgres.port) as one, Proxy(servers.postgres.port) as other:  # type: ignore[attr-defined]
        yield [one, other]


def host(fleet: Fleet, proxy: Proxy) -> Process:
    """A worker in a PID namespace of its own, that reaches PostgreSQL through the proxy alone."""
    before = fleet.workers().count()
    address, _, name = fleet.environment["DATABASE_URL"].rpartition("@")
    url = f"{address}@127.0.0.1:{proxy.port}/{name.rpartition('/')[2]}"
    started = fleet.worker(within=UNSHARE, DATABASE_URL=url)
    fleet.wait(lambda: fleet.workers().count() > before, what="a worker of another host")
    return started


@pytest.mark.skipif(not are_permitted(), reason="this machine gives us no PID namespaces")
def test_a_host_that_is_cut_off_loses_its_steps_after_its_silence_and_its_late_results_are_refused(
    fleet: Fleet, proxies: list[Proxy], tmp_path: Path
) -> None:
    gates = tmp_path / "gates"
    gates.mkdir()
    version = fleet.world.draw("S > A > G:test_gate > B > O", configs={"G": {"folder": str(gates)}})
    lost = host(fleet, proxies[0])
    run_id = fleet.start(version)
    fleet.wait((gates / "G.1").exists, what="the body on the first host")
    host(fleet, proxies[1])
    fleet.sweeper()
    time.sleep(SILENCE_S + 1)  # the sweeper has been there all the while: it may judge
    assert fleet.world.statuses(run_id)["G"] == "running", "a healthy host keeps its step"
    namespaces = set(fleet.workers().filter(dead_at=None).values_list("pid_namespace", flat=True))
    assert len(namespaces) == 2
    proxies[0].cut()
    cut_at = time.monotonic()
    fleet.wait_for(run_id, "succeeded", patience_s=SILENCE_S + 8)
    assert time.monotonic() - cut_at > SILENCE_S - 2
    assert fleet.world.output(run_id, "G")["attempt"] == 2
    (gates / "go").touch()  # the cut-off body ends, and knows of nothing
    proxies[0].mend()
    fleet.wait(lambda: lost.says("came too late and was refused"), what="the refusal of the late result")
    fleet.wait(lambda: lost.says("was declared dead and starts again"), what="the lost worker under a new id")
    assert fleet.world.output(run_id, "G")["attempt"] == 2
    outcomes = Attempt.objects.filter(run_id=run_id, worker__isnull=False).order_by("started_at", "number")
    assert [each.outcome for each in outcomes] == ["succeeded", "lost", "succeeded", "succeeded", "succeeded"]
    again = fleet.start(version)
    fleet.wait_for(again, "succeeded")
    fleet.check()
