"""All of Pawl's processes for the demo, kept running as `make run` keeps them: nobody restarts anything by hand."""

import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self, TypeVar

from config.services.ports import LOOPBACK, free_port
from config.services.run import programs
from config.services.supervisor import Supervisor
from sample.crash.clients import DemoProblem

Found = TypeVar("Found")
LOOK_S = 0.02
ENDS_LIMIT = 5


class Stack:
    """`with Stack(...) as stack`: web, workers, sweeper and the sample's servers run, on a free port."""

    def __init__(self, *, logs: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.port = free_port()
        self.logs = logs
        kept = programs(dict(environment), web=self.port)
        self._names = [program.name for program in kept]
        self._supervisor = Supervisor(kept, logs=logs, say=say)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def __enter__(self) -> Self:
        self._supervisor.look()
        return self

    def __exit__(self, *error: object) -> None:
        self._supervisor.stop()

    def until(self, what: str, ask: Callable[[], Found | None], *, limit_s: float, every_s: float = LOOK_S) -> Found:
        """Asks until there is an answer, and keeps the processes running meanwhile. Raises DemoProblem in the end."""
        deadline = time.monotonic() + limit_s
        ask_at = 0.0
        while time.monotonic() < deadline:
            self._look()
            if time.monotonic() >= ask_at:
                found = ask()
                if found:
                    return found
                ask_at = time.monotonic() + every_s
            time.sleep(min(every_s, LOOK_S))
        raise DemoProblem(f"Waited {limit_s:g} s for {what}, in vain. The logs are in {self.logs}.")

    def _look(self) -> None:
        """A program that ends again and again will not come up by waiting."""
        self._supervisor.look()
        for name in self._names:
            if self._supervisor.ends(name) >= ENDS_LIMIT:
                log = self._supervisor.log(name)
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-12:])
                raise DemoProblem(f"'{name}' ended {ENDS_LIMIT} times. The end of its log {log}:\n{tail}")


def worker_of(child: int) -> int:
    """The worker process that a body's child belongs to: worker -> launcher -> child."""
    launcher = _parent(child)
    worker = _parent(launcher)
    if worker <= 1 or worker == os.getpid():
        raise DemoProblem(f"Process {child} has no worker above it.")
    return worker


def kill_hard(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError as error:
        raise DemoProblem(f"Process {pid} ended before the demo could look at it.") from error
    return int(stat.rpartition(")")[2].split()[1])
