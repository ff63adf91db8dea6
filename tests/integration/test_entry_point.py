"""The commands of the image's entry point, run bare against real servers."""

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.services.ports import free_port

ENTRY_POINT = Path(__file__).resolve().parents[2] / "docker" / "entrypoint.sh"


@contextmanager
def _running(environment: dict[str, str], command: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [str(ENTRY_POINT), command],
            env={**environment, "PAWL_PYTHON": sys.executable, "PAWL_BIND": "127.0.0.1"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            finally:
                process.kill()


def _until(claim: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 40
    while not claim():
        assert process.poll() is None, f"it ended by itself:\n{log.read_text()}"
        assert time.monotonic() < deadline, f"it never came true:\n{log.read_text()}"
        time.sleep(0.1)


def test_migrate_ends_well(process_environment: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    with _running(process_environment, "migrate", log) as process:
        assert process.wait(60) == 0, log.read_text()


def test_web_answers_on_its_port(process_environment: dict[str, str], tmp_path: Path) -> None:
    port = free_port()

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except urllib.error.URLError:
            return False

    log = tmp_path / "log"
    with _running({**process_environment, "PAWL_PORT": str(port)}, "web", log) as process:
        _until(answers, process, log)


@pytest.mark.parametrize(("command", "part"), [("worker", "check_workers"), ("sweeper", "check_sweeper")])
def test_worker_and_sweeper_make_themselves_heard(
    process_environment: dict[str, str], tmp_path: Path, command: str, part: str
) -> None:
    from config import health

    log = tmp_path / "log"
    assert not getattr(health, part)()["ok"]
    with _running(process_environment, command, log) as process:
        _until(lambda: bool(getattr(health, part)()["ok"]), process, log)


def test_no_command_is_told_what_to_say(tmp_path: Path) -> None:
    told = subprocess.run([str(ENTRY_POINT)], capture_output=True, text=True, check=False)
    assert told.returncode == 64
    assert "web, worker, sweeper or migrate" in told.stderr
