"""`pawl`, inside the sandbox: what the user's code keeps for its next attempt, and shows while it runs.

One JSON object a line. What the code asks goes out by the pipe that the result takes; answers come in by the pipe that
the job came by. The other end trusts nothing of it (steps/python/keeping.py). Standard library only, as its neighbours.
"""

import base64
import json
import os
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

Check = Callable[[Any, str, int], Any]  # raises where JSON cannot hold the value, naming the place


class Line:
    """To the process that started the sandbox. The code may have threads."""

    def __init__(self, *, to: int, answers: BinaryIO, failure: Callable[[str, str, bool], Exception]) -> None:
        self._to = to
        self._answers = answers
        self._failure = failure
        self._lock = threading.Lock()

    def tell(self, **message: Any) -> None:
        with self._lock:
            self._send(message)

    def ask(self, **message: Any) -> Any:
        with self._lock:
            self._send(message)
            line = self._answers.readline()
        if not line:
            os._exit(1)  # nobody is there any more
        answer = json.loads(line)
        if "refused" in answer:
            raise self._failure(answer["refused"]["message"], answer["refused"]["code"], False)
        return answer["value"]

    def _send(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message, allow_nan=False).encode("ascii") + b"\n")
        while data:
            data = data[os.write(self._to, data) :]


class Cursor:
    """How far the code has come. The next attempt finds the last position that was told."""

    def __init__(self, line: Line, name: str, value: Any, *, check: Check) -> None:
        self._line = line
        self._name = name
        self._check = check
        self.value = value

    def move(self, value: Any) -> None:
        """Waits for nobody. Stored about once a second, and when the attempt ends, however it ends."""
        self._check(value, f"pawl.cursor({self._name!r})", 0)
        self._line.tell(ask="move", name=self._name, value=value)
        self.value = value


class Pawl:
    """`attempt` counts from 1. `previous`: how the one before ended, {number, outcome, error}; None in the first."""

    def __init__(self, job: dict[str, Any], *, line: Line, check: Check) -> None:
        self.attempt: int = job["attempt"]
        self.previous: dict[str, Any] | None = job["previous"]
        self.idempotency_key: str = job["idempotency_key"]
        self._line = line
        self._check = check

    def once(self, key: str, function: Callable[[], Any]) -> Any:
        """What an earlier attempt kept under this key; else what the function gives, kept before it is answered."""
        found = self._line.ask(ask="kept", key=key)
        if found:
            return found[0]
        value = self._check(function(), f"pawl.once({key!r})", 0)
        return self._line.ask(ask="keep", key=key, value=value)

    def cursor(self, name: str = "position", start: Any = None) -> Cursor:
        self._check(start, "start", 0)
        found = self._line.ask(ask="cursor", name=name, start=start)
        return Cursor(self._line, name, found, check=self._check)

    def partial(self, value: Any) -> None:
        """Appends to what is shown as kept partial output."""
        self._check(value, "pawl.partial", 0)
        self._line.ask(ask="partial", value=value)

    @property
    def partials(self) -> list[Any]:
        """What earlier attempts appended."""
        found: list[Any] = self._line.ask(ask="partials")
        return found

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self._line.tell(ask="progress", done=float(done), total=None if total is None else float(total), text=str(text))

    def artifact(self, name: str, content: str | bytes, media_type: str | None = None) -> dict[str, Any]:
        """A file that people can download: {name, media_type, size, sha256}."""
        data = content.encode("utf-8") if isinstance(content, str) else bytes(content)
        text = base64.b64encode(data).decode("ascii")
        kept: dict[str, Any] = self._line.ask(ask="artifact", name=str(name), data=text, media_type=media_type)
        return kept
