"""Keyset pages: an opaque cursor names the last row of a page, so that a page never shifts while rows arrive."""

import base64
import json
from typing import Any

from kit.errors import BadInput


class BadCursor(BadInput):
    code = "bad_cursor"


def encode_cursor(*values: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def decode_cursor(text: str, *, length: int) -> list[Any]:
    """The values of a cursor. Raises BadCursor where it was not made by `encode_cursor` with `length` values."""
    try:
        values = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError as error:
        raise BadCursor("This page's cursor cannot be read. Start again from the first page.") from error
    if not isinstance(values, list) or len(values) != length:
        raise BadCursor("This page's cursor belongs to another list. Start again from the first page.")
    return values
