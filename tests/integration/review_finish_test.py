"""What a hostile reader found in how a worker finishes steps: results that share a commit, and what follows them."""

import threading
import time
from contextlib import closing, suppress
from typing import Any
from uuid import UUID

import psycopg
import pytest

from kit.ids import new_id
from runs.core.outcomes import Error, Failed, Fans, Stopped, Succeeded
from runs.desk import Desk
from runs.engine.claim import claim
from runs.engine.finish import Done, Finished, Kept, Request, Wish, finish, keep_values
from runs.link import Link
from runs.store import fleet
from runs.store.claim import Held
from steps.registry import all_specs
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def take(world: World, *, worker_id: UUID | None = None) -> Held:
    found = claim(
        world.connection, worker=worker_id or world.process.id, claim_id=new_id(), queue="default",
        kinds=list(all_specs()),
    )  # fmt: skip
    assert found.held is not None
    return found.held


def end(world: World, held: Held, outcome: Any, *, wish: Wish | None = None) -> Finished:
    return finish(world.connection, [request(world, held, outcome, wish=wish)]).results[0]


def request(world: World, held: Held, outcome: Any, *, wish: Wish | None = None) -> Request:
    return Request(held, keep_values(world.connection, outcome), wish, 0.0)


def wish_of(world: World) -> Wish:
    return Wish(world.process.id, new_id(), ("default",), list(all_specs()))


def test_a_worker_that_was_declared_dead_takes_no_next_step_with_its_last_result() -> None:
    with World() as world:
        world.start(world.draw("S > A > B > O", configs={"A": {"value": 1}, "B": {"value": 2}}))
        held = take(world)
        assert fleet.bury(world.connection, world.process.id)
        finished = end(world, held, Succeeded(1), wish=wish_of(world))
        assert finished.next is None, "a dead worker's next step is taken away again while a live thread runs it"


def test_a_result_is_answered_at_once_when_another_thread_has_committed_it(monkeypatch: Any) -> None:
    """Its next step is running by then, and nobody names it in a heartbeat: after 5 s it counts as lost."""
    desk, link = Desk(), Link(name="test")
    gates = [threading.Event() for _ in range(3)]
    calls: list[int] = []
    answers: list[Finished] = []

    def finishing(_: Any, requests: Any, **__: Any) -> Done:
        calls.append(len(requests))
        assert gates[len(calls) - 1].wait(20)
        return Done([Finished("committed")] * len(requests), [])

    def ask() -> threading.Thread:
        request = Request(None, Kept(Succeeded(1)), None, 0.0)  # type: ignore[arg-type]
        thread = threading.Thread(target=lambda: answers.append(desk.finish(link, request)), daemon=True)
        thread.start()
        return thread

    monkeypatch.setattr("runs.desk.finish", finishing)
    threads = [ask()]
    wait_until(lambda: calls == [1])
    threads += [ask(), ask()]
    wait_until(lambda: len(desk._waiting) == 2)
    gates[0].set()
    wait_until(lambda: calls == [1, 2])  # one of the two finishes for both
    last = ask()
    wait_until(lambda: len(desk._waiting) == 1)
    gates[1].set()
    wait_until(lambda: calls == [1, 2, 1])  # the last one is at it, and is slow
    for thread in threads:
        thread.join(5)
    answered = len(answers)
    gates[2].set()
    last.join(5)
    link.close()
    assert answered == 3


def test_a_next_step_taken_with_a_result_that_was_no_longer_wanted_is_found_again_after_a_lost_reply() -> None:
    with World() as world:
        version = world.draw(
            "S > E[Y], S > P, S > Q",
            configs={
                "E": {"items": [0, 1], "on_item_failure": "fail_fast"},
                "Y": {"value": 1},
                "P": {"value": 1},
                "Q": {"value": 1},
            },
        )
        world.start(version)
        fan = take(world)
        assert fan.path == "E"
        end(world, fan, Fans([0, 1], 2, "fail_fast"))
        taken = {held.path: held for held in (take(world) for _ in range(4))}
        first, second = taken["E[0].Y"], taken["E[1].Y"]
        for path in "PQ":  # given back, so that they are ready
            end(world, taken[path], Stopped())
        requests = [
            request(world, first, Failed(Error("x", "y")), wish=wish_of(world)),
            request(world, second, Succeeded(1), wish=wish_of(world)),
        ]
        asked = finish(world.connection, requests).results
        again = finish(world.connection, requests).results
        assert all(each.next for each in asked)
        assert [each.next for each in again] == [each.next for each in asked]


def test_what_is_known_of_a_run_does_not_read_by_another_threads_connection() -> None:
    with World() as world, closing(Link(name="other")) as other:
        version = world.draw("S > E[Y > Z] > O", configs={"E": {"items": [0]}, "Y": {"value": 1}, "Z": {"value": 1}})
        started = world.start(version)
        world_wish = wish_of(world)
        end(world, take(world), Fans([0], 2, "fail_at_end"))
        done = finish(other.connection, [request(world, take(world), Succeeded(1), wish=world_wish)])
        following = done.results[0].next
        assert following is not None
        assert done.known is not None
        other.connection.execute("BEGIN")  # that thread works on another run meanwhile, and is just being refused
        with pytest.raises(psycopg.Error):
            other.connection.execute("SELECT 1 / 0")
        finish(world.connection, [request(world, following, Succeeded(1))], known=done.known)
        assert world.statuses(started.run_id)["E"] == "succeeded"


def test_a_step_that_no_thread_will_run_is_not_named_in_heartbeats(monkeypatch: Any) -> None:
    """The thread took its next step and then broke off while it told others: the machine has no threads left."""
    with World() as world:
        version = world.draw("S > A > B > O", configs={"A": {"value": 1}, "B": {"value": 2}})
        started = world.start(version)

        def broken(*_: Any, **__: Any) -> None:
            raise RuntimeError("can't start new thread")

        assert world.slot  # made before
        monkeypatch.setattr("runs.engine.transact.hint", broken)
        with suppress(RuntimeError):
            world.work()
        held = list(world.process._held)
        running = world.connection.execute(
            "SELECT path FROM runs_steprun WHERE run_id = %s AND status = 'running'", (started.run_id,)
        ).fetchall()
        assert held == [], f"{running} is named as held for as long as the worker lives, and nobody runs it"


def test_a_worker_that_ends_takes_no_step_at_a_desk(monkeypatch: Any) -> None:
    """Between the claim that found nothing and the desk's answer the process was told to stop."""
    with World() as world:
        version = world.draw("S > E[Y > Z] > O", configs={"E": {"items": [0, 1]}, "Y": {"value": 1}, "Z": {"value": 1}})
        world.start(version)
        end(world, take(world), Fans([0, 1], 2, "fail_at_end"))
        first = take(world)
        desk = world.process.hold(first, world.slot)
        given: list[Held | None] = []
        waiting = threading.Thread(
            target=lambda: given.append(desk.wait_for_work(wish_of(world), limit_s=5.0)), daemon=True
        )
        waiting.start()
        time.sleep(0.2)
        world.process.drain()
        desk.finish(world.link, request(world, first, Succeeded(1)))
        waiting.join()
        assert given == [None]
