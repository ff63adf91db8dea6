"""Which processes descend from one. Read from /proc, where a session of one's own hides nothing."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """Direct children of all threads of `pid`; empty where it is gone."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def descendants_of(pid: int) -> list[int]:
    """Children, their children and so on, parents before children."""
    found: list[int] = []
    frontier = [pid]
    while frontier:
        frontier = [child for each in frontier for child in children_of(each)]
        found += frontier
    return found


def started_with(text: str) -> list[int]:
    """Processes in whose first environment the text stands. A daemon may change everything else about itself."""
    wanted = text.encode()
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdecimal() and wanted in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def send(pids: Iterable[int], how: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):  # gone meanwhile, or a set-uid program
            os.kill(pid, how)
