"""Two worker hosts: processes that see nothing of each other, each with its own way to PostgreSQL. One is cut off.

What it could bring back: steps that stay with a host that nobody hears, results of that host which overwrite those of
whoever took over, and a host that never notices that its connections lead nowhere.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runs.models import Attempt, Event
from tests import networks
from tests.fleet import Fleet, Process
from tests.proxy import Proxy

pytestmark = [pytest.mark.crash, pytest.mark.timeout(240)]

SILENCE_S, NOTICED_S, SLACK_S = 12, 15, 6  # promise P7, on a machine that does other things as well
UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")


def are_permitted() -> bool:
    if shutil.which(UNSHARE[0]) is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


WAYS = ["its connections end", *(["its cable is pulled"] if networks.are_permitted() else [])]


@dataclass
class Host:
    """A PID namespace of its own, and a network of its own where there is a cable; PostgreSQL is behind the proxy."""

    proxy: Proxy
    cable: networks.Cable | None

    def worker(self, fleet: Fleet) -> Process:
        before = fleet.workers().count()
        account, _, rest = fleet.environment["DATABASE_URL"].rpartition("@")
        url = f"{account}@{self.proxy.host}:{self.proxy.port}/{rest.rpartition('/')[2]}"
        within = (*(self.cable.within if self.cable else ()), *UNSHARE)
        started = fleet.worker(within=within, DATABASE_URL=url)
        fleet.wait(lambda: fleet.workers().count() > before, what="a worker of another host")
        return started

    def cut_off(self) -> None:
        self.cable.pull() if self.cable else self.proxy.cut()

    def join_again(self) -> None:
        self.cable.plug() if self.cable else self.proxy.mend()


@pytest.fixture(params=WAYS)
def hosts(request: pytest.FixtureRequest, servers: Any) -> Iterator[Sequence[Host]]:
    with ExitStack() as stack:

        def host() -> Host:
            if request.param == WAYS[0]:
                return Host(stack.enter_context(Proxy(servers.postgres.port)), None)
            cable = stack.enter_context(networks.Cable())
            return Host(stack.enter_context(Proxy(servers.postgres.port, host=cable.here)), cable)

        yield [host(), host()]


@pytest.fixture
def fleet(hosts: Sequence[Host], shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(shared_environment, folder) as fleet:
        yield fleet


@pytest.mark.skipif(not are_permitted(), reason="this machine gives us no PID namespaces")
def test_a_host_that_is_cut_off_loses_its_steps_after_its_silence_and_its_late_results_are_refused(
    fleet: Fleet, hosts: Sequence[Host], tmp_path: Path
) -> None:
    gates = tmp_path / "gates"
    gates.mkdir()
    version = fleet.world.draw("S > A > G:test_gate > B > O", configs={"G": {"folder": str(gates)}})
    lost = hosts[0].worker(fleet)
    run_id = fleet.start(version)
    fleet.wait((gates / "G.1").exists, what="the body on the first host")
    other = hosts[1].worker(fleet)
    fleet.sweeper()
    time.sleep(SILENCE_S + 1)  # the sweeper has been there all the while: it may judge
    assert fleet.world.statuses(run_id)["G"] == "running", "a healthy host keeps its step"
    namespaces = set(fleet.workers().filter(dead_at=None).values_list("pid_namespace", flat=True))
    assert len(namespaces) == 2
    hosts[0].cut_off()
    cut_at = time.monotonic()
    fleet.wait(lambda: Event.objects.filter(run_id=run_id, path="G", attempt=2).exists(), what="the second attempt")
    assert SILENCE_S - 2 < time.monotonic() - cut_at < NOTICED_S + SLACK_S
    fleet.wait_for(run_id, "succeeded")
    (gates / "go").touch()  # the cut-off body ends, and knows of nothing
    time.sleep(2)
    hosts[0].join_again()
    fleet.wait(lambda: lost.says("came too late and was refused"), what="the refusal of the late result")
    fleet.wait(lambda: lost.says("was declared dead and starts again"), what="the lost worker under a new id")
    assert fleet.world.output(run_id, "G")["attempt"] == 2
    outcomes = Attempt.objects.filter(run_id=run_id, worker__isnull=False).order_by("started_at", "number")
    assert [each.outcome for each in outcomes] == ["succeeded", "lost", "succeeded", "succeeded", "succeeded"]
    other.kill()  # what was lost must do the work now
    fleet.wait_for(fleet.start(version), "succeeded")
    fleet.check()
