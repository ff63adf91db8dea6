import base64
import binascii
import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from steps import storage
from steps.base import StepContext, StepFailure
from steps.write_file.spec import WriteFileConfig


def run(config: WriteFileConfig, ctx: StepContext) -> dict[str, Any]:
    content = _encode(config)
    facts: dict[str, Any] = ctx.act("write", lambda: _write(config, ctx, content), path=config.path, size=len(content))
    return facts


def _write(config: WriteFileConfig, ctx: StepContext, content: bytes) -> dict[str, Any]:
    with storage.writing(ctx.storage_root, config.path, keep_existing=config.if_exists == "fail") as file:
        file.write(content)
    ctx.log(f"wrote {len(content)} bytes to {config.path}")
    return storage.facts(ctx.storage_root, config.path)


def _encode(config: WriteFileConfig) -> bytes:
    kind: str = config.write_as
    if kind == "auto":
        kind = "text" if isinstance(config.content, str) else "json"
    if kind == "json":
        return as_json(config.content)
    if kind == "csv":
        return _csv(config.content)
    if not isinstance(config.content, str):
        raise StepFailure("bad_content", f"To write {kind}, the content must be a text; it is {_name(config.content)}.")
    return _bytes(config.content) if kind == "base64" else as_utf8(config.content)


def as_json(value: Any) -> bytes:
    """JSON as files get it: readable, with a line end. Lone surrogates stay as escapes."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    except ValueError as problem:
        raise StepFailure("bad_content", f"The content cannot be written as JSON: {problem}") from problem
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, indent=2).encode("ascii") + b"\n"


def as_utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise StepFailure(
            "bad_content", f"Character {problem.start} of the text is half of a pair; UTF-8 has no room for it."
        ) from problem


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise StepFailure("bad_content", f"The content is not base64: {problem}") from problem


def _csv(rows: Any) -> bytes:
    if not isinstance(rows, list) or not all(isinstance(row, dict | list) for row in rows):
        raise StepFailure("bad_content", "To write csv, the content must be a list of objects or a list of lists.")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    columns = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
    if columns:
        writer.writerow(columns)
    for row in rows:
        cells: Sequence[Any] = [row.get(column) for column in columns] if isinstance(row, dict) else row
        writer.writerow([_cell(cell) for cell in cells])
    return as_utf8(text.getvalue())


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value


def _name(value: Any) -> str:
    return {dict: "an object", list: "a list", type(None): "empty"}.get(type(value), f"a {type(value).__name__}")
