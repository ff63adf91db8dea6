"""Keyset pages: an opaque cursor names the last row of a page, so that a page never shifts while rows arrive."""

import base64
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

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


def typed_cursor(text: str, *kinds: type) -> list[Any]:
    """The values of a cursor, one of each kind (int, datetime, UUID), as a query takes them. Raises BadCursor."""
    values = decode_cursor(text, length=len(kinds))
    try:
        return [_READ[kind](value) for kind, value in zip(kinds, values, strict=True)]
    except (TypeError, ValueError, AttributeError) as error:
        raise BadCursor("This page's cursor belongs to another list. Start again from the first page.") from error


def _whole(value: Any) -> int:
    if type(value) is not int or abs(value) >= 2**63:
        raise ValueError("not a whole number that a column holds")
    return value


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a moment without its time zone")
    return moment


_READ: Mapping[type, Callable[[Any], Any]] = {int: _whole, datetime: _moment, UUID: UUID}
