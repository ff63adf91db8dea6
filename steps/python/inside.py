"""The sandbox process: started as `python -I -S inside.py RESULT_FD`, one for each attempt, never reused.

Reads the job from standard input as one line of JSON, puts the walls up, runs the code, and writes lines of JSON to
RESULT_FD: what the code asks of `pawl` (asking.py; the answers come in by standard input), and at last
{"result": ...} | {"error": {code, message, line, traceback, retryable}} | {"refused": why}. What the code prints goes
to standard output.
"""

import importlib.util
import json
import linecache
import math
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

NAME = "<code>"
DEEPEST = 100
MOST_FRAMES = 30


class Failure(Exception):
    """Raised by fail() in the user's code."""

    def __init__(self, message: str, code: str, retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


def fail(message: str, code: str = "python_failed", retryable: bool = False) -> NoReturn:
    """In the user's code: end the step with an error in the author's words."""
    raise Failure(str(message), str(code)[:64], bool(retryable))


def load(name: str) -> ModuleType:
    """A module that lies beside us: `-I` keeps our own folder off the path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"{name}.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    answer_to = int(sys.argv[1])
    incoming = take_input()
    job = json.loads(incoming.readline())
    jail, asking = load("jail"), load("asking")
    try:
        jail.die_with_parent(job["parent"])
        jail.set_limits(cpu_s=job["cpu_s"], memory_bytes=job["memory_bytes"])
        jail.enclose(allow_weak=job["allow_weak"], below_bubblewrap=job["parent"] is None)
    except (OSError, ValueError) as problem:
        send(answer_to, {"refused": str(problem)})
        return
    line = asking.Line(to=answer_to, answers=incoming, failure=Failure)
    pawl = asking.Pawl(job["pawl"], line=line, check=check_json)
    answer = execute(job["code"], {"inputs": job["inputs"], "fail": fail, "pawl": pawl}, jail)
    with suppress(OSError, ValueError):  # the code closed it
        sys.stdout.flush()
    send(answer_to, answer)


def take_input() -> BinaryIO:
    """Standard input, for ourselves: what the code reads from it is at its end."""
    own = os.fdopen(os.dup(0), "rb")
    empty, end = os.pipe()
    os.close(end)
    os.dup2(empty, 0)
    os.close(empty)
    return own


def send(to: int, answer: dict[str, Any]) -> None:
    data = memoryview(json.dumps(answer, allow_nan=False).encode("ascii") + b"\n")
    while data:
        data = data[os.write(to, data) :]


def execute(code: str, given: dict[str, Any], jail: ModuleType) -> dict[str, Any]:
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, **given}
    try:
        exec(compile(code, NAME, "exec"), space)  # noqa: S102  # what this process is for
        function = space.get("main")
        result = function(given["inputs"]) if callable(function) else space.get("result")
        json.dumps(check_json(result, "result", 0), allow_nan=False)
        return {"result": result}
    except BaseException as problem:  # noqa: BLE001  # the code's own doing, SystemExit included
        jail.use_reserve()
        return {"error": describe(problem)}


def check_json(value: Any, path: str, depth: int) -> Any:
    """Names the place of what JSON cannot hold; json's own message names none."""
    if depth > DEEPEST:
        raise Failure(f"{path} is nested deeper than {DEEPEST} levels", "result_not_json", False)
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise Failure(f"{path} has the key {key!r}, which is not a text", "result_not_json", False)
            check_json(each, f"{path}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            check_json(each, f"{path}[{index}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Failure(f"{path} is {value}, which JSON cannot hold", "result_not_json", False)
    elif value is not None and not isinstance(value, str | int | float):
        raise Failure(f"{path} is a {type(value).__name__}, which JSON cannot hold", "result_not_json", False)
    return value


def describe(problem: BaseException) -> dict[str, Any]:
    """Type, message and line; of the traceback only the frames of the user's code."""
    if isinstance(problem, Failure):
        code, name = problem.code, str(problem)
    elif isinstance(problem, MemoryError):
        code, name = "out_of_memory", "the code needed more memory than its limit"
    else:
        code, name = "python_error", "".join(traceback.format_exception_only(problem)).strip().splitlines()[-1]
    walk = traceback.walk_tb(problem.__traceback__)
    frames = [each for each in traceback.StackSummary.extract(walk, limit=-MOST_FRAMES) if each.filename == NAME]
    line = frames[-1].lineno if frames else problem.lineno if isinstance(problem, SyntaxError) else None
    return {
        "code": code,
        "message": name[:2000],
        "line": line,
        "source": linecache.getline(NAME, line).strip()[:200] if line else "",
        "traceback": "".join(traceback.format_list(frames))[-8000:],
        "retryable": isinstance(problem, Failure) and problem.retryable,
    }


if __name__ == "__main__":
    main()
