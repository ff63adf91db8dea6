"""Database values as JSON values."""

import base64
import datetime as dt
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from steps.base import StepFailure


def to_json(value: Any) -> Any:
    """Numbers stay numbers where a number holds them exactly, else they become text; times ISO 8601; bytes base64."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, dict):
        return {str(key): to_json(each) for key, each in value.items()}
    for kinds, change in _CHANGES:
        if isinstance(value, kinds):
            return change(value)
    return str(value)


def _decimal(value: Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value() and abs(value) < 2**63 and _scale(value) <= 0:
        return int(value)
    near = float(value)
    return near if Decimal(repr(near)) == value else str(value)


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


_CHANGES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Decimal, _decimal),
    ((dt.datetime, dt.date, dt.time), lambda value: value.isoformat()),
    (dt.timedelta, lambda value: value.total_seconds()),
    ((bytes, bytearray, memoryview), lambda value: base64.b64encode(bytes(value)).decode("ascii")),
)


def answer(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, changed: int) -> dict[str, Any]:
    """{rows, columns, count}: rows as objects. count: rows read, or changed where the statement gives none."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise StepFailure("column_twice", f"Two columns are called '{twice[0]}'. Give one another name with AS.")
    found = [{name: to_json(value) for name, value in zip(columns, row, strict=True)} for row in rows]
    return {"rows": found, "columns": list(columns), "count": len(found) if columns else max(0, changed)}


def too_many(limit: int) -> StepFailure:
    return StepFailure(
        "too_many_rows", f"The statement gives more than {limit} rows. Ask for fewer, or raise the limit."
    )
