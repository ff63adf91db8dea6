"""RabbitMQ in Redis' place for the wake-ups, and gone in the middle. Needs Debian's rabbitmq-server, and pika.

What it could bring back: a worker's thread that waits for a broker, work that nobody is woken for.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.services import ports
from tests.fleet import Fleet

SERVER = shutil.which("rabbitmq-server", path="/usr/lib/rabbitmq/bin")
pytest.importorskip("pika", reason="pika is not installed")
pytestmark = [
    pytest.mark.crash,
    pytest.mark.timeout(240),
    pytest.mark.skipif(SERVER is None, reason="RabbitMQ is not installed: apt-get install rabbitmq-server"),
]
UP_S = 90.0


@dataclass
class Rabbit:
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {
            **os.environ,
            "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"pawl{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(ports.free_port(taken=[self.port])),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
        }
        assert SERVER is not None
        with (self.folder / "out").open("wb") as output:
            self.process = subprocess.Popen(
                [SERVER], env=environment, stdout=output, stderr=output, start_new_session=True
            )

    def stop(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, 9)
            self.process.wait()
            self.process = None


@pytest.fixture
def rabbit() -> Iterator[Rabbit]:
    folder = Path(tempfile.mkdtemp(prefix="pawl-rabbit-"))
    rabbit = Rabbit(folder, ports.free_port())
    rabbit.start()
    yield rabbit
    rabbit.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], rabbit: Rabbit, tmp_path: Path) -> Iterator[Fleet]:
    url = f"amqp://guest:guest@127.0.0.1:{rabbit.port}/%2F"
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet({**shared_environment, "BROKER_URL": url}, folder) as fleet:
        fleet.wait(lambda: ports.accepts(rabbit.port), what="RabbitMQ", patience_s=UP_S)
        yield fleet


def finish(fleet: Fleet, runs: list[Any]) -> None:
    for run_id in runs:
        fleet.wait_for(run_id, "succeeded")


def test_workers_are_woken_through_rabbitmq_and_go_on_without_it_and_with_it_again(
    fleet: Fleet, rabbit: Rabbit
) -> None:
    version = fleet.world.draw("S > A:test_echo + B > J > D > O", configs={"D": {"seconds": 0.2}})
    worker = fleet.worker(threads=2)
    sweeper = fleet.sweeper()
    fleet.ready()
    finish(fleet, [fleet.start(version, announced=False) for _ in range(4)])
    assert not worker.says("looks for work by itself")
    assert not sweeper.says("was not sent"), "the sweeper's wake-ups came through"
    rabbit.stop()
    finish(fleet, [fleet.start(version, announced=False) for _ in range(3)])
    assert worker.says("looks for work by itself")
    rabbit.start()
    fleet.wait(lambda: ports.accepts(rabbit.port), what="RabbitMQ again", patience_s=UP_S)
    finish(fleet, [fleet.start(version, announced=False) for _ in range(3)])
    assert worker.is_up
    fleet.check()
