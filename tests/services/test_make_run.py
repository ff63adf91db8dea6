"""`make run` as its user sees it: real processes from the first line to the last."""

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from config.services import processes
from config.services.house import MARK, REPOSITORY

BARE = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.xdist_group("make_run")]
SLACK_S = 5.0  # of a machine that has more to do: it promises five seconds, and what hangs would take minutes


class Started:
    """One `make run`, and what it has said so far."""

    def __init__(self, state: Path, *, python: Sequence[str] = (sys.executable,), **env: str) -> None:
        self.state = state
        self.process = subprocess.Popen(
            [*python, "-m", "config.services", "--state", str(state), "run"],
            cwd=REPOSITORY,
            env={**BARE, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def said(self) -> str:
        return "".join(self._lines)

    @property
    def address(self) -> str:
        found = re.search(r"http://127\.0\.0\.1:\d+/", self.said)
        assert found, self.said
        return found[0]

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + 120
        while "password  " not in self.said:
            assert self.process.poll() is None, f"it ended by itself:\n{self.said}"
            assert time.monotonic() < deadline, f"it was not ready in time:\n{self.said}"
            time.sleep(0.05)

    def left(self) -> list[int]:
        data = self.state / "postgres" / "data"
        found = processes.processes_marked(MARK, str(self.state)) + processes.processes_in(data)
        return [pid for pid in found if processes.is_alive(pid)]

    def kill_everything(self) -> None:
        for pid in [self.process.pid, *self.left()]:
            with contextlib.suppress(ProcessLookupError):  # a parent's death has ended it meanwhile
                os.kill(pid, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self._reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.append(line)


@pytest.fixture
def start() -> Iterator[Callable[..., Started]]:
    made: list[Started] = []

    def start(state: Path, **more: Any) -> Started:
        made.append(Started(state, **more))
        return made[-1]

    yield start
    for one in made:
        if one.process.stdout is not None and not one.process.stdout.closed:
            one.close()


def _page(address: str) -> str:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_shows_the_way_in_and_leaves_no_process_behind(
    state: Path, start: Callable[..., Started], number: signal.Signals
) -> None:
    started = start(state)
    started.wait_until_ready()
    assert "e-mail    demo@" in started.said
    assert "csrf" in _page(started.address).lower()
    assert len(started.left()) > 5
    begun = time.monotonic()
    started.process.send_signal(number)
    started.process.send_signal(number)  # an impatient user's second Ctrl-C
    assert started.process.wait(20) == 0
    assert time.monotonic() - begun < 5 + SLACK_S
    assert started.left() == []


@pytest.mark.crash
@pytest.mark.usefixtures("ports_of_nobody_else")
def test_after_a_power_cut_it_comes_back_with_the_same_sign_in_and_address(
    state: Path, start: Callable[..., Started]
) -> None:
    first = start(state)
    first.wait_until_ready()
    way_in = first.said[first.said.index("    Pawl ") :].splitlines()[:3]
    first.kill_everything()
    second = start(state)
    second.wait_until_ready()
    assert second.said[second.said.index("    Pawl ") :].splitlines()[:3] == way_in
    assert _page(second.address)


def test_two_checkouts_run_at_once(state: Path, start: Callable[..., Started]) -> None:
    one, two = start(state / "one"), start(state / "two")
    one.wait_until_ready()
    two.wait_until_ready()
    assert one.address != two.address
    assert "is taken by another program" in one.said + two.said
    assert _page(one.address)
    assert _page(two.address)


def test_a_second_start_in_the_same_checkout_is_refused_with_a_reason(
    state: Path, start: Callable[..., Started]
) -> None:
    first = start(state)
    first.wait_until_ready()
    second = start(state)
    assert second.process.wait(30) == 1
    second.close()
    assert "runs already" in second.said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user")
def test_an_ordinary_user_can_run_it(state: Path, start: Callable[..., Started]) -> None:
    python = _python_for_everybody()
    state.mkdir()
    os.chown(state, 65534, 65534)
    site_packages = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    started = start(
        state,
        python=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", python),
        PYTHONPATH=f"{REPOSITORY}:{site_packages}",
        HOME=str(state),
    )
    started.wait_until_ready()
    assert _page(started.address)
    assert (state / "postgres" / "data").stat().st_uid == 65534
    started.close()
    assert started.left() == []


def _python_for_everybody() -> str:
    """This interpreter may live in root's own home."""
    for candidate in (Path(sys.executable).resolve(), Path(shutil.which("python3.11", path="/usr/bin") or "/nowhere")):
        reachable = all(folder.stat().st_mode & stat.S_IXOTH for folder in candidate.parents if folder.exists())
        if candidate.exists() and reachable:
            return str(candidate)
    pytest.skip("no Python that an ordinary user can reach")
