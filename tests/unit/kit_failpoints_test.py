"""Failpoints: what the crash tests stand on must itself be right."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.failpoints import BadFailpoint, FailpointHit, arm, failpoint


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    arm("")


def test_nothing_happens_where_nothing_is_armed() -> None:
    failpoint("anything")


def test_raise_acts_only_at_its_own_name() -> None:
    arm("here:raise")
    failpoint("elsewhere")
    with pytest.raises(FailpointHit, match="here"):
        failpoint("here")


def test_a_numbered_point_acts_at_that_hit_only() -> None:
    arm("here@2:raise")
    failpoint("here")
    with pytest.raises(FailpointHit):
        failpoint("here")
    failpoint("here")


def test_two_points_of_one_name_count_alone() -> None:
    arm("here@1:raise;here@3:raise")
    with pytest.raises(FailpointHit):
        failpoint("here")
    failpoint("here")
    with pytest.raises(FailpointHit):
        failpoint("here")


def test_a_marker_lets_one_hit_through(tmp_path: Path) -> None:
    arm(f"here?marker={tmp_path / 'taken'}:raise")
    with pytest.raises(FailpointHit):
        failpoint("here")
    failpoint("here")
    arm(f"here?marker={tmp_path / 'taken'}:raise")  # as another process would
    failpoint("here")


def test_sleep_sleeps() -> None:
    arm("here:sleep=0.05")
    began = time.monotonic()
    failpoint("here")
    assert time.monotonic() - began >= 0.05


def test_exit9_kills_a_process_that_read_its_environment() -> None:
    code = "from kit.failpoints import failpoint; failpoint('a'); failpoint('b'); print('alive')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PAWL_FAILPOINTS": "b:exit9"}, capture_output=True, check=False, timeout=20
    )
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == b""


def test_pause_waits_for_its_file(tmp_path: Path) -> None:
    code = "from kit.failpoints import failpoint; failpoint('a'); print('alive')"
    go = tmp_path / "go"
    with subprocess.Popen(
        [sys.executable, "-c", code], env={"PAWL_FAILPOINTS": f"a:pause={go}"}, stdout=subprocess.PIPE
    ) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.5)
        go.touch()
        assert process.communicate(timeout=10)[0] == b"alive\n"


@pytest.mark.parametrize("text", ["here", "here:", ":exit9", "here:jump", "here:sleep", "here@x:raise", "here:exit9=3"])
def test_an_unreadable_part_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(BadFailpoint, match=f"PAWL_FAILPOINTS has '{text}'"):
        arm(text)
