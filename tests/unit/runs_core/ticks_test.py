"""When schedules are due: clock changes in both directions, expressions that cannot be, and what is asked often."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.core.ticks import BadSchedule, Tick, newest, next_tick, read_cron, ticks, upcoming


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(expression: str, zone: str, after: str, *, count: int = 3) -> list[str]:
    """What is due next: on the zone's clock with its offset, and what the clock does."""
    return [_told(tick) for tick in upcoming(read_cron(expression, zone), at(after), count=count)]


def _told(tick: Tick) -> str:
    return tick.local.strftime("%m-%d %H:%M%z") + (f" {tick.clock}" if tick.clock else "")


@pytest.mark.parametrize(
    ("expression", "zone", "after", "due"),
    [
        # forward: 02:00 -> 03:00. The missing time is due at the change, once.
        ("30 2 * * *", "America/New_York", "2023-03-12T05:10", ["03-12 03:00-0400 forward", "03-13 02:30-0400"]),
        ("10 0 * * *", "America/New_York", "2023-03-12T05:10", ["03-13 00:10-0400", "03-14 00:10-0400"]),
        # forward at midnight: that day has no 00:00 to 00:59
        ("10 0 * * *", "America/Santiago", "2023-09-02T05:10", ["09-03 01:00-0300 forward", "09-04 00:10-0300"]),
        ("10 0 * * *", "Asia/Beirut", "2022-03-26T05:10", ["03-27 01:00+0300 forward", "03-28 00:10+0300"]),
        ("30 2 * * *", "America/Santiago", "2023-09-02T05:10", ["09-02 02:30-0400", "09-03 02:30-0300"]),
        ("30 2 * * *", "Asia/Beirut", "2022-03-26T05:10", ["03-27 02:30+0300", "03-28 02:30+0300"]),
        # back: a time that the clock shows twice is due the first time alone
        ("30 1 * * *", "America/New_York", "2023-11-05T04:10", ["11-05 01:30-0400 back", "11-06 01:30-0500"]),
        ("30 2 * * *", "America/New_York", "2023-11-05T04:10", ["11-05 02:30-0500", "11-06 02:30-0500"]),
        ("30 23 * * *", "America/Santiago", "2023-04-01T05:10", ["04-01 23:30-0300 back", "04-02 23:30-0400"]),
        ("30 23 * * *", "Asia/Beirut", "2022-10-29T05:10", ["10-29 23:30+0300 back", "10-30 23:30+0200"]),
        ("0 10 * * *", "Europe/London", "2022-10-29T00:00", ["10-29 10:00+0100", "10-30 10:00+0000"]),
        # a whole day that was left out
        ("0 10 * * *", "Pacific/Apia", "2011-12-29T12:00", ["12-29 10:00-1000", "12-31 00:00+1400 forward"]),
        # half an hour
        ("15 2 * * *", "Australia/Lord_Howe", "2023-09-30T12:00", ["10-01 02:30+1100 forward", "10-02 02:15+1100"]),
        # several times in one gap are due once
        ("0,20,40 2 * * *", "America/New_York", "2023-03-12T05:10", ["03-12 03:00-0400 forward", "03-13 02:00-0400"]),
    ],
)  # fmt: skip
def test_a_fixed_time_is_due_once_a_day_whatever_the_clock_does(
    expression: str, zone: str, after: str, due: list[str]
) -> None:
    """PrefectHQ/prefect#7461, #7381, #7468, kelektiv/node-cron#563: a daily time ran twice, not at all, or an hour off
    when the clock changed.
    """
    assert times(expression, zone, after, count=2) == due


def test_a_time_that_has_been_shown_once_is_not_due_when_the_clock_shows_it_again() -> None:
    between = "2023-11-05T05:45"  # 01:45, and 01:30 comes once more
    assert times("30 1 * * *", "America/New_York", between, count=1) == ["11-06 01:30-0500"]
    within = "2023-11-05T06:10"  # the second 01:10
    assert times("30 1 * * *", "America/New_York", within, count=1) == ["11-06 01:30-0500"]


def test_what_is_due_every_so_often_follows_the_time_that_passes() -> None:
    assert times("*/30 * * * *", "America/New_York", "2023-11-05T05:10", count=4) == [
        "11-05 01:30-0400 back", "11-05 01:00-0500 back", "11-05 01:30-0500 back", "11-05 02:00-0500",
    ]  # fmt: skip
    assert times("*/30 * * * *", "America/New_York", "2023-03-12T06:10", count=2) == [
        "03-12 01:30-0500", "03-12 03:00-0400",
    ]  # fmt: skip


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "0 0 31 4,6 *", "0 0 31 2,4,6,9,11 */2", "0 0 */10 2 MON#5"])
def test_a_day_that_never_comes_is_refused(expression: str) -> None:
    with pytest.raises(BadSchedule, match="is never due") as refused:
        read_cron(expression, "UTC")
    assert refused.value.data["fields"][0]["field"] == "cron"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("* * * * * *", "Seconds are not supported"),
        ("*/5 * * * * *", "Seconds are not supported"),
        ("61 * * * *", "the minute is wrong"),
        ("0 24 * * *", "the hour is wrong"),
        ("0 0 0 * *", "the day-of-month is wrong"),
        ("x y z a b", "the minute is wrong"),
        ("0 0 * JANUARY *", "the month is wrong"),
        ("", "five fields"),
        ("@daily", "five fields"),
        ("1," * 200 + "1 * * * *", "five fields"),
        ("9" * 150 + " * * * *", "the minute is wrong"),
    ],
)
def test_an_expression_that_cannot_be_read_is_refused_in_words(expression: str, words: str) -> None:
    with pytest.raises(BadSchedule, match=words):
        read_cron(expression, "UTC")


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "europe", "\0", "x" * 500])
def test_a_zone_that_does_not_exist_is_refused(zone: str) -> None:
    with pytest.raises(BadSchedule, match="no time zone") as refused:
        read_cron("0 0 * * *", zone)
    assert refused.value.data["fields"][0]["field"] == "zone"


def test_a_rare_day_is_found() -> None:
    assert times("0 0 29 2 *", "Europe/Berlin", "2028-03-01T00:00", count=1) == ["02-29 00:00+0100"]
    assert times("0 12 * 2 MON#5", "UTC", "2026-01-01T00:00", count=1) == ["02-29 12:00+0000"]


def test_the_rarest_day_is_found_also_across_a_century_without_its_leap_year() -> None:
    assert times("0 0 29 2 */7", "UTC", "2088-03-01T00:00", count=1) == ["02-29 00:00+0000"]  # a Sunday, in 2128


def test_a_moment_itself_is_not_after_it() -> None:
    timing = read_cron("0 * * * *", "UTC")
    assert [tick.at for tick in ticks(timing, after=at("2026-01-01T01:00"), until=at("2026-01-01T02:00"))] == [
        at("2026-01-01T02:00")
    ]
    after = at("2026-01-01T01:59:59.999")
    assert [tick.at for tick in ticks(timing, after=after, until=at("2026-01-01T02:00"))] == [at("2026-01-01T02:00")]


def test_what_is_due_within_the_very_second_after_the_end_is_left_out() -> None:
    timing = read_cron("0 * * * *", "UTC")
    assert list(ticks(timing, after=at("2026-01-01T00:30"), until=at("2026-01-01T00:59:59.5"))) == []


def test_the_next_tick_is_the_first_that_is_upcoming() -> None:
    timing = read_cron("0 * * * *", "Europe/Berlin")
    assert [next_tick(timing, at("2026-01-01T00:30"))] == upcoming(timing, at("2026-01-01T00:30"), count=1)


def test_the_newest_are_found_without_counting_all() -> None:
    minutely = read_cron("* * * * *", "America/New_York")
    end = at("2026-07-01T00:00:30")
    found = newest(minutely, after=at("1990-01-01T00:00"), until=end, count=3)
    assert [tick.at for tick in found] == [at("2026-07-01T00:00") - timedelta(minutes=n) for n in (2, 1, 0)]
    assert newest(minutely, after=end, until=end, count=3) == []
    yearly = read_cron("0 0 1 1 *", "UTC")
    assert len(newest(yearly, after=at("2020-06-01T00:00"), until=at("2026-06-01T00:00"), count=10)) == 6
