"""Real worker and sweeper processes of a test, on the test's own database: to be killed, frozen and started again.

with Fleet(process_environment, tmp_path) as fleet:
    worker = fleet.worker(failpoints="before_finish?marker=/tmp/m:exit9")
    fleet.sweeper()
    started = fleet.world.start(version); fleet.announce(started)
    fleet.wait_for(started.run_id, "succeeded")
    fleet.check()          # the invariants, and that no step ran after its success was committed
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from builder.workflows.models import Version
from config.services import ports
from config.services.processes import die_with_parent
from runs.engine.start import Started
from runs.models import Event, Run, Worker
from runs.runner.processes import descendants_of
from tests.engine import World
from tests.extra_kinds import FLEETS

REPOSITORY = Path(__file__).resolve().parent.parent
PATIENCE_S = 60.0


class TookTooLong(AssertionError):
    """What was waited for did not come; the message says how things stood."""


@dataclass
class Process:
    popen: subprocess.Popen[bytes]
    log: Path
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    frozen: list[int] = field(default_factory=list)

    @property
    def is_up(self) -> bool:
        return self.popen.poll() is None

    def says(self, text: str) -> bool:
        return text in self.log.read_text(errors="replace")

    def pids(self) -> list[int]:
        """The Dramatiq worker process (a child of the master), or the process itself."""
        children = Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text().split()
        return [int(pid) for pid in children] or [self.popen.pid]

    def send(self, how: signal.Signals) -> None:
        os.killpg(self.popen.pid, how)

    def freeze(self) -> None:
        """Stops master, worker, launcher and children: a machine that hangs."""
        self.frozen = [self.popen.pid, *descendants_of(self.popen.pid)]
        for pid in self.frozen:
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self.frozen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.frozen = []

    def kill(self) -> None:
        """The power cut of this process: master, worker and launcher at once."""
        if self.popen.poll() is None:
            self.thaw()
            self.send(signal.SIGKILL)
        self.popen.wait()


@dataclass
class Fleet:
    environment: Mapping[str, str]
    folder: Path
    world: World = field(default_factory=World)
    processes: list[Process] = field(default_factory=list)
    is_supervised: bool = False  # what ends is started again, as an installation's supervisor does

    def __post_init__(self) -> None:
        self.launch_log = self.folder / "launches"
        self._before = frozenset(Worker.objects.values_list("id", flat=True))
        self._numbers = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
        connection.close()
        self.world.__exit__()

    # ------------------------------------------------------------------ processes
    def worker(self, *, threads: int = 2, failpoints: str = "", within: Sequence[str] = (), **more: str) -> Process:
        """One Dramatiq master with one worker process, started by `within` (a command that runs another one)."""
        more = {"dramatiq_queue_prefetch": str(threads), "PAWL_FAILPOINTS": failpoints, "PAWL_DRAIN_MS": "2000", **more}
        options = ("--processes", "1", "--threads", str(threads), "--worker-shutdown-timeout", "2000")
        modules = ("django_dramatiq.setup", "runs.actors")
        return self._launch("worker", "-m", "dramatiq", *options, *modules, within=within, **more)

    def sweeper(self, *, failpoints: str = "", **more: str) -> Process:
        return self._launch("sweeper", "manage.py", "sweeper", PAWL_FAILPOINTS=failpoints, **more)

    def web(self, port: int, **more: str) -> Process:
        address = ("-b", ports.LOOPBACK, "-p", str(port))
        web = self._launch("web", "-m", "daphne", *address, "-v", "0", "config.asgi:application", **more)
        self.wait(lambda: ports.accepts(port), what="the web process")
        return web

    def _launch(self, name: str, *command: str, within: Sequence[str] = (), **more: str) -> Process:
        log = self.folder / f"{name}-{next(self._numbers)}.log"
        environment = {
            **self.environment,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PAWL_LAUNCH_LOG": str(self.launch_log),
            "PAWL_EXTRA_STEPS": FLEETS,
            **more,
        }
        with log.open("wb") as output:
            popen = subprocess.Popen(
                [*within, sys.executable, *command],
                env=environment,
                cwd=REPOSITORY,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(signal.SIGKILL),  # noqa: PLW1509 - the test's main thread, no other one forks
            )
        process = Process(popen, log, command, more)
        self.processes.append(process)
        return process

    def supervise(self) -> None:
        """Starts again what has ended, where that is wanted. From the main thread alone: see die_with_parent."""
        for process in [each for each in self.processes if self.is_supervised and not each.is_up]:
            self.processes.remove(process)
            self._launch("again", *process.command, **process.environment)

    def workers(self) -> QuerySet[Worker]:
        """The rows of this fleet's workers alone: those of the tests before it may still be in the table."""
        return Worker.objects.exclude(id__in=self._before)

    def ready(self) -> None:
        """Waits until every worker of the fleet has registered: a test that measures time starts then."""
        started = [each for each in self.processes if "dramatiq" in each.command]
        self.wait(lambda: self.workers().filter(dead_at=None).count() >= len(started), what="all workers")

    def start(self, version: Version, run_input: Any = None, *, announced: bool = True) -> UUID:
        started = self.world.start(version, run_input)
        if announced:
            self.announce(started)
        return started.run_id

    def announce(self, started: Started) -> None:
        """What follows the commit of a start: the wake-up."""
        if started.told is not None:
            started.told.announce()

    # ------------------------------------------------------------------ looking
    def wait(self, condition: Any, *, what: str, patience_s: float = PATIENCE_S) -> Any:
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            self.supervise()
            if found := condition():
                return found
            time.sleep(0.02)
        logs = "\n".join(f"--- {p.log.name}\n{p.log.read_text()[-2000:]}" for p in self.processes)
        raise TookTooLong(f"{what} did not come within {patience_s} s\n{logs}")

    def wait_for(self, run_id: UUID, status: str, *, patience_s: float = PATIENCE_S) -> Run:
        try:
            return self.wait(
                lambda: Run.objects.filter(id=run_id, status=status).first(),
                what=f"run {status}",
                patience_s=patience_s,
            )
        except TookTooLong as error:
            run = self.world.run(run_id)
            raise TookTooLong(f"{error}\nrun {run.status}: {self.world.statuses(run_id)}") from None

    def wait_for_step(self, run_id: UUID, path: str, status: str, *, patience_s: float = PATIENCE_S) -> None:
        self.wait(
            lambda: self.world.statuses(run_id).get(path) == status,
            what=f"step {path} {status}",
            patience_s=patience_s,
        )

    def launches(self) -> Counter[tuple[str, str]]:
        """How often the launcher began a body, by (run id, path): counted outside of Pawl's tables."""
        if not self.launch_log.exists():
            return Counter()
        lines = [line.split(" ") for line in self.launch_log.read_text().splitlines()]
        return Counter((line[0], line[1]) for line in lines)

    def check(self) -> None:
        """The invariants; and that what succeeded was begun as often as the tables say, and never after its success."""
        assert self.world.broken() == []
        told: Counter[tuple[str, str]] = Counter()
        for run_id, path in Event.objects.filter(type="step.running").values_list("run_id", "path"):
            told[(str(run_id), path or "")] += 1
        for key, begun in self.launches().items():
            assert begun <= told[key], f"{key} was begun {begun} times, the events tell of {told[key]}"
