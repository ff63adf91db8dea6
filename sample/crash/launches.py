"""Reads the lines that children write before they run a body: the count of attempts from outside Pawl's tables."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.003


@dataclass(frozen=True)
class Launch:
    """One line: `run path attempt fence pid`, and when we saw it."""

    run: str
    path: str
    attempt: int
    pid: int
    seen_at: float  # time.time(); at most POLL_S after the line was written


class LaunchLog:
    """Follows the file in a thread of its own, so that each line gets its time whatever the demo is busy with."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._launches: list[Launch] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        file.touch()
        threading.Thread(target=self._follow, name="launch-log", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def of(self, run: str) -> list[Launch]:
        with self._lock:
            return [launch for launch in self._launches if launch.run == run]

    def find(self, run: str, path: str, *, attempt: int) -> Launch | None:
        return next((found for found in self.of(run) if found.path == path and found.attempt == attempt), None)

    def _follow(self) -> None:
        with self._file.open() as stream:
            rest = ""
            while not self._stop.wait(POLL_S):
                *lines, rest = (rest + stream.read()).split("\n")
                if lines:
                    self._take(lines, time.time())

    def _take(self, lines: list[str], now: float) -> None:
        found = []
        for line in lines:
            run, path, attempt, _fence, pid = line.split(" ")
            found.append(Launch(run, path, int(attempt), int(pid), now))
        with self._lock:
            self._launches += found
