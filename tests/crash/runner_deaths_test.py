"""Who dies with whom: the worker, its launcher, its children, their descendants. And pipes that are misused."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from runs.runner import processes
from runs.runner.frames import FrameType, pack
from runs.runner.messages import Crashed, Succeeded
from runs.runner.spawner import REPOSITORY, NoChild, Spawner, pid_namespace, sweep_left_folders
from tests.runner import Bench, bench, is_alive, wait_until

pytestmark = pytest.mark.crash
SLACK_S = 2.0  # of a machine that has more to do: a second is promised
ALLOWED = {
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "TESSDATA_PREFIX",
    "OMP_NUM_THREADS", "HOME", "TMPDIR", "PYTHONPATH", "PAWL_LAUNCH_LOG", "PAWL_EXTRA_STEPS", "PAWL_FAILPOINTS",
    "PAWL_SANDBOX_WEAK",
}  # fmt: skip


@pytest.fixture
def runner() -> Iterator[Bench]:
    with bench() as made:
        yield made


def _launchers() -> list[int]:
    return [pid for pid in processes.children_of(os.getpid()) if b"runs.runner.launcher" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


# ------------------------------------------------------------------ the child


def test_a_child_killed_in_a_body_is_a_crash_and_the_next_job_runs(runner: Bench) -> None:
    runner.child.warm()
    killer = threading.Timer(0.5, os.kill, (runner.child.pids[0], signal.SIGKILL))
    killer.start()
    began = time.monotonic()
    outcome = runner.run("sleep", 60)
    assert outcome == Crashed("the child was killed by SIGKILL (maybe out of memory)")
    assert time.monotonic() - began < 10, "it waited for the body's own end"
    assert runner.run("echo", 1) == Succeeded(1, "out", {"value": 1})
    killer.join()


def test_a_child_killed_while_it_idles_is_replaced_unseen(runner: Bench) -> None:
    runner.child.warm()
    pid = runner.child.pids[0]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), limit_s=10)
    assert runner.run("echo", 1) == Succeeded(1, "out", {"value": 1})


def test_a_segmentation_fault_three_times_leaves_the_worker_s_other_child_alone(runner: Bench) -> None:
    other = Bench(type(runner.child)(runner.child._spawner))
    other.child.warm()
    before = other.child.pids
    for _ in range(3):
        assert isinstance(runner.run("segfault"), Crashed)
    assert other.run("echo", 1) == Succeeded(1, "out", {"value": 1})
    assert other.child.pids == before
    other.child.close()


# ------------------------------------------------------------------ the launcher


def test_a_killed_launcher_takes_even_a_blocked_child_along_and_is_replaced(runner: Bench) -> None:
    runner.child.warm()
    pid = runner.child.pids[0]
    launcher = _launchers()[-1]
    killer = threading.Timer(0.5, os.kill, (launcher, signal.SIGKILL))
    killer.start()
    assert isinstance(runner.run("block_in_c"), Crashed)
    wait_until(lambda: not is_alive(pid), limit_s=10)
    assert runner.run("echo", 1) == Succeeded(1, "out", {"value": 1})
    killer.join()


def test_a_child_needs_no_more_than_the_environment_that_is_listed(
    runner: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:secret@h/d")
    monkeypatch.setenv("SOME_TOKEN", "secret")
    outcome = runner.run("environment")
    assert isinstance(outcome, Succeeded)
    told = outcome.output
    assert set(told["names"]) <= ALLOWED
    assert told["session"] == told["group"] == told["pid"]
    assert told["no_new_privileges"] == "1"
    assert told["modules"] == []
    assert told["cwd"].startswith("/tmp/pawl-work-")
    assert sum("socket:" in each for each in told["descriptors"]) == 1  # its frames; nobody else's pipes


# ------------------------------------------------------------------ the worker

WORKER = """
import os, pathlib, sys, threading, time
from tests.runner import Bench, Child, Spawner
spawner = Spawner()
benches = [Bench(Child(spawner)) for _ in range(2)]
threads = [threading.Thread(target=bench.run, args=("family", f"{sys.argv[1]}/{n}")) for n, bench in enumerate(benches)]
[thread.start() for thread in threads]
while not all(pathlib.Path(sys.argv[1], name).exists() for name in "01"):
    time.sleep(0.01)
bystander = os.fork()  # holds copies of all descriptors: no pipe of the worker's closes when it ends
if bystander == 0:
    time.sleep(30)
    os._exit(0)
told = pathlib.Path(sys.argv[1], "told")
told.write_text(str(bystander))
told.rename(told.with_name("bystander"))  # whole from the moment that it exists
[thread.join() for thread in threads]
"""


@contextmanager
def _start_worker(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", WORKER, str(folder)], cwd=REPOSITORY) as worker:
        try:
            yield worker
        finally:
            worker.kill()  # also a frozen one, and where an assertion failed


def _wait_for_families(folder: Path) -> list[int]:
    wait_until((folder / "bystander").exists, limit_s=15)
    return [int(word) for name in "01" for word in (folder / name).read_text().split()]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("bystander", [False, True], ids=["pipes close", "pipes stay open"])
def test_everything_below_a_dead_worker_is_gone_within_a_second(
    tmp_path: Path, how: signal.Signals, bystander: bool
) -> None:
    with _start_worker(tmp_path) as worker:
        pids = _wait_for_families(tmp_path)
        if not bystander:
            _kill_bystander(tmp_path)
        launcher = next(pid for pid in processes.children_of(worker.pid) if b"launcher" in _command(pid))
        assert all(is_alive(pid) for pid in [*pids, launcher])
        worker.send_signal(how)
        worker.wait(5)
        assert wait_until(lambda: not any(is_alive(pid) for pid in [*pids, launcher]), limit_s=10) <= 1 + SLACK_S
    assert not list(Path("/tmp").glob(f"pawl-work-{worker.pid}-*"))
    _kill_bystander(tmp_path)


def _kill_bystander(folder: Path) -> None:
    with suppress(ProcessLookupError):
        os.kill(int((folder / "bystander").read_text()), signal.SIGKILL)


def test_children_die_with_their_launcher_although_the_worker_can_do_nothing(tmp_path: Path) -> None:
    """PDEATHSIG alone: the worker is frozen, the launcher is killed, and the children block in C."""
    with _start_worker(tmp_path) as worker:
        pids = _wait_for_families(tmp_path)
        _kill_bystander(tmp_path)
        launcher = next(pid for pid in processes.children_of(worker.pid) if b"launcher" in _command(pid))
        worker.send_signal(signal.SIGSTOP)
        os.kill(launcher, signal.SIGKILL)
        assert wait_until(lambda: not any(is_alive(pid) for pid in (pids[0], pids[3])), limit_s=10) <= 1 + SLACK_S
    daemons = [pids[1], pids[2], pids[4], pids[5]]
    assert all(is_alive(pid) for pid in daemons)  # nobody is left to sweep them: the next launcher's start does
    sweep_left_folders()
    wait_until(lambda: not any(is_alive(pid) for pid in daemons), limit_s=10)


def test_a_frozen_worker_s_child_works_on_and_goes_with_it(tmp_path: Path) -> None:
    with _start_worker(tmp_path) as worker:
        pids = _wait_for_families(tmp_path)
        _kill_bystander(tmp_path)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        assert all(is_alive(pid) for pid in pids)
        worker.kill()
        worker.wait(5)
        assert wait_until(lambda: not any(is_alive(pid) for pid in pids), limit_s=10) <= 1 + SLACK_S


def test_the_end_of_the_thread_that_used_a_child_first_harms_no_child(runner: Bench) -> None:
    """PDEATHSIG follows the thread that started a process; the spawner's own thread outlives all users."""
    thread = threading.Thread(target=runner.child.warm)
    thread.start()
    thread.join()
    before = runner.child.pids
    time.sleep(0.3)
    assert runner.run("echo", 1) == Succeeded(1, "out", {"value": 1})
    assert runner.child.pids == before


def test_folders_of_dead_workers_are_swept_and_those_of_living_ones_kept(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    dead = Path(f"/tmp/pawl-work-{ended.pid}-{pid_namespace()}-left")
    living = Path(f"/tmp/pawl-work-{os.getpid()}-{pid_namespace()}-kept")
    elsewhere = Path(f"/tmp/pawl-work-{ended.pid}-1-kept")  # another container's, where that pid may well live
    for folder in (dead, living, elsewhere):
        folder.mkdir()
    sweep_left_folders()
    assert [folder.exists() for folder in (dead, living, elsewhere)] == [False, True, True]
    living.rmdir()
    elsewhere.rmdir()


# ------------------------------------------------------------------ the pipe


@pytest.mark.parametrize(
    "written",
    [
        b"Z" + bytes(20),
        pack(FrameType.OUTCOME, "x" * 10, step_run_id=11, fence=5),
        pack(FrameType.OUTCOME, '[null,true,null,["succeeded",1,"out"]]', step_run_id=11, fence=4),
        pack(FrameType.OUTCOME, '[null,true,null,["succeeded",1,"out"]]', step_run_id=12, fence=5),
        pack(FrameType.OUTCOME, '[null,true,null,["other"]]', step_run_id=11, fence=5),
        pack(FrameType.OUTCOME, "[NaN]", step_run_id=11, fence=5),
        pack(FrameType.ACK, "null", step_run_id=11, fence=5),
        pack(FrameType.CHECKPOINT, "[1]", step_run_id=11, fence=5),
        b"O\xff\xff\xff\xff" + bytes(16),
    ],
    ids=[
        "unknown type",
        "no JSON",
        "old fence",
        "other step",
        "unknown form",
        "NaN",
        "wrong way",
        "parts",
        "absurd length",
    ],
)
def test_a_breach_of_the_protocol_retires_the_child(runner: Bench, written: bytes) -> None:
    runner.child.warm()
    pid = runner.child.pids[0]
    outcome = runner.run("write_on_pipe", written.decode("latin-1"))
    assert isinstance(outcome, Crashed)
    assert "broke its protocol" in outcome.detail
    assert not is_alive(pid)


def test_a_closed_pipe_is_a_crash(runner: Bench) -> None:
    began = time.monotonic()
    assert runner.run("close_pipe") == Crashed("the child closed its pipe without an answer")
    assert time.monotonic() - began < 10


def test_threads_that_lose_their_launcher_at_once_all_get_a_child_of_the_new_one(runner: Bench) -> None:
    """One of them replaces it; none of the others may take the new one for the dead one."""
    others = [Bench(type(runner.child)(runner.child._spawner)) for _ in range(4)]
    for other in others:
        other.child.warm()
    before = [pid for other in others for pid in other.child.pids]
    os.kill(_launchers()[-1], signal.SIGKILL)
    wait_until(lambda: not any(is_alive(pid) for pid in before), limit_s=10)
    threads = [threading.Thread(target=other.run, args=("sleep", 0.3)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    pids = [pid for other in others for pid in other.child.pids]
    assert len(pids) == 4
    assert all(is_alive(pid) for pid in pids)
    assert len(_launchers()) == 1
    for other in others:
        other.child.close()


def test_a_spawner_that_was_closed_says_so() -> None:
    spawner = Spawner()
    spawner.close()
    with pytest.raises(NoChild, match="ending"):
        spawner.spawn()


def test_replacing_children_leaks_no_descriptor_and_no_process(runner: Bench) -> None:
    runner.run("kill_self")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        assert isinstance(runner.run("kill_self"), Crashed)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert processes.children_of(_launchers()[-1]) == []
    folder = next(Path("/tmp").glob(f"pawl-work-{os.getpid()}-*"))
    assert list(folder.iterdir()) == []
