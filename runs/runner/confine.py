"""What a process does to itself before foreign code runs in it. Linux only; ctypes, because Python has no prctl."""

import ctypes
import os
import resource
import signal
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, argument: int) -> None:
    # prctl is variadic: the unused arguments must be zero, or NO_NEW_PRIVS answers EINVAL.
    if _libc.prctl(option, ctypes.c_ulong(argument), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


def die_with_parent(*, parent: int, how: signal.Signals) -> None:
    """Ends this process when the THREAD that started it ends. `parent`: who that was, by its own pid.

    The parent may have died before the call, and then nothing would ever be sent: hence the comparison after it.
    """
    _prctl(PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(0)


def take_name(name: str) -> None:
    """What `ps -o comm` and `top` show; at most 15 characters."""
    text = ctypes.create_string_buffer(name.encode())
    _prctl(PR_SET_NAME, ctypes.addressof(text))


def adopt_orphans() -> None:
    """Descendants whose parent ends become children of this process, also those that started a session of their own."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def volunteer_for_oom_killer() -> None:
    """Where the machine itself runs out of memory, a body goes before a worker, a database or a launcher."""
    Path("/proc/self/oom_score_adj").write_text("500")


def give_up_privileges() -> None:
    """No set-uid program below this process gains anything. Inherited by fork and exec."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def limit_memory(limit_bytes: int) -> None:
    """Caps what a process may write to (RLIMIT_DATA), and switches core dumps off. Inherited.

    RLIMIT_AS would count mappings that are never touched: a thread of the OCR engine alone reserves 64 MB.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limit_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
