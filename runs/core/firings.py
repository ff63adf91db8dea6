"""What becomes of a schedule's ticks: which are fired, and what happens while an earlier run goes on. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

from runs.core.ticks import Cron, Tick, newest, ticks

LATE_S = 60  # a tick that is decided later than this after its time was missed, and the misfire policy has the word
AT_ONCE = 500  # ticks that one transaction decides
LONGEST_QUEUE = 100


class Misfire(StrEnum):
    """What becomes of ticks that nobody was there for. None of them is forgotten: the ledger has all."""

    RUN_ONCE = "run_once"  # one late run stands for all
    SKIP = "skip"
    ALL = "all"  # the newest ones, up to a bound, one after another


class Overlap(StrEnum):
    """What a tick does while a run of the same schedule is open."""

    QUEUE = "queue"
    SKIP = "skip"
    CANCEL_OTHER = "cancel_other"  # the open run is cancelled; the tick waits until it has ended
    ALLOW = "allow"


class Status(StrEnum):
    """Of a firing. `fired` has a run, `failed` could not be started, `queued` waits; a back-fill takes up again what
    was missed, skipped or failed.
    """

    QUEUED = "queued"
    FIRED = "fired"
    SKIPPED = "skipped"
    MISSED = "missed"
    FAILED = "failed"


@dataclass(frozen=True)
class Decided:
    """A tick and its place in the ledger."""

    tick: Tick
    status: Status
    reason: str | None


@dataclass(frozen=True)
class Plan:
    rows: Sequence[Decided]
    decided_to: datetime  # every tick up to here is among the rows, or was decided before


def plan_ticks(cron: Cron, *, after: datetime, now: datetime, misfire: Misfire, at_most: int = 1) -> Plan:
    """The oldest AT_ONCE ticks of (after, now]. `at_most` bounds Misfire.ALL."""
    due = list(islice(ticks(cron, after=after, until=now), AT_ONCE))
    late_before = now - timedelta(seconds=LATE_S)
    first_made_up = _first_made_up(cron, after=after, now=now, misfire=misfire, at_most=at_most)
    rows = []
    for tick in due:
        if tick.at >= late_before:
            rows.append(Decided(tick, Status.QUEUED, None))
        elif first_made_up is not None and tick.at >= first_made_up:
            rows.append(Decided(tick, Status.QUEUED, "late"))
        else:
            rows.append(Decided(tick, Status.MISSED, "late"))
    return Plan(rows, due[-1].at if len(due) == AT_ONCE else now)


def _first_made_up(cron: Cron, *, after: datetime, now: datetime, misfire: Misfire, at_most: int) -> datetime | None:
    """From which late tick on they are fired all the same."""
    if misfire is Misfire.SKIP:
        return None
    if misfire is Misfire.RUN_ONCE:  # one that is on time stands for the late ones as well
        found = newest(cron, after=after, until=now, count=1)
    else:
        found = newest(cron, after=after, until=now - timedelta(seconds=LATE_S), count=at_most)
    return found[0].at if found else None


@dataclass(frozen=True)
class Waiting:
    """A queued firing. What a person asked for by a back-fill is never skipped for another one."""

    id: int
    is_backfill: bool


@dataclass(frozen=True)
class Turn:
    """What to do next with a schedule's queue, of which the oldest comes first."""

    start: int | None = None
    skip: Sequence[tuple[int, str]] = ()
    cancels: bool = False  # the open runs of this schedule


def next_turn(overlap: Overlap, queue: Sequence[Waiting], *, is_open: bool) -> Turn:
    """`is_open`: a run of this schedule has not ended. Ask under the schedule's lock."""
    skip: tuple[tuple[int, str], ...] = ()
    regular = [each for each in queue if not each.is_backfill]
    if overlap is Overlap.SKIP and is_open:
        skip = tuple((each.id, "still_running") for each in regular)
    elif overlap is Overlap.CANCEL_OTHER:
        skip = tuple((each.id, "replaced") for each in regular[:-1])
    elif overlap is Overlap.QUEUE:
        skip = tuple((each.id, "queue_full") for each in regular[LONGEST_QUEUE:])
    gone = {id_ for id_, _ in skip}
    left = [each for each in queue if each.id not in gone]
    if not left or (is_open and overlap is not Overlap.ALLOW):
        cancels = overlap is Overlap.CANCEL_OTHER and is_open and any(not each.is_backfill for each in left)
        return Turn(None, skip, cancels)
    return Turn(left[0].id, skip)
