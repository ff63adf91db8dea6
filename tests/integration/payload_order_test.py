"""Two transitions that refer to the same large values take them in one order, so that neither waits for the other.

What it could bring back: a deadlock that PostgreSQL has to break, and a transition that is thrown away (fault 33).
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings

from kit.ids import new_id
from runs.core.outcomes import Error, Failed, Succeeded, Waits
from runs.engine import repair
from runs.engine.callback import issue, receive
from runs.engine.commands import Command
from runs.engine.finish import finish
from runs.store import hold
from runs.store.claim import Held
from runs.store.read import Connection
from tests.engine import World
from tests.hands import Hand
from tests.staging import begun, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

DRAWING = "S > K:wait_for_callback > B"
ONE, OTHER = "one " * 5_000, "other " * 5_000


def early(world: World, hand: Hand, said: str) -> Held:
    """A run whose next wait is answered already, by a large value."""
    run = begun(world, DRAWING)
    token = issue(world.connection, run, {"it": "K"}, secret=settings.SECRET_KEY)["it"]
    with world.connection.transaction():
        receive(world.connection, token, json.dumps(said))
    held = hand.take()
    assert held.run_id == run
    return held


def errors_of(*acts: Callable[[], Any]) -> list[BaseException | None]:
    with ThreadPoolExecutor(len(acts)) as pool:
        return [future.exception() for future in [pool.submit(act) for act in acts]]


def test_two_finishes_that_take_the_same_payloads_the_other_way_round_meet_in_no_deadlock(
    world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each uploads what the other only refers to, and waits after its first payload until the other has one, too, or
    waits for this one.
    """
    held = [early(world, hands[0], ONE), early(world, hands[1], OTHER)]
    requests = [
        hand.request(each, Waits("callback", None, {}, None, given))
        for hand, each, given in zip(hands, held, (OTHER, ONE), strict=True)
    ]
    have_one: set[Connection] = set()
    real = hold._take

    def take(connection: Any, ref: bytes, body: str | None) -> None:
        real(connection, ref, body)
        have_one.add(connection)
        (other,) = [hand for hand in hands if hand.connection is not connection]
        wait_until(lambda: len(have_one) == 2 or _waits(other, seen_by=world.connection))

    monkeypatch.setattr(hold, "_take", take)
    errors = errors_of(*(lambda h=h, r=r: finish(h.connection, [r]) for h, r in zip(hands, requests, strict=True)))
    assert errors == [None, None]
    assert [world.statuses(each.run_id)["K"] for each in held] == ["succeeded", "succeeded"]


def test_a_finish_takes_its_runs_row_before_its_payloads(world: World, hands: list[Hand]) -> None:
    """A person who holds the run may wait for the payload that a worker's result refers to; the worker then waits for
    the run, and holds nothing.
    """
    run = begun(world, "S > A, S > B, S > C")
    failed, before, last = hands[0].take(), hands[0].take(), hands[0].take()
    hands[0].finish(failed, Failed(Error("broken", "It broke.")))
    known = hands[0].finish_all([hands[0].request(before, Succeeded(1))], others=1).known
    assert known is not None
    assert known.is_alone, "the last finish is one statement"
    request = hands[0].request(last, Succeeded(ONE))
    wanted = Command(new_id(), run, "supply_output", "Ana", subject=failed.path)
    with ThreadPoolExecutor(1) as pool:
        with world.connection.transaction():
            world.connection.execute("SELECT FROM runs_run WHERE id = %s FOR UPDATE", (run,))
            waiting = pool.submit(finish, hands[0].connection, [request], known=known)
            wait_until(lambda: _waits(hands[0], seen_by=hands[1].connection))
            repair.supply_step(world.connection, wanted, path=failed.path, output=ONE)
        error = waiting.exception()
    assert error is None, "the finish held the payload while it waited for the run"
    assert set(world.statuses(run).values()) == {"succeeded"}


def _waits(hand: Hand, *, seen_by: Connection) -> bool:
    query = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"
    return seen_by.execute(query, (hand.connection.info.backend_pid,)).fetchone() == ("Lock",)
