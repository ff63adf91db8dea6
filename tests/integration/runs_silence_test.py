"""Who is taken for dead: silence counts only for a sweeper that listened all the while. No sweeper waits for a lock."""

import time
from uuid import UUID

import pytest

from kit.ids import new_id
from runs.core.outcomes import Waits
from runs.engine import sweep
from runs.link import Link
from runs.models import Worker
from runs.store import fleet, looks
from runs.store.read import lock_run
from tests.engine import NOBODY_IS_GONE, World
from tests.hands import Hand
from tests.staging import begun

pytestmark = pytest.mark.django_db(transaction=True)

SILENT = "UPDATE runs_worker SET heartbeat_at = heartbeat_at - make_interval(secs => %s) WHERE id = %s"
EARLIER = """UPDATE runs_sweeper SET started_at = started_at - make_interval(secs => %s),
    seen_at = seen_at - make_interval(secs => %s) WHERE id = %s"""
WAITS_S = 3.0  # less than the five seconds after which whoever waits for a lock gives up


def silent(world: World, hand: Hand, *, s: float) -> None:
    world.connection.execute(SILENT, (s, hand.id))


def is_dead(hand: Hand) -> bool:
    return Worker.objects.get(id=hand.id).dead_at is not None


def bury(world: World, *, contact_s: float) -> int:
    return sweep.bury_dead(world.connection, contact_s=contact_s, **NOBODY_IS_GONE)


def listened_s(world: World, sweeper: UUID) -> float:
    """For how long the sweeper has looked without a break; how long PostgreSQL has been up is another matter."""
    found = world.connection.execute(fleet.SWEEPER_SEEN, (sweeper, "test")).fetchone()
    assert found is not None
    return float(found[0])


def test_a_silent_worker_is_dead_only_to_a_sweeper_that_has_listened_for_as_long(
    world: World, hands: list[Hand]
) -> None:
    """The naive rule took healthy workers for dead after the database itself had been away."""
    silent(world, hands[0], s=sweep.SILENCE_S + 1)
    silent(world, hands[1], s=sweep.SILENCE_S - 2)
    assert bury(world, contact_s=sweep.SILENCE_S - 1) == 0
    assert not is_dead(hands[0])
    assert bury(world, contact_s=sweep.SILENCE_S + 1) == 1
    assert (is_dead(hands[0]), is_dead(hands[1])) == (True, False)


def test_a_sweeper_that_was_away_itself_has_heard_nobodys_silence(world: World) -> None:
    """A process that was frozen, a laptop that slept: it begins to listen anew."""
    sweeper = new_id()
    listened_s(world, sweeper)
    world.connection.execute(EARLIER, (60, 0, sweeper))
    world.connection.execute(EARLIER, (3, 3, sweeper))
    assert listened_s(world, sweeper) > 60, "three seconds between two looks are no absence"
    world.connection.execute(EARLIER, (60, 60, sweeper))
    assert listened_s(world, sweeper) < WAITS_S


def test_silence_is_counted_for_no_longer_than_postgresql_has_been_up(world: World) -> None:
    sweeper = new_id()
    looks.look(world.connection, sweeper=sweeper, host="test")
    world.connection.execute(EARLIER, (10**6, 0, sweeper))
    up = world.connection.execute("SELECT extract(epoch FROM statement_timestamp() - pg_postmaster_start_time())")
    [up_s] = up.fetchone() or (0.0,)
    assert float(up_s) <= looks.look(world.connection, sweeper=sweeper, host="test").contact_s < float(up_s) + WAITS_S


def test_a_run_that_somebody_holds_keeps_no_sweeper_waiting(world: World, hands: list[Hand]) -> None:
    held, free = begun(world, "S > D > A"), begun(world, "S > D > A")
    for _ in (held, free):
        hands[0].finish(hands[0].take(), Waits("timer", 0.0, {}))
    with Link(name="stranger").connection as stranger, stranger.transaction():
        assert lock_run(stranger, held) is not None
        began = time.monotonic()
        assert sweep.due(world.connection) == 1
        assert time.monotonic() - began < WAITS_S
        assert (world.statuses(held)["D"], world.statuses(free)["D"]) == ("waiting", "succeeded")
    assert sweep.due(world.connection) == 1
    assert world.statuses(held)["D"] == "succeeded"
