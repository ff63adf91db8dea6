"""Filters on points in time: ISO 8601 texts ('2026-01-31', '2026-01-31T12:00:00Z'), and numbers of seconds since 1970.

A time without a zone counts as UTC. There is no 'now': every attempt of a step sees the same input.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

DIRECTIVES = re.compile(r"%[aAbBdHIjmMpSyYfzVuG%]")


def moment(value: Any) -> datetime:
    if isinstance(value, str):
        read = datetime.fromisoformat(value)
        return read if read.tzinfo else read.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    raise TypeError("a date is an ISO text such as 2026-01-31T12:00:00Z, or seconds since 1970")


def shown(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


def date(value: Any, pattern: str = "%Y-%m-%d") -> str:
    """The date as text. Only single-letter directives: C libraries also know widths, and `%999999999Y` fills the
    memory."""
    if "%" in DIRECTIVES.sub("", pattern):
        known = "%Y %m %d %H %M %S %f %z %a %A %b %B %d %I %j %p %u %V"
        raise ValueError(f"date does not know all of {pattern[:40]!r}; it knows {known}")
    return moment(value).strftime(pattern)


def shift(value: Any, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> str:
    """The point in time that lies so much later (earlier, if negative)."""
    return shown(moment(value) + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds))


def seconds_until(value: Any, other: Any) -> float:
    """From the first to the other; negative if the other lies before it."""
    return (moment(other) - moment(value)).total_seconds()
