"""What becomes of ticks that were missed, and of those that find an earlier run open."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.core.firings import AT_ONCE, LONGEST_QUEUE, Misfire, Overlap, Turn, Waiting, next_turn, plan_ticks
from runs.core.ticks import read_cron

HOURLY = read_cron("0 * * * *", "UTC")
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


def plan(misfire: Misfire, *, hours: float, at_most: int = 1) -> list[tuple[int, str, str | None]]:
    made = plan_ticks(HOURLY, after=MIDNIGHT, now=MIDNIGHT + timedelta(hours=hours), misfire=misfire, at_most=at_most)
    return [(row.tick.at.hour, row.status.value, row.reason) for row in made.rows]


@pytest.mark.parametrize("misfire", list(Misfire))
def test_a_tick_that_is_on_time_is_queued_under_every_policy(misfire: Misfire) -> None:
    assert plan(misfire, hours=1.01) == [(1, "queued", None)]


def test_after_a_silence_one_late_run_stands_for_all_missed_ones() -> None:
    assert plan(Misfire.RUN_ONCE, hours=3.5) == [
        (1, "missed", "late"), (2, "missed", "late"), (3, "queued", "late"),
    ]  # fmt: skip


def test_one_that_is_on_time_stands_for_the_missed_ones_too() -> None:
    assert plan(Misfire.RUN_ONCE, hours=3.01) == [(1, "missed", "late"), (2, "missed", "late"), (3, "queued", None)]


def test_missed_ones_are_left_out_and_kept_in_the_ledger() -> None:
    assert plan(Misfire.SKIP, hours=2.5) == [(1, "missed", "late"), (2, "missed", "late")]


def test_all_missed_ones_are_made_up_for_up_to_a_bound() -> None:
    assert plan(Misfire.ALL, hours=4.01, at_most=2) == [
        (1, "missed", "late"), (2, "queued", "late"), (3, "queued", "late"), (4, "queued", None),
    ]  # fmt: skip
    assert plan(Misfire.ALL, hours=2.5, at_most=10) == [(1, "queued", "late"), (2, "queued", "late")]


def test_nothing_due_is_nothing_decided_but_the_time() -> None:
    made = plan_ticks(HOURLY, after=MIDNIGHT, now=MIDNIGHT + timedelta(minutes=5), misfire=Misfire.ALL)
    assert (list(made.rows), made.decided_to) == ([], MIDNIGHT + timedelta(minutes=5))


def test_a_long_silence_is_decided_in_pieces_that_lose_nothing() -> None:
    minutely = read_cron("* * * * *", "UTC")
    now, after, seen = MIDNIGHT + timedelta(minutes=2 * AT_ONCE + 7, seconds=5), MIDNIGHT, []
    while after < now:
        made = plan_ticks(minutely, after=after, now=now, misfire=Misfire.RUN_ONCE)
        seen += made.rows
        after = made.decided_to
    assert [row.tick.at for row in seen] == [MIDNIGHT + timedelta(minutes=n + 1) for n in range(2 * AT_ONCE + 7)]
    assert [row.status for row in seen].count("queued") == 1  # the last one is on time


# ---------------------------------------------------------------------- overlap

ONE, TWO, MADE_UP = Waiting(1, is_backfill=False), Waiting(2, is_backfill=False), Waiting(3, is_backfill=True)


@pytest.mark.parametrize("overlap", list(Overlap))
def test_with_no_run_open_the_oldest_starts(overlap: Overlap) -> None:
    assert next_turn(overlap, [ONE], is_open=False) == Turn(start=1)


@pytest.mark.parametrize(
    ("overlap", "turn"),
    [
        (Overlap.QUEUE, Turn()),
        (Overlap.SKIP, Turn(skip=((1, "still_running"), (2, "still_running")))),
        (Overlap.CANCEL_OTHER, Turn(skip=((1, "replaced"),), cancels=True)),
        (Overlap.ALLOW, Turn(start=1)),
    ],
)
def test_while_a_run_is_open_the_policy_decides(overlap: Overlap, turn: Turn) -> None:
    assert next_turn(overlap, [ONE, TWO], is_open=True) == turn


@pytest.mark.parametrize("overlap", [Overlap.QUEUE, Overlap.SKIP, Overlap.CANCEL_OTHER])
def test_what_a_person_asked_for_waits_and_neither_is_skipped_nor_cancels(overlap: Overlap) -> None:
    assert next_turn(overlap, [MADE_UP], is_open=True) == Turn()
    assert next_turn(overlap, [MADE_UP], is_open=False) == Turn(start=3)


def test_of_several_that_would_cancel_only_the_newest_starts() -> None:
    assert next_turn(Overlap.CANCEL_OTHER, [ONE, TWO], is_open=False) == Turn(start=2, skip=((1, "replaced"),))


def test_a_queue_has_an_end() -> None:
    queue = [Waiting(n, is_backfill=False) for n in range(LONGEST_QUEUE + 2)]
    skipped = next_turn(Overlap.QUEUE, queue, is_open=True).skip
    assert skipped == ((LONGEST_QUEUE, "queue_full"), (LONGEST_QUEUE + 1, "queue_full"))


@pytest.mark.parametrize("overlap", list(Overlap))
def test_an_empty_queue_has_no_turn(overlap: Overlap) -> None:
    assert next_turn(overlap, [], is_open=True) == Turn()
