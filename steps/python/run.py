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
from functools import cached_property
from pathlib import Path
from typing import Any

from steps.base import StepContext, StepFailure
from steps.python import outer
from steps.python.keeping import LINE_LIMIT_BYTES, Keeper, garbled
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
        "pawl": {"attempt": ctx.attempt, "previous": _previous(ctx), "idempotency_key": ctx.idempotency_key},
    }
    with _sandbox(ctx, program=program) as (process, result_end):
        told = _Told(bytearray(json.dumps(job).encode("ascii") + b"\n"), ctx)
        in_time = _converse(process, result_end, told, deadline=time.monotonic() + config.time_limit_s)
        if in_time:
            process.wait()
    told.end_log()
    if not in_time:
        raise StepFailure("timed_out", f"The code ran longer than {config.time_limit_s:g} s.", retryable=True)
    return _result(told, process.returncode, config)


def _previous(ctx: StepContext) -> dict[str, Any] | None:
    before = ctx.previous
    return None if before is None else {"number": before.number, "outcome": before.outcome, "error": before.error}


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

    outgoing: bytearray
    ctx: StepContext
    result: dict[str, Any] | None = None
    heard: bytearray = field(default_factory=bytearray)  # a line that has not ended
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

    @cached_property
    def keeper(self) -> Keeper:
        return Keeper(self.ctx)

    def take(self, chunk: bytes) -> None:
        """What comes by the sandbox's own pipe: questions, line by line, and at last the result."""
        self.heard += chunk
        *lines, rest = bytes(self.heard).split(b"\n") if b"\n" in chunk else [bytes(self.heard)]
        self.heard = bytearray(rest)
        for line in lines:
            self._take_line(line)
        if len(self.heard) > LINE_LIMIT_BYTES:
            raise garbled()

    def end_result(self) -> None:
        if self.heard:
            raise garbled()

    def _take_line(self, line: bytes) -> None:
        told = _read(line)
        if "ask" in told:
            self.outgoing += self.keeper.hear(told, is_over=self.result is not None) or b""
        elif self.result is not None:
            raise garbled()
        elif len(line) > RESULT_LIMIT_BYTES:
            raise StepFailure("result_too_large", f"The result is larger than {RESULT_LIMIT_BYTES // 1024 // 1024} MB.")
        else:
            self.result = told

    def end_log(self) -> None:
        if self.line:
            self.ctx.log(bytes(self.line).decode("utf-8", "replace"))
            self.line.clear()


def _converse(process: subprocess.Popen[bytes], result_end: int, told: _Told, *, deadline: float) -> bool:
    """Writes the job and answers, reads prints, questions and the result, all without blocking. False: out of time."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise StepFailure("sandbox_failed", "The sandbox has no pipes.", retryable=True)
    with selectors.DefaultSelector() as selector:
        os.set_blocking(stdin.fileno(), False)
        selector.register(stdin, selectors.EVENT_WRITE, "in")
        selector.register(stdout, selectors.EVENT_READ, "out")
        selector.register(result_end, selectors.EVENT_READ, "result")
        while {key.data for key in selector.get_map().values()} & {"out", "result"}:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in selector.select(left):
                if key.data == "in":
                    _feed(selector, stdin, told.outgoing)
                else:
                    _listen(selector, key, told)
            if told.outgoing and stdin not in selector.get_map():
                selector.register(stdin, selectors.EVENT_WRITE, "in")
    told.end_result()
    return True


def _feed(selector: selectors.BaseSelector, stdin: Any, data: bytearray) -> None:
    try:
        del data[: os.write(stdin.fileno(), data[:65536])]
    except BrokenPipeError:
        data.clear()  # it ended before it had read everything: the result says why
    if not data:
        selector.unregister(stdin)


def _listen(selector: selectors.BaseSelector, key: selectors.SelectorKey, told: _Told) -> None:
    chunk = os.read(key.fd, 65536)
    if not chunk:
        selector.unregister(key.fileobj)
    elif key.data == "out":
        told.hear(chunk)
    else:
        told.take(chunk)


def _read(line: bytes) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise garbled() from problem
    if not isinstance(told, dict):
        raise garbled()
    return told


def _result(told: _Told, returncode: int, config: PythonConfig) -> Any:
    answer = told.result
    if answer is None:
        raise _ended(returncode, config)
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
