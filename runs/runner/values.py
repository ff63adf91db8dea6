"""JSON values, exactly: what a body gives must come back equal, or be refused with the place named.

Python's encoder alone is too kind: it turns the key 1 into "1" and NaN into a word that no other parser reads.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

MAX_DEPTH = 200  # levels of lists and objects; PostgreSQL, browsers and our own recursive walks all take that
SHOWN_KEY_CHARS = 80


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


# json.dumps builds this encoder anew at each call, which costs as much as a small value. It refuses NaN, and looks for
# no circles: depth is checked before.
_chunks: Callable[[Any, int], tuple[str, ...]] = c_make_encoder(
    None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, False
)
_readable = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False, ensure_ascii=False)
_LEAVES = frozenset((str, int, float, bool, type(None)))


class NotJson(Exception):
    """`path` names the value ('output.rows[3].total'), `why` what is wrong with it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} {why}")
        self.path = path
        self.why = why


class TooLarge(Exception):
    """The value's JSON has `size_bytes`, more than `limit_bytes`."""

    def __init__(self, *, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"{size_bytes} bytes, more than {limit_bytes}")
        self.size_bytes = size_bytes
        self.limit_bytes = limit_bytes


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(parse_constant=_no_constant))["scan_once"]


def decode(text: str) -> Any:
    """The value of one JSON text without blanks around it. Raises ValueError."""
    try:
        value, end = _scan(text, 0)
    except StopIteration as problem:
        raise ValueError("empty JSON text") from problem
    if end != len(text):
        raise ValueError(f"{len(text) - end} characters after the JSON value")
    return value


def encode(value: Any) -> str:
    """ASCII only, so that lone surrogates and NUL travel as escapes. For values that are known to be JSON."""
    return "".join(_chunks(value, 0))


def encode_checked(value: Any, *, name: str, limit_bytes: int) -> str:
    """The value's JSON. Raises NotJson, or TooLarge above `limit_bytes` of UTF-8. A tuple counts as a list."""
    if type(value) not in _LEAVES:
        _check_containers(value, name=name)
    try:
        text = "".join(_chunks(value, 0))
    except (ValueError, TypeError, RecursionError) as problem:
        raise _explain(value, name=name) from problem
    if len(text) > limit_bytes:
        size = len(text) if "\\u" not in text else len(_readable.encode(value).encode("utf-8", "surrogatepass"))
        if size > limit_bytes:
            raise TooLarge(size_bytes=size, limit_bytes=limit_bytes)
    return text


def _check_containers(value: Any, *, name: str) -> None:
    """Keys and depth, level by level: the C encoder sees to the leaves. Lean, since every output passes here."""
    level: list[Any] = [value]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _explain(value, name=name)
        below: list[Any] = []
        for container in level:
            if isinstance(container, dict):
                for key, inner in container.items():
                    if type(key) is not str and not isinstance(key, str):
                        raise _explain(value, name=name)
                    if type(inner) not in _LEAVES:
                        below.append(inner)
            elif isinstance(container, (list, tuple)):
                below.extend([inner for inner in container if type(inner) not in _LEAVES])
        level = below


def _explain(value: Any, *, name: str) -> NotJson:
    """The first wrong value in reading order. Slow, and only ever walked after something was refused."""
    stack: list[Iterator[tuple[str, Any]]] = [iter([(name, value)])]
    while stack:
        for path, inner in stack[-1]:
            why = _fault(inner)
            if why is None and len(stack) > MAX_DEPTH and isinstance(inner, (dict, list, tuple)):
                why = f"lies deeper than {MAX_DEPTH} levels"
            if why:
                return NotJson(path, why)
            if isinstance(inner, (dict, list, tuple)):
                stack.append(_children(inner, path=path))
                break
        else:
            stack.pop()
    return NotJson(name, "cannot be written as JSON")


def _children(container: Any, *, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(container, dict):
        return ((f"{path}.{key[:SHOWN_KEY_CHARS]}", inner) for key, inner in container.items())
    return ((f"{path}[{index}]", inner) for index, inner in enumerate(container))


def _fault(value: Any) -> str | None:
    if value is None or isinstance(value, (str, bool, list, tuple)):
        return None
    if isinstance(value, dict):
        wrong = [key for key in value if not isinstance(key, str)]
        return f"has the key {wrong[0]!r:.80}, which is not text but {type(wrong[0]).__name__}" if wrong else None
    if isinstance(value, int):
        return _fault_of_whole(value)
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}, which JSON has no word for"
    return f"is of type {type(value).__name__}, which is not a JSON value"


def _fault_of_whole(value: int) -> str | None:
    digits = sys.get_int_max_str_digits()
    too_long = digits and value.bit_length() > digits * 3.33 and abs(value) >= 10**digits
    return f"is a whole number of more than {digits} digits" if too_long else None
