"""Starting and ending child processes so that none is ever left behind."""

import contextlib
import ctypes
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int


def unprivileged_account() -> Account | None:
    """Whom root lends its PostgreSQL to (it refuses to run as root); None for an ordinary user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(name, entry.pw_uid, entry.pw_gid)
    return Account("65534", 65534, 65534)


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """For preexec_fn. The kernel ties it to the *thread* that launches: launch from the main thread only."""
    parent = os.getpid()

    def arm() -> None:
        if _libc is not None and hasattr(_libc, "prctl"):
            _libc.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # it died before we were armed
            os.kill(os.getpid(), number)

    return arm


def launch(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    output: IO[bytes] | int | None = None,
    account: Account | None = None,
    parent_death: signal.Signals = signal.SIGTERM,
    stdin: int = subprocess.DEVNULL,
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own: a terminal's Ctrl-C reaches us alone, and we stop it in its turn."""
    return subprocess.Popen(
        command,
        env=dict(env),
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        cwd=cwd,
        start_new_session=True,
        preexec_fn=die_with_parent(parent_death),  # noqa: PLW1509 - only ctypes calls, made ready before
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """To the child and all of its session's first process group, also when the child itself has gone already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def stop(process: subprocess.Popen[bytes], *, number: signal.Signals = signal.SIGTERM, grace_s: float = 3.0) -> None:
    """Ask, wait, then kill; and kill whatever the child left in its group."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace_s)
    signal_group(process, signal.SIGKILL)
    process.wait()


def each_process() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def processes_in(folder: Path) -> list[int]:
    """Processes whose working folder it is; how a PostgreSQL is known by its data."""
    found = []
    for pid in each_process():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cwd").readlink() == folder:
                found.append(pid)
    return found


def processes_marked(name: str, value: str) -> list[int]:
    """Processes that were started with this variable in their environment, ourselves left out."""
    needle = f"{name}={value}".encode()
    found = []
    for pid in each_process():
        with contextlib.suppress(OSError):
            if pid != os.getpid() and needle in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def is_alive(pid: int) -> bool:
    """A zombie is not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def end(find: Callable[[], list[int]], *, number: signal.Signals, grace_s: float) -> int:
    """End strangers that an earlier, killed start has left. Answers how many there were."""
    left = [pid for pid in find() if is_alive(pid)]
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    deadline = time.monotonic() + grace_s
    while any(is_alive(pid) for pid in left) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in find():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while any(is_alive(pid) for pid in left) and time.monotonic() < deadline + 2:
        time.sleep(0.02)
    return len(left)
