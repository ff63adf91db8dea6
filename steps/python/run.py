"""Runs the code in a fresh sandbox process, never in the warm child, and never outlives the attempt."""

import json
import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steps.base import StepContext, StepFailure
from steps.python import outer
from steps.python.spec import PythonConfig

INSIDE = Path(__file__).with_name("inside.py")
RESULT_LIMIT_BYTES = 16 * 1024 * 1024
LOG_LIMIT_BYTES = 256 * 1024
WEAK = "PAWL_SANDBOX_WEAK"  # '1': run even where a wall is missing; for a machine on which only its owner writes code


def run(config: PythonConfig, ctx: StepContext) -> Any:
    program = outer.bubblewrap() if outer.is_needed() else None
    job = {
        "parent": os.getpid() if program is None else None,
        "code": config.code,
        "inputs": config.inputs,
        "cpu_s": math.ceil(config.time_limit_s) + 1,
        "memory_bytes": config.memory_mb * 1024 * 1024,
        "allow_weak": os.environ.get(WEAK) == "1",
    }
    with _sandbox(ctx, program=program) as (process, result_end):
        told = _Told(json.dumps(job).encode("ascii"), ctx)
        in_time = _converse(process, result_end, told, deadline=time.monotonic() + config.time_limit_s)
        if in_time:
            process.wait()
    told.end_log()
    if not in_time:
        raise StepFailure("timed_out", f"The code ran longer than {config.time_limit_s:g} s.", retryable=True)
    return _result(told, process.returncode, config)


@contextmanager
def _sandbox(ctx: StepContext, *, program: str | None) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    result_end, child_end = os.pipe()
    try:
        process = subprocess.Popen(
            outer.command(INSIDE, [str(child_end)], program=program),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(child_end,),
            env={"LC_ALL": "C.UTF-8", "TZ": "UTC"},
            cwd=ctx.workdir,
            start_new_session=True,
        )
    except OSError as problem:
        os.close(result_end)
        raise StepFailure("sandbox_failed", f"The sandbox cannot start: {problem}", retryable=True) from problem
    finally:
        os.close(child_end)
    try:
        yield process, result_end
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        os.close(result_end)


@dataclass
class _Told:
    """What goes to the sandbox and what has come back so far."""

    outgoing: bytes
    ctx: StepContext
    result: bytearray = field(default_factory=bytearray)
    logged: int = 0
    line: bytearray = field(default_factory=bytearray)

    def hear(self, chunk: bytes) -> None:
        """What the code prints goes to the log by whole lines, up to a limit; the rest is read and dropped."""
        room = max(0, LOG_LIMIT_BYTES - self.logged)
        if room == 0:
            return
        self.logged += len(chunk)
        self.line += chunk[:room]
        *lines, rest = bytes(self.line).split(b"\n")
        self.line = bytearray(rest)
        if lines:
            self.ctx.log(b"\n".join(lines).decode("utf-8", "replace"))
        if self.logged >= LOG_LIMIT_BYTES:
            self.end_log()
            self.ctx.log(f"[the rest of what the code printed is left out: over {LOG_LIMIT_BYTES // 1024} kB]")

    def end_log(self) -> None:
        if self.line:
            self.ctx.log(bytes(self.line).decode("utf-8", "replace"))
            self.line.clear()


def _converse(process: subprocess.Popen[bytes], result_end: int, told: _Told, *, deadline: float) -> bool:
    """Writes the job, reads prints and result, all without blocking. False: the time was over first."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise StepFailure("sandbox_failed", "The sandbox has no pipes.", retryable=True)
    with selectors.DefaultSelector() as selector:
        os.set_blocking(stdin.fileno(), False)
        selector.register(stdin, selectors.EVENT_WRITE, "in")
        selector.register(stdout, selectors.EVENT_READ, "out")
        selector.register(result_end, selectors.EVENT_READ, "result")
        sent = 0
        while {key.data for key in selector.get_map().values()} & {"out", "result"}:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in selector.select(left):
                if key.data == "in":
                    sent = _feed(selector, stdin, told.outgoing, sent=sent)
                else:
                    _listen(selector, key, told)
    return True


def _feed(selector: selectors.BaseSelector, stdin: Any, data: bytes, *, sent: int) -> int:
    try:
        sent += os.write(stdin.fileno(), data[sent : sent + 65536])
    except BrokenPipeError:
        sent = len(data)  # it ended before it had read everything: the result says why
    if sent >= len(data):
        selector.unregister(stdin)
        stdin.close()
    return sent


def _listen(selector: selectors.BaseSelector, key: selectors.SelectorKey, told: _Told) -> None:
    chunk = os.read(key.fd, 65536)
    if not chunk:
        selector.unregister(key.fileobj)
    elif key.data == "out":
        told.hear(chunk)
    else:
        told.result += chunk
        if len(told.result) > RESULT_LIMIT_BYTES:
            raise StepFailure("result_too_large", f"The result is larger than {RESULT_LIMIT_BYTES // 1024 // 1024} MB.")


def _result(told: _Told, returncode: int, config: PythonConfig) -> Any:
    if not told.result:
        raise _ended(returncode, config)
    try:
        answer = json.loads(told.result)
    except (ValueError, RecursionError) as problem:
        raise StepFailure("python_error", "The code wrote over the sandbox's own pipe.") from problem
    if "refused" in answer:
        raise StepFailure(
            "sandbox_refused",
            f"Python code cannot run here: {answer['refused']}. Whoever runs Pawl can mend that, or set {WEAK}=1 "
            "to run code without this wall.",
        )
    if "error" in answer:
        raise _error(answer["error"])
    return answer.get("result")


def _ended(returncode: int, config: PythonConfig) -> StepFailure:
    if returncode == -signal.SIGXCPU:
        return StepFailure("timed_out", f"The code used more than {config.time_limit_s:g} s of processor time.")
    how = signal.Signals(-returncode).name if returncode < 0 else f"exit status {returncode}"
    return StepFailure(
        "python_ended",
        f"The code ended its process ({how}) without a result. Memory limit: {config.memory_mb} MB.",
        data={"returncode": returncode},
    )


def _error(error: dict[str, Any]) -> StepFailure:
    place = f" (line {error['line']}: {error['source']})" if error.get("line") else ""
    data = {"line": error.get("line"), "traceback": error.get("traceback", "")}
    return StepFailure(error["code"], f"{error['message']}{place}", retryable=bool(error.get("retryable")), data=data)
