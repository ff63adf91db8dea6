"""Bodies that do not end by themselves: time limits, stops, and nothing left of them or of what they started."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.runner import attempt
from runs.runner.messages import Stopped, Succeeded, TimedOut
from tests.runner import Bench, bench, is_alive, wait_until

pytestmark = pytest.mark.crash

SLACK_S = 5.0  # of a machine that has more to do; a body that nobody ends goes on for a minute


@pytest.fixture(scope="module")
def _shared() -> Iterator[Bench]:
    with bench() as made:
        yield made


@pytest.fixture
def runner(_shared: Bench) -> Bench:
    return Bench(_shared.child)


def _timed(runner: Bench, kind: str, value: Any = None, *, limit_s: float) -> float:
    """Seconds from the limit to the end of a job that must time out, after which a fresh child must serve."""
    runner.child.warm()
    before = runner.child.pids
    began = time.monotonic()
    assert runner.run(kind, value, limit_s=limit_s) == TimedOut(limit_s)
    late_s = time.monotonic() - began - limit_s
    assert not any(is_alive(pid) for pid in before)
    assert runner.run("echo", "next") == Succeeded("next", "out", {"value": "next"})
    return late_s


@pytest.mark.parametrize("kind", ["sleep", "spin"])
def test_a_body_over_its_limit_is_ended_at_once(runner: Bench, kind: str) -> None:
    assert _timed(runner, kind, 60, limit_s=0.5) < 2


def test_a_body_may_tidy_up_when_it_is_told_to_end(runner: Bench, tmp_path: Path) -> None:
    assert _timed(runner, "sleep_and_tidy", str(tmp_path / "tidied"), limit_s=0.3) < 2
    assert (tmp_path / "tidied").read_text() == "tidied"


@pytest.mark.parametrize("kind", ["block_in_c", "ignore_term"])
def test_a_body_that_does_not_hear_term_is_killed_five_seconds_later(runner: Bench, kind: str) -> None:
    assert 4.9 < _timed(runner, kind, limit_s=0.3) < 7 + SLACK_S


def test_an_answer_after_term_comes_too_late(runner: Bench) -> None:
    assert _timed(runner, "swallow_term", limit_s=0.3) < 2


def test_a_body_that_prints_for_ever_is_bounded_in_log_and_memory(runner: Bench) -> None:
    before = _resident_bytes()
    assert _timed(runner, "print_for_ever", limit_s=2) < 2
    assert len(runner.log) < 1024 * 1024 + 200
    assert "[The log was cut here" in runner.log
    assert _resident_bytes() - before < 30 * 1024**2


def test_should_stop_ends_a_running_body(runner: Bench) -> None:
    stop_at = time.monotonic() + 0.5
    runner.should_stop = lambda: time.monotonic() > stop_at
    assert runner.run("sleep", 60) == Stopped()
    assert time.monotonic() - stop_at < 2


def test_a_wake_asks_at_once(runner: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "POLL_S", 10.0)
    stop = threading.Event()
    runner.should_stop = stop.is_set
    said_at = []

    def say() -> None:
        stop.set()
        said_at.append(time.monotonic())
        runner.child.wake()

    timer = threading.Timer(0.6, say)
    timer.start()
    assert runner.run("sleep", 60) == Stopped()
    assert time.monotonic() - said_at[0] < 2
    timer.join()


# ------------------------------------------------------------------ what is left behind


@pytest.mark.parametrize("value", [False, True], ids=["same session", "own session"])
def test_a_process_left_behind_is_ended_with_its_child(runner: Bench, value: bool) -> None:
    outcome = runner.run("leave_process", value)
    assert isinstance(outcome, Succeeded)
    assert not any(is_alive(pid) for pid in outcome.output)


@pytest.mark.parametrize("kind", ["leave_daemon", "leave_printer"])
def test_a_daemon_left_behind_is_ended_with_its_child(runner: Bench, kind: str) -> None:
    outcome = runner.run(kind)
    assert isinstance(outcome, Succeeded)
    assert not any(is_alive(pid) for pid in outcome.output)


@pytest.mark.parametrize("kind", ["leave_thread", "change_handler"])
def test_a_child_that_is_not_as_before_is_replaced(runner: Bench, kind: str) -> None:
    outcome = runner.run(kind)
    assert isinstance(outcome, Succeeded)
    assert not is_alive(outcome.output)


def test_an_ended_process_left_behind_costs_no_child(runner: Bench) -> None:
    outcome = runner.run("leave_zombie")
    assert isinstance(outcome, Succeeded)
    assert runner.child.pids == [outcome.output]


def test_a_family_with_daemons_is_ended_at_the_limit(runner: Bench, tmp_path: Path) -> None:
    file = tmp_path / "family"
    thread = threading.Thread(target=runner.run, args=("family", str(file)), kwargs={"limit_s": 1.0})
    thread.start()
    wait_until(file.exists, limit_s=5)
    pids = [int(word) for word in file.read_text().split()]
    assert all(is_alive(pid) for pid in pids)
    thread.join(10)
    assert not any(is_alive(pid) for pid in pids)


def test_the_work_folder_of_a_killed_attempt_is_removed(runner: Bench) -> None:
    runner.child.warm()
    pid = runner.child.pids[0]
    folder = next(Path("/proc").joinpath(str(pid), "cwd").readlink().parent.glob(f"pawl-work-*/{pid}"), None)
    assert folder is None
    assert runner.run("workdir", value=True, limit_s=0.5) == TimedOut(0.5)
    assert not list(Path("/tmp").glob(f"pawl-work-*/{pid}"))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
