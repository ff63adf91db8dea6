"""Step kinds that misbehave in every way that the runner must survive. Registered by PAWL_EXTRA_STEPS=tests.kinds.

Each body is one function; `kind(...)` beside it makes its StepSpec. `value` is whatever that body needs.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from steps.base import Body, Delivery, Done, FanOut, Port, StepConfig, StepContext, StepFailure, StepSpec, WaitFor


class AnyConfig(StepConfig):
    value: Any = None


class NumberConfig(StepConfig):
    number: int
    text: str = ""


def kind(
    body: Body,
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
        body=f"{body.__module__}:{body.__name__}",
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


def run_input(config: AnyConfig, ctx: StepContext) -> Any:
    return ctx.run_input


def spin_for(config: AnyConfig, ctx: StepContext) -> None:
    ends_at = time.process_time() + config.value
    while time.process_time() < ends_at:
        pass


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


def deep(levels: int) -> list[Any]:
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
    "deep": deep(201),
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


def raises_at_length(config: AnyConfig, ctx: StepContext) -> None:
    raise ValueError("x" * config.value)


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


NUMBER_SPEC = kind(number, config=NumberConfig)
PORT_SPEC = kind(port, ports=("left", "right"))
USE_CONNECTION_SPEC = kind(use_connection, delivery=Delivery.KEYED)
BODIES: list[Body] = [
    run_input,
    spin_for,
    echo,
    timer,
    approval,
    fan_out,
    told_context,
    work_in_steps,
    progress,
    workdir,
    environment,
    odd_output,
    big_output,
    failure,
    failure_with_odd_data,
    raises,
    raises_at_length,
    raises_unreadable,
    exits,
    interrupts,
    exits_hard,
    segfault,
    kill_self,
    hog_memory,
]
globals().update({f"{body.__name__.upper()}_SPEC": kind(body) for body in BODIES})
