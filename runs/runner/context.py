"""What a body in the child may ask of Pawl. See steps.base.StepContext for the promises."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from runs.runner.frames import FrameType
from runs.runner.jobs import Task
from runs.runner.staging import named, stage
from runs.runner.values import NotJson, TooLarge, decode, encode, encode_checked
from steps.base import PreviousAttempt, StepFailure

PROGRESS_EVERY_S = 0.1
TEXT_CHARS = 500
KEY_CHARS = 200
CURSOR_BYTES = 64 * 1024
INCOMING = "incoming"


class Channel:
    """The child's end of the frame pipe, for one attempt. A process that a body forks may not use it."""

    def __init__(
        self,
        send: Callable[[FrameType, str], None],
        wait_for_ack: Callable[[], str],
        *,
        is_told: Callable[[], bool] = lambda: False,
    ) -> None:
        self._send = send
        self._wait_for_ack = wait_for_ack
        self.is_told = is_told  # whether the worker has told this process to end
        self._lock = Lock()  # a body may have threads
        self._pid = os.getpid()

    def tell(self, type_: FrameType, text: str) -> None:
        self._refuse_strangers()
        with self._lock:
            self._send(type_, text)

    def store(self, text: str) -> Any:
        """Returns when the worker has stored the checkpoint, with what it answers."""
        return self.ask(FrameType.CHECKPOINT, text)

    def ask(self, type_: FrameType, text: str) -> Any:
        self._refuse_strangers()
        with self._lock:
            self._send(type_, text)
            return decode(self._wait_for_ack())

    def _refuse_strangers(self) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError(
                "The step context works in the process that the body was called in, not in a forked one."
            )


class Context:
    """Implements steps.base.StepContext."""

    def __init__(self, task: Task, *, fence: int, channel: Channel, folder: Path) -> None:
        self.run_id = task.run_id
        self.path = task.path
        self.attempt = task.attempt
        self.fence = fence
        self.idempotency_key = task.idempotency_key
        self.run_input = task.scope.get("run", {}).get("input")
        self.storage_root = Path(task.storage_root)
        self.outbound_allow = frozenset(task.outbound_allow)
        self._task = task
        self._channel = channel
        self._folder = folder
        self._progress_at = 0.0
        self._new_partials = 0
        self._cursors: dict[str, _Cursor] = {}
        self.resource: Any = None

    @cached_property
    def workdir(self) -> Path:
        """Made when it is first asked for: most bodies need none."""
        self._folder.mkdir(parents=True)
        return self._folder

    @property
    def has_workdir(self) -> bool:
        return "workdir" in self.__dict__

    @property
    def cancelled(self) -> bool:
        return self._channel.is_told()

    @cached_property
    def previous(self) -> PreviousAttempt | None:
        if self._task.previous is None:
            return None
        number, outcome, error = self._task.previous
        kept = [(kind, key, value) for key, kind, value, attempt in self._task.checkpoints if attempt == number]
        return PreviousAttempt(
            number,
            outcome,
            error,
            once={key: value for kind, key, value in kept if kind == "once"},
            partials=[value for kind, _, value in kept if kind == "partial"],
            cursors={key: value for kind, key, value in kept if kind == "cursor"},
        )

    def tell_input(self, text: str) -> None:
        """The resolved settings, before the body begins: so an attempt that ends without an answer shows them, too."""
        self._channel.tell(FrameType.INPUT, text)

    def may_reuse(self) -> bool:
        """Whether the worker has found a result of the same input, which then is this attempt's."""
        return bool(self._channel.ask(FrameType.ASK, "null"))

    def log(self, text: str) -> None:
        print(text, flush=True)  # noqa: T201 - this process's output is the log

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """At most ten a second go out; the last one (done = total) always does."""
        now = time.monotonic()
        if now - self._progress_at < PROGRESS_EVERY_S and done != total:
            return
        self._progress_at = now
        self._channel.tell(
            FrameType.PROGRESS, _checked((done, total, text[:TEXT_CHARS]), name="progress", limit_bytes=10_000)
        )

    @cached_property
    def _stored(self) -> dict[str, Any]:
        return self._kept("once")

    def _kept(self, wanted: str) -> dict[str, Any]:
        return {key: value for key, kind, value, _ in self._task.checkpoints if kind == wanted}

    def once(self, key: str, function: Callable[[], Any]) -> Any:
        if key in self._stored:
            return self._stored[key]
        value = self._store("once", key, function())
        self._stored[key] = value
        return value

    @cached_property
    def previous_partials(self) -> Sequence[Any]:
        return [value for _, kind, value, _ in self._task.checkpoints if kind == "partial"]

    def partial(self, value: Any) -> None:
        self._new_partials += 1
        self._store("partial", str(len(self.previous_partials) + self._new_partials), value)

    def cursor(self, name: str = "position", start: Any = None) -> "_Cursor":
        if name not in self._cursors:
            _check_key(name)
            self._cursors[name] = _Cursor(self._channel, name, self._kept("cursor").get(name, start))
        return self._cursors[name]

    def act(self, name: str, function: Callable[[], Any], **detail: Any) -> Any:
        earlier = self._kept("act").get(name, {})
        if earlier.get("state") == "done" and earlier["idempotency_key"] == self.idempotency_key:
            return earlier["result"]
        told = {"idempotency_key": self.idempotency_key, "detail": detail}
        self._store("act", name, {"state": "intended", **told})
        try:
            result = function()
        except Exception as problem:  # not what ends the process: then nobody knows
            error = str(problem)[:TEXT_CHARS] if _is_storable(str(problem)) else ""
            self._store("act", name, {"state": "failed", **told, "error": f"{type(problem).__name__}: {error}"})
            raise
        kept: dict[str, Any] = self._store("act", name, {"state": "done", **told, "result": result})
        return kept["result"]

    def artifact(self, path: Path | str, name: str | None = None, media_type: str | None = None) -> dict[str, Any]:
        source = self._folder / path  # an absolute path stays what it is
        shown, kind = named(name or source.name, media_type)
        allowed = (self.storage_root, *([self.workdir] if self.has_workdir else []))
        root = Path(self._task.artifact_root) / INCOMING
        file = stage(source, root, allowed=allowed, limit_bytes=self._task.artifact_limit_bytes)
        text = encode({"file": file, "media_type": kind})
        kept: dict[str, Any] = self._channel.store(f'["artifact",{encode(shown)},{text}]')
        if "refused" in kept:
            raise StepFailure("artifact_refused", str(kept["refused"]))
        return kept

    def _store(self, kind: str, key: str, value: Any) -> Any:
        """The value as the next attempt will read it, so that both see the same (a tuple comes back as a list)."""
        _check_key(key)
        text = _checked(value, name=f"checkpoint {key}", limit_bytes=self._task.output_limit_bytes)
        self._channel.store(f"[{encode(kind)},{encode(key)},{text}]")
        return decode(text)

    def connection(self, name: str) -> Mapping[str, Any]:
        try:
            return self._task.connections[name]
        except KeyError as problem:
            raise StepFailure(
                "connection_missing",
                f"There is no connection '{name}' in this workspace. Make it under Connections, or choose another.",
                data={"connection": name},
            ) from problem


class _Cursor:
    """Implements steps.base.Cursor."""

    def __init__(self, channel: Channel, name: str, value: Any) -> None:
        self._channel = channel
        self._name = name
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    def move(self, value: Any) -> None:
        text = _checked(value, name=f"cursor {self._name}", limit_bytes=CURSOR_BYTES)
        self._channel.tell(FrameType.CURSOR, f"[{encode(self._name)},{text}]")
        self._value = value


def _check_key(key: str) -> None:
    if not 0 < len(key) <= KEY_CHARS or not _is_storable(key):
        message = f"A checkpoint's key is a text of 1 to {KEY_CHARS} characters that can be stored, not {key!r:.80}."
        raise StepFailure("bad_checkpoint", message)


def _is_storable(text: str) -> bool:
    """PostgreSQL's text takes no NUL, and UTF-8 no half of a surrogate pair."""
    return not any(sign == "\x00" or "\ud800" <= sign <= "\udfff" for sign in text)


def _checked(value: Any, *, name: str, limit_bytes: int) -> str:
    try:
        return encode_checked(value, name=name, limit_bytes=limit_bytes)
    except NotJson as problem:
        raise StepFailure("not_json", f"{problem}.", data={"path": problem.path}) from problem
    except TooLarge as problem:
        raise StepFailure(
            "checkpoint_too_large",
            f"{name} has {problem.size_bytes} bytes of JSON; the limit is {problem.limit_bytes}.",
        ) from problem
