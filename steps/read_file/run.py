import base64
import csv
import hashlib
import io
import json
from pathlib import PurePosixPath
from typing import Any

from steps import storage
from steps.base import StepContext, StepFailure
from steps.read_file.spec import ReadFileConfig

BY_ENDING = {".json": "json", ".csv": "csv"}


def run(config: ReadFileConfig, ctx: StepContext) -> dict[str, Any]:
    content = storage.read(ctx.storage_root, config.path, limit_bytes=int(config.size_limit_mb * storage.MB))
    return {
        "path": config.path,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "content_type": storage.content_type(config.path),
        "content": _decode(content, config),
    }


def _decode(content: bytes, config: ReadFileConfig) -> Any:
    kind: str = config.read_as
    if kind == "auto":
        kind = BY_ENDING.get(PurePosixPath(config.path).suffix.lower()) or ("text" if _is_text(content) else "base64")
    if kind == "base64":
        return base64.b64encode(content).decode("ascii")
    text = _text(content, config.path)
    if kind == "json":
        return _json(text, config.path)
    return _rows(text, config.path) if kind == "csv" else text


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _text(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")  # drops the byte order mark that spreadsheets write
    except UnicodeDecodeError as problem:
        raise StepFailure(
            "not_text", f"'{path}' is not UTF-8 text (byte {problem.start}). Read it as base64."
        ) from problem


def _json(text: str, path: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise StepFailure("bad_json", f"'{path}' is not JSON: {problem}") from problem


def _rows(text: str, path: str) -> list[dict[str, str]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        rows = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise StepFailure(
                    "bad_csv", f"'{path}' line {reader.line_num}: {len(row)} values for {len(header)} columns."
                )
            rows.append(dict(zip(header, row, strict=True)))
    except csv.Error as problem:
        raise StepFailure("bad_csv", f"'{path}' line {reader.line_num}: {problem}") from problem
    return rows
