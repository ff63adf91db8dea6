"""Counts and durations set side by side, a column for each piece of the period. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

COUNTED = ("open", "succeeded", "failed", "cancelled")


def columns_of(
    counts: Sequence[Sequence[Any]],
    durations: Sequence[Sequence[Any]],
    *,
    since: datetime,
    step: timedelta,
    count: int,
) -> list[dict[str, Any]]:
    """`count` columns from `since` on, also where nothing was started. `counts`: rows of (at, open, succeeded, failed,
    cancelled); `durations`: rows of (at, how many, p50, p95), where at may be None for all together.
    """
    counted = {row[0]: [int(each) for each in row[1:]] for row in counts}
    took = {row[0]: (row[2], row[3]) for row in durations if row[0] is not None}
    columns = []
    for place in range(count):
        at = since + place * step
        numbers = dict(zip(COUNTED, counted.get(at, (0, 0, 0, 0)), strict=True))
        p50, p95 = took.get(at, (None, None))
        columns.append({"at": at, **numbers, "p50_s": p50, "p95_s": p95})
    return columns


def share_of(counts: Mapping[str, int]) -> float | None:
    """What succeeded of all that succeeded or failed: who cancelled a run did not want its end. None of nothing."""
    ended = counts["succeeded"] + counts["failed"]
    return counts["succeeded"] / ended if ended else None
