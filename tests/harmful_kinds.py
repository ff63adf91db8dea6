"""Step kinds that do not end, leave something behind, or write where they must not: for PAWL_EXTRA_STEPS as well.

Made like those of tests/kinds.py, and named like them: `test_<name of the body>`.
"""

import ctypes
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from steps.base import Body, StepContext
from tests.kinds import AnyConfig, kind

libc = ctypes.PyDLL(None)  # PyDLL, not CDLL: a call holds the GIL, so that no Python code of the process runs meanwhile


# ------------------------------------------------------------------ that do not come to an end


def sleep(config: AnyConfig, ctx: StepContext) -> str:
    time.sleep(config.value)
    return "slept"


def sleep_and_tidy(config: AnyConfig, ctx: StepContext) -> None:
    try:
        time.sleep(60)
    finally:
        Path(config.value).write_text("tidied")


def spin(config: AnyConfig, ctx: StepContext) -> None:
    while True:
        pass


def block_in_c(config: AnyConfig, ctx: StepContext) -> None:
    """Waits for itself in C, holding the GIL. Signals do not interrupt that, and no Python handler can run."""
    mutex = ctypes.create_string_buffer(64)  # zeroes are an unlocked one
    libc.pthread_mutex_lock(mutex)
    libc.pthread_mutex_lock(mutex)


def ignore_term(config: AnyConfig, ctx: StepContext) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def swallow_term(config: AnyConfig, ctx: StepContext) -> str:
    try:
        time.sleep(60)
    except BaseException:  # noqa: BLE001 - that is the misbehaviour
        return "too late"
    return "slept"


def print_for_ever(config: AnyConfig, ctx: StepContext) -> None:
    while True:
        print("y" * 1000)


def print_much(config: AnyConfig, ctx: StepContext) -> str:
    for _ in range(config.value):
        print("y" * 999)
    return "printed"


def show_signs(config: AnyConfig, ctx: StepContext) -> None:
    """Alive, and slow: a sign now and then."""
    wanted = config.value
    for number in range(wanted["times"]):
        time.sleep(wanted["every_s"])
        match wanted["by"]:
            case "log":
                ctx.log(f"round {number}")
            case "progress":
                ctx.progress(number)
            case "checkpoint":
                ctx.partial(number)
            case _:
                print("x" * 5_000, flush=True)


def print_texts(config: AnyConfig, ctx: StepContext) -> None:
    for text in config.value:
        print(text)
    subprocess.run(["echo", "from below"], check=True)


# ------------------------------------------------------------------ that leave something behind


def leave_thread(config: AnyConfig, ctx: StepContext) -> int:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return os.getpid()


def leave_process(config: AnyConfig, ctx: StepContext) -> Any:
    """config.value: whether it leaves the session as well."""
    left = subprocess.Popen(["sleep", "987"], start_new_session=bool(config.value))
    return [os.getpid(), left.pid]


def leave_daemon(config: AnyConfig, ctx: StepContext) -> Any:
    """The classical double fork: the grandchild is an orphan with a session of its own."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            time.sleep(987)
        os._exit(0)
    os.wait()
    return [os.getpid(), int(os.read(read, 20))]


def leave_printer(config: AnyConfig, ctx: StepContext) -> Any:
    left = subprocess.Popen(["yes"])
    return [os.getpid(), left.pid]


def leave_zombie(config: AnyConfig, ctx: StepContext) -> int:
    """Not waited for, but ended: that harms nobody."""
    if os.fork() == 0:
        os._exit(0)
    time.sleep(0.05)
    return os.getpid()


def change_handler(config: AnyConfig, ctx: StepContext) -> int:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return os.getpid()


def family(config: AnyConfig, ctx: StepContext) -> None:
    """Writes its own pid and those of its descendants to the file config.value, then works on in C."""
    own, below = leave_process(AnyConfig(value=True), ctx)
    _, daemon = leave_daemon(AnyConfig(), ctx)
    target = Path(config.value)
    target.with_suffix(".tmp").write_text(f"{own} {below} {daemon}")
    target.with_suffix(".tmp").rename(target)
    block_in_c(config, ctx)


def fork_and_return(config: AnyConfig, ctx: StepContext) -> str:
    """Both processes come out of the body."""
    os.fork()
    return "who"


def fork_and_tell(config: AnyConfig, ctx: StepContext) -> int:
    """A forked process that uses the step context is refused."""
    child = os.fork()
    if child == 0:
        try:
            ctx.partial("not mine to tell")
        except RuntimeError:
            os._exit(9)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# ------------------------------------------------------------------ that write on the runner's own pipe


def write_on_pipe(config: AnyConfig, ctx: StepContext) -> None:
    for descriptor in _sockets():
        os.write(descriptor, config.value.encode("latin-1"))
    time.sleep(60)


def close_pipe(config: AnyConfig, ctx: StepContext) -> None:
    for descriptor in _sockets():
        os.close(descriptor)
    time.sleep(60)


def _sockets() -> list[int]:
    found = Path("/proc/self/fd").iterdir()
    return [int(each.name) for each in found if _target(each).startswith("socket:")]


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


BODIES: list[Body] = [
    sleep,
    sleep_and_tidy,
    spin,
    block_in_c,
    ignore_term,
    swallow_term,
    print_for_ever,
    print_much,
    print_texts,
    show_signs,
    leave_thread,
    leave_process,
    leave_daemon,
    leave_printer,
    leave_zombie,
    change_handler,
    family,
    fork_and_return,
    fork_and_tell,
    write_on_pipe,
    close_pipe,
]
globals().update({f"{body.__name__.upper()}_SPEC": kind(body) for body in BODIES})
