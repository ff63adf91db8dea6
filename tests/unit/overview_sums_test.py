"""Columns of a period, and what share of runs succeeded."""

from datetime import UTC, datetime, timedelta

from runs.overview.sums import columns_of, share_of

SINCE = datetime(2026, 3, 1, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_every_piece_of_the_period_has_a_column_also_where_nothing_was_started() -> None:
    found = columns_of([(SINCE + HOUR, 1, 2, 3, 4)], [], since=SINCE, step=HOUR, count=3)
    assert [column["at"] for column in found] == [SINCE, SINCE + HOUR, SINCE + 2 * HOUR]
    assert [column["failed"] for column in found] == [0, 3, 0]
    assert found[1] == {
        "at": SINCE + HOUR, "open": 1, "succeeded": 2, "failed": 3, "cancelled": 4, "p50_s": None, "p95_s": None,
    }  # fmt: skip


def test_durations_stand_in_their_column_and_those_of_all_in_none() -> None:
    rows = [(SINCE, 4, 1.5, 9.0), (None, 4, 1.5, 9.0)]
    found = columns_of([], rows, since=SINCE, step=HOUR, count=2)
    assert [(column["p50_s"], column["p95_s"]) for column in found] == [(1.5, 9.0), (None, None)]


def test_cancelled_and_open_runs_say_nothing_of_success() -> None:
    assert share_of({"succeeded": 3, "failed": 1}) == 0.75


def test_there_is_no_share_of_nothing() -> None:
    assert share_of({"succeeded": 0, "failed": 0}) is None
