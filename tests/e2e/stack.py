"""Pawl as `make run` starts it: every process real, on free ports, in a folder of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from config.services.house import REPOSITORY

READY_S = 150.0
# What a house must not inherit from the tests: their own servers and secrets.
BARE = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}


def build_front_end() -> None:
    """Only where nobody has built it: `make test` does so first."""
    if not (REPOSITORY / "frontend" / "dist" / "manifest.json").exists():
        subprocess.run([sys.executable, "-I", "config/services/bootstrap.py", "frontend"], cwd=REPOSITORY, check=True)


class Stack:
    def __init__(self, state: Path, *, allow: str) -> None:
        """`allow`: addresses (host:port) that steps may reach although they are private."""
        self.state = state
        self.process = subprocess.Popen(
            [sys.executable, "-m", "config.services", "--state", str(state), "run"],
            cwd=REPOSITORY,
            env={**BARE, "PAWL_OUTBOUND_ALLOW": allow},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._wait_until_ready()
        self.url = self._told(r"(http://127\.0\.0\.1:\d+)/")
        self.email = self._told(r"e-mail\s+(\S+)")
        self.password = self._told(r"password\s+(\S+)")

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        finally:
            self._reader.join(5)
            assert self.process.stdout is not None
            self.process.stdout.close()

    def manage(self, *arguments: str) -> str:
        """A command of manage.py beside it, as whoever runs it would; what it printed."""
        command = [sys.executable, "-m", "config.services", "--state", str(self.state), "exec", "--"]
        done = subprocess.run(
            [*command, sys.executable, "manage.py", *arguments],
            cwd=REPOSITORY, env=BARE, capture_output=True, text=True, timeout=READY_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _told(self, pattern: str) -> str:
        found = re.search(pattern, "".join(self._lines))
        assert found, self._said()
        return found[1]

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while not any("password  " in line for line in list(self._lines)):
            assert self.process.poll() is None, f"it ended by itself:\n{self._said()}"
            assert time.monotonic() < deadline, f"it was not ready in time:\n{self._said()}"
            time.sleep(0.05)

    def _said(self) -> str:
        return "".join(self._lines)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.append(line)
