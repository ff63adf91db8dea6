"""When a schedule is due: five fields of cron in a time zone, as instants. Pure: the present is an argument.

A zone's time line is cut into spans of one offset, and the expression is read on each span's wall clock:

- An expression with a fixed time of day (neither its minute nor its hour begins with `*`) is due once for each wall
  time. One that the clock skips is due at the moment of the change; one that the clock shows twice, the first time.
- Any other follows the time that passes: nothing where the clock skips, and both where it shows a time twice.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import islice, takewhile
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from kit.errors import BadInput

FIELDS = 5
LONGEST = 200  # characters of an expression
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
LONGEST_SPAN = 32  # days: what is looked at ahead of the next tick
# No clock was ever put back by more than a day: from so far before, one knows which wall times have been shown already.
LOOK_BACK = timedelta(hours=26)
HORIZON = timedelta(days=366 * 40)  # 29 February on a Sunday comes after 2088 in 2128
SOME_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 - a wall clock's time

Clock = Literal["forward", "back"]


class BadSchedule(BadInput):
    """The expression or the zone cannot be used; `data.fields` says which."""

    code = "bad_schedule"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, fields=[{"field": field, "message": message}])


@dataclass(frozen=True)
class Cron:
    """An expression that is due at some time, and the zone whose clock it reads."""

    text: str
    zone: tzinfo

    @property
    def is_fixed(self) -> bool:
        minute, hour, *_ = self.text.split()
        return not (minute.startswith("*") or hour.startswith("*"))


@dataclass(frozen=True)
class Tick:
    """`at` in UTC. `clock` says that the zone's clock is put forward (this wall time did not exist, the tick was moved)
    or back (the clock shows this time twice).
    """

    at: datetime
    local: datetime
    clock: Clock | None


@dataclass(frozen=True)
class _Span:
    """From `start` up to but without `end` (UTC), the zone's clock is `offset` ahead."""

    start: datetime
    end: datetime
    offset: timedelta

    def wall(self, at: datetime) -> datetime:
        return at.replace(tzinfo=None) + self.offset


@lru_cache(maxsize=512)
def read_cron(text: str, zone: str) -> Cron:
    """Raises BadSchedule, saying what is wrong with the expression or the zone."""
    if zone not in available_timezones():
        raise BadSchedule("zone", f"There is no time zone '{zone[:60]}'. Write one such as Europe/Berlin.")
    fields = text.split()
    if len(fields) == FIELDS + 1:
        raise BadSchedule(
            "cron",
            "An expression has five fields, from minute to day of the week. Seconds are not supported: once a minute is"
            " the most.",
        )
    if len(fields) != FIELDS or len(text) > LONGEST:
        raise BadSchedule("cron", "An expression has five fields: minute, hour, day, month, day of the week.")
    try:
        next(CronSim(text, SOME_DAY))
    except StopIteration:
        raise _impossible(text) from None
    except (CronSimError, ValueError, AssertionError) as error:
        raise (_impossible(text) if _is_readable(fields) else _unreadable(text, error)) from error
    return Cron(" ".join(fields), UTC if zone == "UTC" else ZoneInfo(zone))


def _is_readable(fields: list[str]) -> bool:
    """Whether each field alone makes sense: then it is the day that no such month has."""
    try:
        CronSim(" ".join([*fields[:3], "*", fields[4]]), SOME_DAY)
        CronSim(" ".join([*fields[:2], "*", *fields[3:]]), SOME_DAY)
    except (CronSimError, ValueError, AssertionError):
        return False
    return True


def _impossible(text: str) -> BadSchedule:
    return BadSchedule("cron", f"'{text}' is never due: no month that it names has such a day.")


def _unreadable(text: str, error: Exception) -> BadSchedule:
    what = str(error).replace("Bad ", "the ") or "a field"
    return BadSchedule("cron", f"'{text}' cannot be read: {what} is wrong.")


# ---------------------------------------------------------------------- instants


def ticks(cron: Cron, *, after: datetime, until: datetime) -> Iterator[Tick]:
    """Every tick with after < at <= until, in order, each instant once. Any cut of the time gives the same ticks."""
    shown: datetime | None = None  # up to where the wall clock has come
    for span in _spans(cron.zone, after - LOOK_BACK, until + SECOND):
        begin, end = span.wall(span.start), span.wall(span.end)
        before, shown = shown, max(shown or end, end)
        if span.end <= after:
            continue
        if cron.is_fixed and before is not None:
            if before < begin and after < span.start and _has_tick(cron, before, begin):
                yield Tick(span.start, span.start.astimezone(cron.zone), "forward")
                begin += SECOND  # the same instant
            begin = max(begin, before)
        yield from _on_span(cron, span, begin=max(begin, span.wall(after) + SECOND), until=until)


def _on_span(cron: Cron, span: _Span, *, begin: datetime, until: datetime) -> Iterator[Tick]:
    end = span.wall(span.end)
    for wall in _walls(cron, begin, end):
        at = (wall - span.offset).replace(tzinfo=UTC)
        if at > until:
            return
        yield _tick(cron, at)


def _tick(cron: Cron, at: datetime) -> Tick:
    local = at.astimezone(cron.zone)
    is_twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return Tick(at, local, "back" if is_twice else None)


def _walls(cron: Cron, begin: datetime, end: datetime) -> Iterator[datetime]:
    """What the expression names on the wall clock, begin <= wall < end."""
    return takewhile(lambda wall: wall < end, CronSim(cron.text, begin.replace(microsecond=0) - SECOND))


def _has_tick(cron: Cron, begin: datetime, end: datetime) -> bool:
    return next(_walls(cron, begin, end), None) is not None


def _spans(zone: tzinfo, start: datetime, end: datetime) -> Iterator[_Span]:
    """The time from start to end, cut where the zone's offset changes, and at the latest after LONGEST_SPAN days."""
    while start < end:
        offset = _offset(zone, start)
        reached = start
        for _ in range(LONGEST_SPAN):
            following = min(reached + DAY, end)
            if _offset(zone, following) != offset:
                reached = _change(zone, reached, following)
                break
            reached = following
        yield _Span(start, reached, offset)
        start = reached


def _change(zone: tzinfo, before: datetime, after: datetime) -> datetime:
    """The second from which the offset of `after` holds."""
    before, after = before.replace(microsecond=0), after.replace(microsecond=0)
    old = _offset(zone, before)
    while after - before > SECOND:
        middle = before + timedelta(seconds=(after - before) // SECOND // 2)
        before, after = (middle, after) if _offset(zone, middle) == old else (before, middle)
    return after


def _offset(zone: tzinfo, at: datetime) -> timedelta:
    offset = at.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


# ---------------------------------------------------------------------- questions


def next_tick(cron: Cron, after: datetime) -> Tick | None:
    """None where nothing is due within HORIZON."""
    return next(ticks(cron, after=after, until=after + HORIZON), None)


def upcoming(cron: Cron, after: datetime, *, count: int) -> list[Tick]:
    return list(islice(ticks(cron, after=after, until=after + HORIZON), count))


def newest(cron: Cron, *, after: datetime, until: datetime, count: int) -> list[Tick]:
    """The last `count` ticks of that time, in order, without walking through all of it."""
    window = timedelta(hours=1)
    while True:
        begin = max(after, until - window)
        found = deque(ticks(cron, after=begin, until=until), maxlen=count)
        if len(found) == count or begin <= after:
            return list(found)
        window *= 4
