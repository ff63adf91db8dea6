"""Step kinds that misbehave in every way that the runner must survive. Registered by PAWL_EXTRA_STEPS=tests.kinds.

Each body is one function; `kind(...)` beside it makes its StepSpec. `value` is whatever that body needs.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steps.base import Body, Delivery, Done, FanOut, Port, StepConfig, StepContext, StepFailure, StepSpec, WaitFor

libc = ctypes.PyDLL(None)  # PyDLL, not CDLL: a call holds the GIL, so that no Python code of the process runs meanwhile


class AnyConfig(StepConfig):
    value: Any = None


class NumberConfig(StepConfig):
    number: int
    text: str = ""


def kind(
    body: Callable[[Any, StepContext], Any],
    *,
    config: type[StepConfig] = AnyConfig,
    ports: tuple[str, ...] = ("out",),
    delivery: Delivery = Delivery.PURE,
) -> StepSpec:
    """The spec of the kind `test_<name of the body>`."""
    return StepSpec(
        kind=f"test_{body.__name__}",
        title=body.__name__,
        group="Code",
        icon="bug",
        summary="Misbehaves for a test.",
        config=config,
        delivery=delivery,
        body=f"tests.kinds:{body.__name__}",
        ports=lambda _: [Port(name) for name in ports],
    )


# ------------------------------------------------------------------ that behave


def echo(config: AnyConfig, ctx: StepContext) -> Any:
    return config.value


def number(config: NumberConfig, ctx: StepContext) -> Any:
    return config.number


def port(config: AnyConfig, ctx: StepContext) -> Done:
    return Done("through", port=config.value)


def timer(config: AnyConfig, ctx: StepContext) -> WaitFor:
    return WaitFor("timer", seconds=config.value, output={"slept": True})


def approval(config: AnyConfig, ctx: StepContext) -> WaitFor:
    return WaitFor("approval", data={"question": config.value})


def fan_out(config: AnyConfig, ctx: StepContext) -> FanOut:
    return FanOut(config.value, window=3, on_item_failure="continue")


def told_context(config: AnyConfig, ctx: StepContext) -> Any:
    return {
        "run_id": ctx.run_id,
        "path": ctx.path,
        "attempt": ctx.attempt,
        "fence": ctx.fence,
        "key": ctx.idempotency_key,
        "storage": str(ctx.storage_root),
        "allow": sorted(ctx.outbound_allow),
        "partials": list(ctx.previous_partials),
    }


def use_connection(config: AnyConfig, ctx: StepContext) -> Any:
    """Puts a credential everywhere that a step can put it."""
    settings = dict(ctx.connection("service"))
    ctx.log(f"signing in with {settings['password']}")
    sys.stdout.write(settings["password"][:5])
    sys.stdout.flush()
    time.sleep(0.5)  # longer than the log is held back: the two halves leave in different chunks
    sys.stdout.write(settings["password"][5:] + "\n")
    ctx.progress(1, 2, f"as {settings['password']}")
    ctx.partial({"as": settings["password"]})
    if config.value == "fail":
        raise StepFailure("refused", f"no {settings['password']}", data={"header": settings["password"]})
    if config.value == "raise":
        raise ValueError(settings["password"])
    return {"settings": settings, "pid": os.getpid()}


def work_in_steps(config: AnyConfig, ctx: StepContext) -> Any:
    """Three kept results; fails after the second one on its first attempt."""
    done = [ctx.once(name, lambda name=name: _note(config.value, name)) for name in ("a", "b")]
    ctx.partial({"rows": 2})
    if ctx.attempt == 1:
        raise StepFailure("not_yet", "come again", retryable=True)
    return [*done, ctx.once("c", lambda: _note(config.value, "c")), list(ctx.previous_partials)]


def _note(file: str, name: str) -> tuple[str, int]:
    with Path(file).open("a") as log:
        log.write(name)
    return (name, len(name))


def progress(config: AnyConfig, ctx: StepContext) -> None:
    for done in range(1, config.value + 1):
        ctx.progress(done, config.value, f"row {done}")


def workdir(config: AnyConfig, ctx: StepContext) -> str:
    (ctx.workdir / "file").write_text("kept only while the attempt lasts")
    assert [each.name for each in ctx.workdir.iterdir()] == ["file"]
    if config.value:
        time.sleep(60)
    return str(ctx.workdir)


def environment(config: AnyConfig, ctx: StepContext) -> Any:
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return {
        "names": sorted(os.environ),
        "cwd": str(Path.cwd()),
        "descriptors": sorted(str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.exists()),
        "session": os.getsid(0),
        "group": os.getpgid(0),
        "pid": os.getpid(),
        "no_new_privileges": status["NoNewPrivs"],
        "modules": sorted(name for name in sys.modules if name.split(".")[0] in ("django", "psycopg", "redis")),
    }


# ------------------------------------------------------------------ that give what is not theirs to give


def odd_output(config: AnyConfig, ctx: StepContext) -> Any:
    return ODD[config.value]


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("even this")


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def _circle() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


ODD: dict[str, Any] = {
    "nan": {"rows": [1, {"total": float("nan")}]},
    "infinity": [float("-inf")],
    "number_key": {"table": {1: "one"}},
    "none_key": {None: 1},
    "set": {"tags": {1, 2}},
    "bytes": {"file": b"\0"},
    "object": [object()],
    "deep": _deep(201),
    "circle": _circle(),
    "huge_number": [10**5000],
    "function": len,
}


def big_output(config: AnyConfig, ctx: StepContext) -> str:
    return config.value["character"] * config.value["count"]


def failure(config: AnyConfig, ctx: StepContext) -> None:
    raise StepFailure("busy", "try later", retryable=True, retry_after_s=7.5, data={"status": 429})


def failure_with_odd_data(config: AnyConfig, ctx: StepContext) -> None:
    raise StepFailure("odd", "details that are no JSON", data={"when": object()})


def raises(config: AnyConfig, ctx: StepContext) -> None:
    raise KeyError("missing")


def raises_unreadable(config: AnyConfig, ctx: StepContext) -> None:
    raise Unreadable


def exits(config: AnyConfig, ctx: StepContext) -> None:
    sys.exit(3)


def interrupts(config: AnyConfig, ctx: StepContext) -> None:
    raise KeyboardInterrupt


def exits_hard(config: AnyConfig, ctx: StepContext) -> None:
    os._exit(3)


def segfault(config: AnyConfig, ctx: StepContext) -> None:
    ctypes.string_at(0)


def kill_self(config: AnyConfig, ctx: StepContext) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hog_memory(config: AnyConfig, ctx: StepContext) -> None:
    held = []
    while True:
        held.append(bytearray(16 * 1024 * 1024))


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


NUMBER_SPEC = kind(number, config=NumberConfig)
PORT_SPEC = kind(port, ports=("left", "right"))
USE_CONNECTION_SPEC = kind(use_connection, delivery=Delivery.KEYED)
BODIES: list[Body] = [
    echo, timer, approval, fan_out, told_context, work_in_steps, progress, workdir, environment, odd_output, big_output,
    failure, failure_with_odd_data, raises, raises_unreadable, exits, interrupts, exits_hard, segfault, kill_self,
    hog_memory, sleep, sleep_and_tidy, spin, block_in_c, ignore_term, swallow_term, print_for_ever, print_much,
    print_texts, leave_thread, leave_process, leave_daemon, leave_printer, leave_zombie, change_handler, family,
    fork_and_return, fork_and_tell, write_on_pipe, close_pipe,
]  # fmt: skip
globals().update({f"{body.__name__.upper()}_SPEC": kind(body) for body in BODIES})
