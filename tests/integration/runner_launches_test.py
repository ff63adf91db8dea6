"""The file that counts executions from outside, and the failpoints inside the child."""

import threading
from pathlib import Path

import pytest

from runs.runner.messages import Crashed, Failed, Succeeded
from tests.runner import bench, wait_until

RUN = "01900000-0000-7000-8000-000000000000"


@pytest.fixture
def launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAWL_LAUNCH_LOG", str(tmp_path / "launches"))
    return tmp_path / "launches"


def test_each_attempt_is_one_line_whatever_comes_of_it(launches: Path) -> None:
    with bench() as runner:
        runner.run("echo", path="a")
        runner.run("segfault", path="each[3].b", attempt=2, fence=9)
        runner.run("number", path="c")  # its settings are wrong
        pid = runner.child.pids[0]
    lines = launches.read_text().splitlines()
    assert [line.rpartition(" ")[0] for line in lines] == [f"{RUN} a 1 5", f"{RUN} each[3].b 2 9", f"{RUN} c 1 5"]
    assert lines[2].split()[-1] == str(pid)


def test_the_line_is_there_before_the_body_begins(
    launches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "go"
    monkeypatch.setenv("PAWL_FAILPOINTS", f"before_body:pause={go}")
    with bench() as runner:
        thread = threading.Thread(target=runner.run, args=("print_texts", ["ran"]))
        thread.start()
        wait_until(lambda: launches.exists() and launches.read_text().endswith("\n"), limit_s=10)
        assert launches.read_text().startswith(f"{RUN} step 1 5 ")
        assert runner.log == ""
        go.touch()
        thread.join(10)
        assert runner.log.startswith("ran\n")


def test_lines_of_many_children_do_not_mix(launches: Path) -> None:
    with bench() as first, bench() as second:
        threads = [
            threading.Thread(target=lambda runner=runner: [runner.run("echo", path="x" * 300) for _ in range(100)])
            for runner in (first, second)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = launches.read_text().splitlines()
    assert len(lines) == 200
    assert {line.rpartition(" ")[0] for line in lines} == {f"{RUN} {'x' * 300} 1 5"}


@pytest.mark.parametrize("point", ["before_body", "after_body"])
def test_a_failpoint_in_the_child_kills_it_once(point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAWL_FAILPOINTS", f"{point}?marker={tmp_path / 'taken'}:exit9")
    with bench() as runner:
        assert isinstance(runner.run("echo", 1), Crashed)
        assert runner.run("echo", 1) == Succeeded(1, "out", {"value": 1})


def test_a_failpoint_that_raises_is_the_step_s_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAWL_FAILPOINTS", "before_body@1:raise")
    with bench() as runner:
        outcome = runner.run("echo", 1)
        assert isinstance(outcome, Failed)
        assert outcome.error.message == "FailpointHit: before_body"
