"""JSON values as they are kept: small ones in their row, larger ones once, by the hash of their text."""

import hashlib
import json
from dataclasses import replace
from typing import Any

from kit.errors import BadInput
from runs.core.rows import Stored

INLINE_BYTES = 8 * 1024
PAYLOAD_GONE = "PW002"  # the SQLSTATE of pawl_hold_payloads

# A later sweep removes what nothing refers to. Touching keeps what is about to be referred to for a while; the
# statement that refers to it holds it for good, or fails with PAYLOAD_GONE and writes nothing (pawl_hold_payloads).
KEEP_PAYLOAD = """INSERT INTO runs_payload (hash, body, size, touched_at) VALUES (%s, %s, %s, statement_timestamp())
    ON CONFLICT (hash) DO UPDATE SET touched_at = statement_timestamp()"""
READ_PAYLOADS = "SELECT hash, body FROM runs_payload WHERE hash = ANY(%s)"


class NotJson(BadInput):
    code = "not_json"


# json.dumps makes one anew at each call.
_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def json_text(value: Any) -> str:
    """The value's JSON in ASCII: any string comes back equal, lone surrogates and NUL included. Refuses NaN and
    infinity.
    """
    try:
        return _encoder.encode(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise NotJson(f"This value cannot be kept as JSON: {error}.") from error


def stored(value: Any) -> tuple[Stored, str | None]:
    """How to keep a value, and the text to upload before the transaction that refers to it (None: it is inline)."""
    return stored_text(json_text(value))


def to_upload(text: str) -> Stored:
    """How JSON text (of json_text) is kept by a transition that uploads it where it is large."""
    where, body = stored_text(text)
    return replace(where, body=body)


def stored_text(text: str) -> tuple[Stored, str | None]:
    """The same for what is JSON text (of json_text) already."""
    if len(text) <= INLINE_BYTES:
        return Stored(text=text), None
    return Stored(ref=hashlib.sha256(text.encode()).digest()), text
