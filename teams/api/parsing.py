"""Reading request bodies: JSON only, bounded in bytes and in depth."""

import json
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import BaseParser

from teams.api.errors import BodyTooLarge, MalformedJson

DEPTH_LIMIT = 100  # levels of lists and objects in a request


def body_too_large() -> BodyTooLarge:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return BodyTooLarge(f"The body of the request is larger than {limit} bytes. Send less.", limit_bytes=limit)


class StrictJSONParser(BaseParser):
    """UTF-8 JSON without NaN and infinity. Whole numbers stay exact, whatever their size."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: object = None) -> Any:
        raw = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        if len(raw) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise body_too_large()
        return read_json(raw)


def read_json(raw: bytes) -> Any:
    """Raises MalformedJson, saying where."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise _too_deep() from error
    except UnicodeDecodeError as error:
        raise MalformedJson(f"The body is not UTF-8 text: byte {error.start} cannot be read.") from error
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        raise MalformedJson(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", **where
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise MalformedJson(f"The body holds a value that cannot be read: {error}") from error
    if (raw.count(b"[") + raw.count(b"{")) > DEPTH_LIMIT and _is_deeper_than(value, DEPTH_LIMIT):
        raise _too_deep()
    return value


def _refuse_constant(name: str) -> Any:
    raise MalformedJson(f"{name} is not JSON. Use null or a text instead.")


def _too_deep() -> MalformedJson:
    return MalformedJson(f"The body is nested deeper than {DEPTH_LIMIT} levels.", limit=DEPTH_LIMIT)


def _is_deeper_than(value: Any, limit: int) -> bool:
    """Level by level, so that no depth can exhaust the stack."""
    level = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return any(isinstance(each, dict | list) for each in level)


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
