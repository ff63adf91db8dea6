"""Hosts that are really apart: a network namespace for each, joined to this machine by a cable that can be pulled.

with Cable() as cable:
    Proxy(port, host=cable.here)          what processes `within=cable.within` reach, and nothing else
    cable.pull(); cable.plug()            packets vanish in between: nobody is told, no connection ends

Needs the right to make network devices: `are_permitted()`.
"""

import itertools
import os
import shutil
import subprocess
from types import TracebackType
from typing import Self

_numbers = itertools.count()


def _ip(*words: str, check: bool = True) -> bool:
    return subprocess.run(["ip", *words], capture_output=True, check=check).returncode == 0


class Cable:
    def __init__(self) -> None:
        number = next(_numbers)
        self._name = f"pw{os.getpid() % 100_000}n{number}"  # a device's name has at most 15 characters
        net = f"10.{200 + number % 50}.{os.getpid() // 64 % 256}"
        start = os.getpid() % 64 * 4
        self.here, self._there = f"{net}.{start + 1}", f"{net}.{start + 2}"
        self.within = ("ip", "netns", "exec", self._name)

    def __enter__(self) -> Self:
        _ip("netns", "add", self._name)
        try:
            _ip("link", "add", self._name, "type", "veth", "peer", "name", "eth0", "netns", self._name)
            _ip("addr", "add", f"{self.here}/30", "dev", self._name)
            _ip("-n", self._name, "addr", "add", f"{self._there}/30", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", self._name, "link", "set", device, "up")
            self.plug()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._remove()

    def _remove(self) -> None:
        _ip("link", "del", self._name, check=False)
        _ip("netns", "del", self._name, check=False)

    def pull(self) -> None:
        _ip("link", "set", self._name, "down")

    def plug(self) -> None:
        _ip("link", "set", self._name, "up")


def are_permitted() -> bool:
    if shutil.which("ip") is None:
        return False
    try:
        with Cable():
            return True
    except subprocess.CalledProcessError:
        return False
