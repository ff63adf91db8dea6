"""No tick twice, none lost: for random zones, expressions and moments, however the time is cut."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import assume, given
from hypothesis import strategies as st

from runs.core.ticks import BadSchedule, Cron, newest, read_cron, ticks

ZONES = sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith(("Etc/", "SystemV/")))
CHANGING = ["America/New_York", "America/Santiago", "Asia/Beirut", "Australia/Lord_Howe", "Europe/London",
            "Africa/Casablanca", "Pacific/Apia", "America/Havana", "Asia/Tehran", "Africa/Cairo"]  # fmt: skip
SPAN_S = int(timedelta(days=30 * 365).total_seconds())
moments = st.integers(0, SPAN_S).map(lambda seconds: datetime(2005, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
zones = st.sampled_from(CHANGING) | st.sampled_from(ZONES)


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        number.map(str),
        st.lists(number, min_size=2, max_size=3).map(lambda some: ",".join(map(str, some))),
        st.integers(1, high).map(lambda step: f"*/{step}"),
        st.tuples(number, number).map(lambda two: f"{min(two)}-{max(two)}"),
    )


expressions = st.tuples(
    field(0, 59), field(0, 23), st.just("*") | field(1, 31), st.just("*") | field(1, 12), st.just("*") | field(0, 6)
).map(" ".join)
fixed = st.tuples(st.integers(0, 59), st.integers(0, 23)).map(lambda time: f"{time[0]} {time[1]} * * *")


def timing(expression: str, zone: str) -> Cron:
    try:
        return read_cron(expression, zone)
    except BadSchedule:
        assume(False)
        raise


@given(expressions, zones, moments, st.lists(st.integers(0, 4 * 24 * 3600), min_size=1, max_size=6))
def test_any_cut_of_the_time_gives_the_same_ticks(expression: str, zone: str, start: datetime, cuts: list[int]) -> None:
    cron, end = timing(expression, zone), start + timedelta(days=4)
    whole = [tick.at for tick in ticks(cron, after=start, until=end)]
    assert whole == sorted(set(whole))
    pieces, after = [], start
    for moment in [*sorted(start + timedelta(seconds=cut) for cut in cuts), end]:
        pieces += [tick.at for tick in ticks(cron, after=after, until=moment)]
        after = moment
    assert pieces == whole
    assert [tick.at for tick in newest(cron, after=start, until=end, count=3)] == whole[-3:]


@given(fixed, zones, moments)
def test_a_fixed_time_is_due_once_on_each_local_day(expression: str, zone: str, start: datetime) -> None:
    cron = timing(expression, zone)
    found = list(ticks(cron, after=start, until=start + timedelta(days=400)))
    minute, hour = map(int, expression.split()[:2])
    days = [tick.local.date() for tick in found if tick.clock != "forward"]
    assert days == sorted(set(days))
    assert all((tick.local.hour, tick.local.minute) == (hour, minute) for tick in found if tick.clock != "forward")
    first, last = found[0].local.date(), found[-1].local.date()
    missing = {first + timedelta(days=n) for n in range((last - first).days + 1)} - set(days)
    moved = [tick for tick in found if tick.clock == "forward"]
    assert len(missing - {tick.local.date() for tick in moved}) <= len(moved)  # Apia left out a whole day
    assert len(missing) <= len(moved)


@given(zones, moments)
def test_every_minute_is_due_every_minute_that_passes(zone: str, start: datetime) -> None:
    cron = read_cron("* * * * *", zone)
    start = start.replace(second=0, microsecond=0)
    offset = start.astimezone(ZoneInfo(zone)).utcoffset()
    assume(offset is not None and offset.total_seconds() % 60 == 0)
    found = [tick.at for tick in ticks(cron, after=start, until=start + timedelta(hours=30))]
    assert found == [start + timedelta(minutes=n + 1) for n in range(30 * 60)]
