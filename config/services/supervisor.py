"""Keeps programs running: starts them again when they end, a little later each time, and stops them together."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from config.services import processes

_FIRST_DELAY_S = 0.1  # a killed worker must be back long before anybody waits for it
_MAX_DELAY_S = 10.0
_HEALTHY_AFTER_S = 20.0
_STOP_GRACE_S = 2.5  # of the five seconds that a Ctrl-C may take
_LOG_LIMIT_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class Program:
    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path | None = None


@dataclass
class _Kept:
    program: Program
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    delay_s: float = _FIRST_DELAY_S
    start_at: float = 0.0
    ends: int = 0


class Supervisor:
    """Used from the main thread alone: the kernel kills a child when the thread that started it ends."""

    def __init__(self, programs: Sequence[Program], *, logs: Path, say: Callable[[str], None]) -> None:
        self._kept = [_Kept(program) for program in programs]
        self._logs = logs
        self._say = say
        logs.mkdir(parents=True, exist_ok=True)

    def look(self) -> None:
        """Once around: start what should run and does not. Called several times a second."""
        for kept in self._kept:
            if kept.process is not None and kept.process.poll() is not None:
                self._bury(kept)
            if kept.process is None and time.monotonic() >= kept.start_at:
                self._start(kept)

    def pid(self, name: str) -> int | None:
        process = next(kept.process for kept in self._kept if kept.program.name == name)
        return process.pid if process is not None else None

    def ends(self, name: str) -> int:
        """How often it has ended by itself."""
        return next(kept.ends for kept in self._kept if kept.program.name == name)

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def stop(self) -> None:
        running = [kept.process for kept in self._kept if kept.process is not None]
        for process in running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_GRACE_S
        while any(process.poll() is None for process in running) and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in running:
            processes.stop(process, number=signal.SIGKILL, grace_s=1.0)
        for kept in self._kept:
            kept.process = None

    def _start(self, kept: _Kept) -> None:
        log = self.log(kept.program.name)
        if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
            log.replace(log.with_suffix(".log.old"))
        with log.open("ab") as output:
            kept.process = processes.launch(
                kept.program.command, env=kept.program.env, output=output, cwd=kept.program.cwd
            )
        kept.started_at = time.monotonic()

    def _bury(self, kept: _Kept) -> None:
        assert kept.process is not None
        processes.signal_group(kept.process, signal.SIGKILL)  # its orphans, for instance a dead master's workers
        if time.monotonic() - kept.started_at > _HEALTHY_AFTER_S:
            kept.delay_s = _FIRST_DELAY_S
        self._say(
            f"{kept.program.name} ended ({_how(kept.process.returncode)}); starting it again in {kept.delay_s:g} s. "
            f"{self.log(kept.program.name)} ends with: {last_words(self.log(kept.program.name), lines=1)}"
        )
        kept.start_at = time.monotonic() + kept.delay_s
        kept.delay_s = min(kept.delay_s * 2, _MAX_DELAY_S)
        kept.ends += 1
        kept.process = None


def last_words(log: Path, *, lines: int) -> str:
    """The end of a log, without reading the whole of it."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 16_384))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
