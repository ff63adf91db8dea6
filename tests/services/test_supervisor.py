import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.services import processes
from config.services.supervisor import Program, Supervisor

MARK = "PAWL_TEST_MARK"
SLEEPS = "import time; time.sleep(600)"
IGNORES_TERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
)
HAS_A_CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
Start = Callable[..., Supervisor]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    made: list[Supervisor] = []

    def start(**scripts: str) -> Supervisor:
        env = {**os.environ, MARK: str(tmp_path)}
        programs = [Program(name, (sys.executable, "-c", script), env=env) for name, script in scripts.items()]
        supervisor = Supervisor(programs, logs=tmp_path / "logs", say=lambda _: None)
        made.append(supervisor)
        supervisor.look()
        return supervisor

    yield start
    for supervisor in made:
        supervisor.stop()


def _until(claim: Callable[[], object], *, limit_s: float = 10.0) -> None:
    deadline = time.monotonic() + limit_s
    while not claim():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def _look_until(supervisor: Supervisor, claim: Callable[[], object]) -> None:
    def looked() -> object:
        supervisor.look()
        return claim()

    _until(looked)


def test_a_killed_program_is_back_at_once(start: Start) -> None:
    supervisor = start(one=SLEEPS)
    first = supervisor.pid("one")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    killed_at = time.monotonic()
    _look_until(supervisor, lambda: supervisor.pid("one") not in (None, first))
    assert time.monotonic() - killed_at < 1
    assert supervisor.ends("one") == 1


def test_a_program_that_ends_again_and_again_is_started_less_and_less_often(start: Start) -> None:
    supervisor = start(one="raise SystemExit(3)")
    begun = time.monotonic()
    _look_until(supervisor, lambda: supervisor.ends("one") == 4)
    assert time.monotonic() - begun > 0.1 + 0.2 + 0.4


def test_stopping_ends_even_what_ignores_term_within_five_seconds(start: Start, tmp_path: Path) -> None:
    supervisor = start(stubborn=IGNORES_TERM, polite=SLEEPS)
    _until(lambda: "ready" in supervisor.log("stubborn").read_text())
    begun = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - begun < 5
    assert processes.processes_marked(MARK, str(tmp_path)) == []


def test_the_children_of_a_program_end_with_it(start: Start, tmp_path: Path) -> None:
    supervisor = start(parent=HAS_A_CHILD)
    _until(lambda: len(processes.processes_marked(MARK, str(tmp_path))) == 2)
    supervisor.stop()
    _until(lambda: processes.processes_marked(MARK, str(tmp_path)) == [])


def test_the_orphans_of_a_killed_program_do_not_meet_its_successor(start: Start, tmp_path: Path) -> None:
    supervisor = start(parent=HAS_A_CHILD)
    _until(lambda: len(processes.processes_marked(MARK, str(tmp_path))) == 2)
    before = set(processes.processes_marked(MARK, str(tmp_path)))
    first = supervisor.pid("parent")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    _look_until(supervisor, lambda: supervisor.pid("parent") not in (None, first))
    _until(lambda: not any(processes.is_alive(pid) for pid in before))


def test_what_a_program_prints_is_in_its_log(start: Start) -> None:
    supervisor = start(one="print('hello from one', flush=True); import time; time.sleep(600)")
    _until(lambda: "hello from one" in supervisor.log("one").read_text())
