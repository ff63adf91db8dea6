"""What a response's body becomes: a JSON value, a text, or a file in the storage."""

import codecs
import hashlib
import json
from collections.abc import Iterable
from email.message import Message
from mimetypes import guess_extension
from typing import Any

from steps import storage
from steps.base import StepContext, StepFailure
from steps.http_request.masked import copy_masked
from steps.http_request.spec import HttpRequestConfig
from steps.outbound import Answer

EXCERPT_BYTES = 2000
TEXTUAL = frozenset(
    {"application/xml", "application/javascript", "application/x-www-form-urlencoded", "application/yaml"}
)


def content(
    answer: Answer, config: HttpRequestConfig, ctx: StepContext, *, secrets: Iterable[str] = ()
) -> dict[str, Any]:
    """{body, file}: one of both is null. `secrets` are masked in a file."""
    kind: str = config.response_type
    media_type, charset = _media_type(answer)
    if kind == "auto":
        kind = "file" if config.save_to else _kind_of(media_type, empty=answer.size == 0)
    if kind == "file":
        return {"body": None, "file": _save(answer, config, ctx, secrets=secrets)}
    raw = answer.body.read()
    if kind == "json":
        return {"body": _json(raw, answer) if raw.strip() else None, "file": None}
    return {"body": raw.decode(charset, "replace"), "file": None}


def excerpt(answer: Answer) -> str:
    """The begin of the body for an error message: one line of readable text, or nothing."""
    media_type, charset = _media_type(answer)
    if _kind_of(media_type, empty=False) == "file":
        return ""
    return " ".join(answer.body.read(EXCERPT_BYTES).decode(charset, "replace").split())


def _media_type(answer: Answer) -> tuple[str, str]:
    message = Message()
    message["content-type"] = answer.headers.get("content-type", "")
    charset = message.get_content_charset("utf-8")
    try:
        codecs.lookup(charset).decode(b"")
    except (LookupError, ValueError, TypeError):
        charset = "utf-8"
    return (message.get_content_type() if answer.headers.get("content-type") else "", charset)


def _kind_of(media_type: str, *, empty: bool) -> str:
    if media_type == "application/json" or media_type.endswith("+json"):
        return "json"
    if empty or media_type.startswith("text/") or media_type in TEXTUAL or media_type.endswith("+xml"):
        return "text"
    return "file"


def _json(raw: bytes, answer: Answer) -> Any:
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise StepFailure(
            "bad_response_json",
            f"The answer of {answer.url} is not JSON: {problem}. Choose 'text' as the response, or mend the address.",
            data={"status": answer.status, "body": raw[:EXCERPT_BYTES].decode("utf-8", "replace")},
        ) from problem


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _save(answer: Answer, config: HttpRequestConfig, ctx: StepContext, *, secrets: Iterable[str]) -> dict[str, Any]:
    media_type, _ = _media_type(answer)
    path = config.save_to or _own_name(ctx, guess_extension(media_type) or ".bin")
    with storage.writing(ctx.storage_root, path) as file:
        copy_masked(answer.body, file, secrets=secrets, chunk_bytes=storage.CHUNK)
    return storage.facts(ctx.storage_root, path) | {"content_type": media_type or storage.content_type(path)}


def _own_name(ctx: StepContext, ending: str) -> str:
    """The same on every attempt, so that a repeat replaces the file instead of adding one."""
    name = hashlib.sha256(ctx.idempotency_key.encode()).hexdigest()[:16]
    return f"responses/{ctx.run_id}/{name}{ending}"
