"""Answers what code in the sandbox asks of `pawl`. What comes is somebody's code speaking: it is checked, and bounded.

What it may do is what the body of any kind may do with its own step run, and nothing else: keep values and positions,
show progress, make a file.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from steps.base import StepContext, StepFailure

LINE_LIMIT_BYTES = 32 * 1024 * 1024  # of one question
VALUE_LIMIT_BYTES = 1024 * 1024  # of one kept value
KEPT_LIMIT_BYTES = 16 * 1024 * 1024  # of all that an attempt keeps
MOST_KEPT = 10_000
MOST_CURSORS = 100
MOST_ARTIFACTS = 100
ARTIFACT_LIMIT_BYTES = 16 * 1024 * 1024


class _Nothing(Exception):
    """There is no such value."""


class Keeper:
    """Of one attempt."""

    def __init__(self, ctx: StepContext) -> None:
        self._ctx = ctx
        self._bytes = self._kept = self._artifacts = 0
        self._cursors: set[str] = set()
        self._answers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "kept": self._find, "keep": self._keep, "cursor": self._cursor, "partial": self._partial,
            "partials": lambda asked: list(ctx.previous_partials), "artifact": self._artifact,
        }  # fmt: skip

    def hear(self, asked: dict[str, Any], *, is_over: bool = False) -> bytes | None:
        """The answer, as it goes back; None where the code waits for none. Raises StepFailure where it cannot be told
        what is wrong, and so must end. `is_over`: the result is there, and only a thread that was left still asks.
        """
        what = asked.get("ask")
        if what in ("move", "progress"):
            if not is_over:
                (self._move if what == "move" else self._progress)(asked)
            return None
        if is_over:
            return _line({"refused": {"code": "too_late", "message": "The step has its result already."}})
        answer = self._answers.get(what) if isinstance(what, str) else None
        if answer is None:
            raise garbled()
        try:
            return _line({"value": answer(asked)})
        except StepFailure as failure:
            return _line({"refused": {"code": failure.code, "message": failure.message}})

    # ------------------------------------------------------------------ values
    def _find(self, asked: dict[str, Any]) -> list[Any]:
        try:
            return [self._ctx.once(_text(asked, "key"), _nothing)]
        except _Nothing:
            return []

    def _keep(self, asked: dict[str, Any]) -> Any:
        value = self._count(asked)
        return self._ctx.once(_text(asked, "key"), lambda: value)

    def _partial(self, asked: dict[str, Any]) -> None:
        self._ctx.partial(self._count(asked))

    def _count(self, asked: dict[str, Any]) -> Any:
        value = asked.get("value")
        size = len(json.dumps(value))
        if size > VALUE_LIMIT_BYTES:
            raise _too_much(f"A kept value has {size:,} bytes of JSON; at most {VALUE_LIMIT_BYTES:,} are taken.")
        if self._bytes + size > KEPT_LIMIT_BYTES or self._kept >= MOST_KEPT:
            raise _too_much(
                f"An attempt keeps at most {MOST_KEPT:,} values of {KEPT_LIMIT_BYTES // 1024**2} MB together. Keep"
                " where it stands (a cursor) instead of everything, or split the work with a map."
            )
        self._bytes += size
        self._kept += 1
        return value

    # ------------------------------------------------------------------ positions and progress
    def _cursor(self, asked: dict[str, Any]) -> Any:
        name = _text(asked, "name")
        if name not in self._cursors and len(self._cursors) >= MOST_CURSORS:
            raise _too_much(f"A step has at most {MOST_CURSORS} cursors.")
        self._cursors.add(name)
        return self._ctx.cursor(name, asked.get("start")).value

    def _move(self, asked: dict[str, Any]) -> None:
        name = _text(asked, "name")
        if name not in self._cursors:
            raise garbled()
        self._ctx.cursor(name).move(asked.get("value"))

    def _progress(self, asked: dict[str, Any]) -> None:
        done, total = _number(asked, "done"), asked.get("total")
        self._ctx.progress(done, None if total is None else _number(asked, "total"), _text(asked, "text"))

    # ------------------------------------------------------------------ files
    def _artifact(self, asked: dict[str, Any]) -> dict[str, Any]:
        name, media_type = _text(asked, "name"), asked.get("media_type")
        try:
            content = base64.b64decode(_text(asked, "data"), validate=True)
        except binascii.Error:
            raise garbled() from None
        if len(content) > ARTIFACT_LIMIT_BYTES or self._artifacts >= MOST_ARTIFACTS:
            most = f"{MOST_ARTIFACTS} files of {ARTIFACT_LIMIT_BYTES // 1024**2} MB each"
            raise _too_much(f"An attempt makes at most {most} out of a sandbox.")
        self._artifacts += 1
        place = self._ctx.workdir / f"artifact-{self._artifacts}"
        place.write_bytes(content)
        shown = PurePosixPath(name).name or "file"
        return self._ctx.artifact(place.name, shown, media_type if isinstance(media_type, str) else None)


def garbled() -> StepFailure:
    return StepFailure("python_error", "The code wrote over the sandbox's own pipe.")


def _nothing() -> Any:
    raise _Nothing


def _too_much(message: str) -> StepFailure:
    return StepFailure("kept_too_much", message)


def _text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise garbled()
    return value


def _number(asked: dict[str, Any], name: str) -> float:
    value = asked.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise garbled()
    return value


def _line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode("ascii") + b"\n"
