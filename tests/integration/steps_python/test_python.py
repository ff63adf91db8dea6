"""The sandbox for real: each probe below is code that a person could write into a step."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from steps.base import StepFailure
from steps.python import outer
from steps.python import run as body
from tests.step_context import FakeContext, run_step


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    return FakeContext(storage_root=tmp_path)


def run(ctx: FakeContext, code: str, **config: Any) -> Any:
    return run_step(ctx, "python", code=code, **config)


def failure_of(ctx: FakeContext, code: str, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        run(ctx, code, **{"time_limit_s": 10, **config})
    return failure.value


def test_main_gets_the_inputs_and_its_answer_is_the_output(ctx: FakeContext) -> None:
    code = "def main(inputs):\n    return {'sum': sum(inputs['n']), 'big': 2**70, 't': (1, None)}"
    assert run(ctx, code, inputs={"n": [1, 2, 3]}) == {"sum": 6, "big": 2**70, "t": [1, None]}


def test_a_script_may_set_result_instead_or_nothing_at_all(ctx: FakeContext) -> None:
    assert run(ctx, "result = inputs['a'] * 2", inputs={"a": "ä\0\ud800"}) == "ä\0\ud800" * 2
    assert run(ctx, "pass") is None


def test_what_the_code_prints_goes_to_the_log(ctx: FakeContext) -> None:
    run(ctx, "import sys\nprint('one')\nprint('zwei größe', file=sys.stderr)\nprint('no line end', end='')")
    assert set("\n".join(ctx.logged).split("\n")) == {"one", "zwei größe", "no line end"}


def test_much_of_the_standard_library_works(ctx: FakeContext) -> None:
    code = """
import asyncio, csv, datetime, decimal, hashlib, io, itertools, json, random, re, sqlite3, statistics
import threading, uuid, zoneinfo
async def later(): await asyncio.sleep(0.01); return 'later'
heard = []
thread = threading.Thread(target=heard.append, args=(1,)); thread.start(); thread.join()
memory = sqlite3.connect(':memory:'); memory.execute('create table t (a)')
result = [asyncio.run(later()), heard, str(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Vienna'))),
          hashlib.sha256(b'x').hexdigest()[:4], len(str(uuid.uuid4())), statistics.mean([1, 2])]
"""
    assert run(ctx, code) == ["later", [1], "2026-07-01 00:00:00+02:00", "2d71", 36, 1.5]


# ------------------------------------------------------------------ errors


def test_an_error_names_the_line_and_shows_only_the_authors_frames(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "def part(x):\n    return 1 / x\n\ndef main(inputs):\n    return part(0)")
    assert (failure.code, failure.retryable) == ("python_error", False)
    assert failure.message == "ZeroDivisionError: division by zero (line 2: return 1 / x)"
    assert failure.data["line"] == 2
    assert "line 5, in main" in failure.data["traceback"]
    assert "inside.py" not in failure.data["traceback"]


def test_a_mistake_in_the_writing_names_its_line(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "x = 1\ndef main(inputs)\n    pass")
    assert failure.message == "SyntaxError: expected ':' (line 2: def main(inputs))"


def test_the_code_may_fail_in_its_own_words(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "fail('no total', code='no_total', retryable=True)")
    assert (failure.code, failure.retryable) == ("no_total", True)
    assert failure.message.startswith("no total")


@pytest.mark.parametrize(
    ("code", "words"),
    [("result = {'a': [1, {2}]}", r"result.a\[1\] is a set"), ("result = {1: 2}", "key 1, which is not a text"),
     ("result = {'x': float('nan')}", "result.x is nan"), ("result = a = []\na.append(a)", "nested deeper"),
     ("result = b'x'", "is a bytes")],
)  # fmt: skip
def test_a_result_that_json_cannot_hold_names_the_place(ctx: FakeContext, code: str, words: str) -> None:
    failure = failure_of(ctx, code)
    assert failure.code == "result_not_json"
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(failure.message)


@pytest.mark.parametrize(
    "code", ["import os; os._exit(3)", "import ctypes; ctypes.string_at(0)", "import os; os.close(1); os.abort()"]
)
def test_a_process_that_ends_by_itself_is_told(ctx: FakeContext, code: str) -> None:
    assert failure_of(ctx, code).code == "python_ended"


@pytest.mark.parametrize("code", ["raise SystemExit(0)", "raise KeyboardInterrupt", "import sys; sys.exit('bye')"])
def test_leaving_is_an_error_like_any_other(ctx: FakeContext, code: str) -> None:
    assert failure_of(ctx, code).code == "python_error"


def test_code_that_writes_over_the_answer_does_not_break_the_step(ctx: FakeContext) -> None:
    failure = failure_of(
        ctx, "import os\nfor fd in range(3, 4096):\n    try: os.write(fd, b'{{{')\n    except OSError: pass"
    )
    assert failure.code == "python_error"


# ------------------------------------------------------------------ walls


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


PROBES = {
    "reads a file of the machine": "open('/etc/passwd').read()",
    "reads root's files": "import os; os.listdir('/root')",
    "reads the code of Pawl": f"open({str(Path(body.__file__))!r}).read()",
    "reads another process": "open('/proc/1/environ').read()",
    "reads its parent's memory": "import os; open(f'/proc/{os.getppid()}/mem', 'rb')",
    "writes a file": "open('/tmp/pawl-probe', 'w').write('x')",
    "writes beside itself": "open('probe', 'w').write('x')",
    "makes a link": "import os; os.symlink('/etc/passwd', '/tmp/pawl-probe')",
    "changes a file's mode": "import os; os.chmod('/tmp', 0o777)",
    "removes": "import os; os.rmdir('FOLDER')",
    "opens a connection": "import socket; socket.create_connection(('127.0.0.1', PORT), 1)",
    "sends a datagram": "from socket import *; socket(AF_INET, SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "opens a unix socket": "import socket; socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
    "starts a program": "import subprocess; subprocess.run(['/bin/sh', '-c', 'id'], check=True)",
    "forks": "import os; os.fork()",
    "replaces itself": "import os; os.execv('/bin/sh', ['sh'])",
    "kills its parent": "import os; os.kill(os.getppid(), 9)",
    "kills everything": "import os; os.kill(-1, 9)",
    "becomes somebody": "import os; os.setuid(1)",
    "traces": "import ctypes; l = ctypes.CDLL(None); assert l.ptrace(16, PPID, 0, 0) == 0",
    "makes a namespace": "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "mounts": "import ctypes; assert ctypes.CDLL(None).mount(b'none', b'/mnt', b'tmpfs', 0, None) == 0",
    "raises its limits": "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (10**9, 10**9))",
    "loads a program from memory": "import os; os.memfd_create('x')",
}


FOLDER = Path(f"/tmp/pawl-probe-folder-{os.getpid()}")  # outside of what the sandbox may touch; one for each process


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES.keys())
def test_the_sandbox_stops_code_that(ctx: FakeContext, listener: int, probe: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    code = probe.replace("PPID", str(os.getpid())).replace("PORT", str(listener)).replace("FOLDER", str(FOLDER))
    failure = failure_of(ctx, code)
    assert failure.code == "python_error"
    assert "Permission" in failure.message or "AssertionError" in failure.message or "not allowed" in failure.message
    assert not Path("/tmp/pawl-probe").exists()
    FOLDER.rmdir()


@pytest.mark.parametrize("probe", ["removes", "opens a connection", "starts a program", "forks"])
def test_the_same_probe_works_outside_of_the_sandbox(listener: int, probe: str) -> None:
    """Otherwise the test above would prove nothing."""
    FOLDER.mkdir(exist_ok=True)
    code = PROBES[probe].replace("PORT", str(listener)).replace("FOLDER", str(FOLDER))
    assert subprocess.run([sys.executable, "-c", code], timeout=10, check=False, capture_output=True).returncode == 0
    if FOLDER.exists():
        FOLDER.rmdir()


def test_no_setting_of_pawl_is_in_its_environment(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://s3cret")
    assert run(ctx, "import os; result = dict(os.environ)") == {"LC_ALL": "C.UTF-8", "TZ": "UTC"}


def test_no_file_of_its_parent_is_open(ctx: FakeContext) -> None:
    code = """
import os, stat
result = []
for fd in range(3, 4096):
    try: result.append(stat.S_ISFIFO(os.fstat(fd).st_mode))
    except OSError: pass
"""
    with Path("/etc/passwd").open("rb") as secret:
        os.set_inheritable(secret.fileno(), True)
        assert run(ctx, code) == [True, True]  # the pipes for its questions and for the answers, and nothing else


def test_memory_has_a_limit(ctx: FakeContext) -> None:
    failure = failure_of(ctx, "x = 'a' * 10**9")
    assert failure.code == "out_of_memory"
    slowly = failure_of(ctx, "kept = []\nwhile True: kept.append('x' * 100_000)", memory_mb=64)
    assert slowly.code in {"out_of_memory", "python_ended"}


IGNORES_SIGNALS = """
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(60)
"""


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(60)",
        IGNORES_SIGNALS,
        "while True: print('y' * 1000)",
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
        "import sys, time; sys.stdout.close(); time.sleep(60)",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()",
    ],
    ids=["spins", "sleeps", "ignores signals", "prints for ever", "blocks in C", "shuts its output", "leaves a thread"],
)  # fmt: skip
def test_time_has_a_limit_for_code_that(ctx: FakeContext, code: str) -> None:
    started = time.monotonic()
    failure = failure_of(ctx, code, time_limit_s=0.7)
    assert (failure.code, failure.retryable) == ("timed_out", True)
    assert time.monotonic() - started < 3


def test_printing_without_end_fills_no_memory(ctx: FakeContext) -> None:
    failure_of(ctx, "while True: print('y' * 1000)", time_limit_s=0.7)
    assert sum(map(len, ctx.logged)) < body.LOG_LIMIT_BYTES + 1000
    assert "left out" in ctx.logged[-1]


def test_a_result_has_a_size_limit(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "RESULT_LIMIT_BYTES", 100_000)
    assert failure_of(ctx, "result = 'x' * 200_000").code == "result_too_large"


def test_large_inputs_and_outputs_pass(ctx: FakeContext) -> None:
    text = "x" * 3_000_000
    assert run(ctx, "result = inputs['t']", inputs={"t": text}) == text


def test_no_process_is_left_behind(ctx: FakeContext) -> None:
    before = children()
    failure_of(ctx, "import time; time.sleep(60)", time_limit_s=0.3)
    run(ctx, "result = 1")
    assert children() == before


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{threading.main_thread().native_id}/children").read_text().split())


def test_a_missing_wall_refuses_unless_the_operator_has_said_so(
    ctx: FakeContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A copy of the sandbox on a machine without seccomp and without bubblewrap."""
    monkeypatch.setattr(outer, "bubblewrap", lambda: None)
    for name in ("inside.py", "jail.py", "asking.py"):
        text = (Path(body.__file__).parent / name).read_text()
        (tmp_path / name).write_text(text.replace("libseccomp.so.2", "libseccomp-missing.so"))
    monkeypatch.setattr(body, "INSIDE", tmp_path / "inside.py")
    monkeypatch.delenv(body.WEAK, raising=False)
    failure = failure_of(ctx, "result = 1")
    assert failure.code == "sandbox_refused"
    assert "libseccomp" in failure.message
    monkeypatch.setenv(body.WEAK, "1")
    assert run(ctx, "result = 1") == 1


def test_bubblewrap_is_asked_only_where_a_wall_of_our_own_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outer.is_needed() is False
    outer.is_needed.cache_clear()
    monkeypatch.setattr(outer.jail, "landlock_version", lambda: 0)
    assert outer.is_needed() is True
    outer.is_needed.cache_clear()


def test_below_bubblewrap_only_what_import_needs_is_shown(tmp_path: Path) -> None:
    command = outer.command(tmp_path / "inside.py", ["7"], program="/usr/bin/bwrap")
    assert command[:3] == ["/usr/bin/bwrap", "--unshare-all", "--die-with-parent"]
    assert command[-4:] == ["-I", "-S", str(tmp_path / "inside.py"), "7"]
    shown = {place for kind, place in pairwise(command) if kind == "--ro-bind"}
    assert str(tmp_path) in shown
    assert not shown & {"/", "/etc", "/home", "/root", "/tmp", "/proc", "/var", "/run"}


@pytest.mark.skipif(outer.bubblewrap() is None, reason="bubblewrap is not installed, or may not make namespaces here")
def test_bubblewrap_does_where_landlock_and_seccomp_are_missing(
    ctx: FakeContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listener: int
) -> None:
    for name in ("inside.py", "jail.py", "asking.py"):
        text = (Path(body.__file__).parent / name).read_text()
        text = text.replace("libseccomp.so.2", "libseccomp-missing.so").replace("= 444, 445, 446", "= 9444, 9445, 9446")
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(body, "INSIDE", tmp_path / "inside.py")
    monkeypatch.setattr(outer, "is_needed", lambda: True)
    assert run(ctx, "import json, sqlite3, ssl\nresult = inputs", inputs={"a": 1}) == {"a": 1}
    probes = [PROBES[each] for each in ("reads a file of the machine", "writes a file", "opens a connection", "mounts")]
    for probe in [*probes, f"import os; os.kill({os.getpid()}, 0)"]:
        failure = failure_of(ctx, probe.replace("PORT", str(listener)))
        assert failure.code == "python_error", probe
    assert failure_of(ctx, "while True: pass", time_limit_s=0.5).code == "timed_out"


def test_the_sandbox_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    script = f"""
import sys; sys.path.insert(0, {str(Path(body.__file__).parents[2])!r})
from itertools import pairwise
from pathlib import Path
from tests.step_context import FakeContext, run_step
ctx = FakeContext(storage_root=Path({str(tmp_path)!r}))
run_step(ctx, "python", code="import time; time.sleep(60)", time_limit_s=60)
"""
    with subprocess.Popen([sys.executable, "-c", script]) as parent:
        found: set[int] = set()
        deadline = time.monotonic() + 10
        while not found and time.monotonic() < deadline:
            time.sleep(0.05)
            found = {int(each) for each in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()}
        time.sleep(0.3)  # past its start: the wish to die with the parent is made by then
        parent.kill()
    assert found
    deadline = time.monotonic() + 2
    while any(alive(pid) for pid in found) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(alive(pid) for pid in found)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
