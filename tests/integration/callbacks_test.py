"""Callbacks: a program answers a step by a link alone, at any moment, once."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, cast
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client
from pytest_django.fixtures import Settings

from runs.attempt import job_for
from runs.core.links import token_hash
from runs.core.outcomes import Error, Failed, Fans, Succeeded, Waits
from runs.engine.callback import CallbackClosed, issue, receive
from runs.engine.cancel import cancel_run
from runs.engine.finish import finish
from runs.engine.resume import resume_run
from runs.engine.scope import Values
from runs.link import Link
from runs.models import Callback, StepRun, Wait
from runs.runner.messages import Job
from runs.store.read import READ_EARLY, Connection
from tests.engine import World
from tests.hands import Hand
from tests.staging import After, Meddled, begun

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))
CALLBACK = Waits("callback", None, {"title": "the bank"})
DRAWING = "S > A > K:wait_for_callback > B"


@pytest.fixture
def hand(hands: list[Hand]) -> Hand:
    return hands[0]


def token_of(world: World, run_id: UUID, path: str = "K") -> str:
    return issue(world.connection, run_id, {"it": path}, secret=settings.SECRET_KEY)["it"]


def post(token: str, body: Any = None, **options: Any) -> tuple[int, str]:
    """As the outside: no session, no CSRF token. (status, result or code)"""
    content = json.dumps(body) if body is not None else ""
    client = Client(enforce_csrf_checks=True)
    response = client.post(f"/api/callbacks/{token}", content, content_type="application/json", **options)
    answer = json.loads(response.content)
    return response.status_code, answer.get("result") or answer["code"]


def waiting(world: World, hand: Hand, drawing: str = DRAWING) -> tuple[UUID, str]:
    """A run whose step K waits, and its link's token."""
    run_id = begun(world, drawing)
    hand.finish(hand.take(), Succeeded(1))
    token = token_of(world, run_id)
    hand.finish(hand.take(), CALLBACK)
    assert world.statuses(run_id)["K"] == "waiting"
    return run_id, token


# ---------------------------------------------------------------------- once


def test_the_first_callback_is_the_output_and_repeats_change_nothing(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)
    assert post(token, {"paid": True}) == (200, "taken")
    seq = world.run(run_id).event_seq
    assert [post(token, {"paid": False}) for _ in range(4)] == [(200, "already")] * 4
    assert world.output(run_id, "K") == {"paid": True}
    assert world.statuses(run_id)["B"] == "ready"
    assert world.run(run_id).event_seq == seq


def test_five_callbacks_at_once_are_taken_once(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)

    def one(number: int) -> str:
        with closing(Link(name="outside")) as link, link.connection.transaction():
            return receive(link.connection, token, str(number)).result

    with ThreadPoolExecutor(5) as pool:
        results = sorted(pool.map(one, range(5)))
    assert results == ["already"] * 4 + ["taken"]
    assert world.events(run_id).count(("step.succeeded", "K")) == 1


def test_a_callback_that_came_while_another_waited_for_the_run_is_the_one_that_counts(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)
    with closing(Link(name="other")) as other:

        def meanwhile() -> None:
            with other.connection.transaction():
                assert receive(other.connection, token, '"first"').result == "taken"

        with world.connection.transaction():
            meddled = cast(Connection, Meddled(world.connection, meanwhile))
            assert receive(meddled, token, '"second"').result == "already"
    assert world.output(run_id, "K") == "first"


def test_nothing_but_a_post_acts(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)
    for method in ("get", "head", "options", "put", "delete"):
        response = getattr(Client(), method)(f"/api/callbacks/{token}")
        assert response.status_code in ({200} if method == "options" else {405})
    assert world.statuses(run_id)["K"] == "waiting"


def test_a_callback_without_a_body_is_null(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)
    assert post(token) == (200, "taken")
    assert world.output(run_id, "K") is None


@pytest.mark.parametrize("body", ["text", 7, None, [1, {"a": None}], {"n": 2**63, "t": "\x00\ud800"}])
def test_any_json_value_comes_through_as_it_was(world: World, hand: Hand, body: Any) -> None:
    run_id, token = waiting(world, hand)
    assert post(token, body) == (200, "taken")
    assert world.output(run_id, "K") == body


def test_what_is_no_json_or_too_large_is_refused_and_the_step_waits_on(
    world: World, hand: Hand, settings: Settings
) -> None:
    run_id, token = waiting(world, hand)
    settings.CALLBACK_LIMIT_BYTES = 2_000
    address = f"/api/callbacks/{token}"
    assert Client().post(address, "{", content_type="application/json").status_code == 400
    assert Client().post(address, "a=1", content_type="text/plain").status_code == 415
    assert post(token, "x" * 2_000) == (413, "callback_too_large")
    assert post(token, "x" * 1_900) == (200, "taken")
    assert world.output(run_id, "K") == "x" * 1_900


def test_a_large_callback_is_kept_by_reference_early_or_not(world: World, hand: Hand) -> None:
    large = "x" * 50_000
    run_id, token = waiting(world, hand)
    assert post(token, large) == (200, "taken")
    early = begun(world, DRAWING)
    assert post(token_of(world, early), large) == (202, "kept")
    to_early(hand, early)
    for each in (run_id, early):
        step = StepRun.objects.get(run_id=each, path="K")
        assert step.status == "succeeded"
        assert step.output_ref is not None


def to_early(hand: Hand, run_id: UUID) -> None:
    """Plays the run until its step K has been executed."""
    while (held := hand.take()).run_id != run_id or held.path != "K":
        hand.finish(held, Succeeded(1))
    hand.finish(held, CALLBACK)


# ---------------------------------------------------------------------- strangers


@pytest.mark.parametrize("token", ["x", "A" * 43, "%00", "\u00e9" * 40, "a" * 5_000])
def test_a_wrong_token_finds_nothing(world: World, hand: Hand, token: str) -> None:
    run_id, _ = waiting(world, hand)
    assert post(token, 1) == (404, "callback_not_found")
    assert world.statuses(run_id)["K"] == "waiting"


def test_the_token_itself_is_nowhere_in_the_database(world: World, hand: Hand) -> None:
    _, token = waiting(world, hand)
    kept = Callback.objects.get()
    assert bytes(kept.token_hash) == token_hash(token)
    found = world.connection.execute(
        "SELECT count(*) FROM runs_callback c, runs_wait w WHERE c::text LIKE %s OR w::text LIKE %s",
        (f"%{token}%", f"%{token}%"),
    ).fetchone()
    assert found == (0,)


def test_the_link_of_one_run_does_nothing_to_another(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)
    other, _ = waiting(world, hand)
    assert post(token, 1) == (200, "taken")
    assert world.statuses(run_id)["K"] == "succeeded"
    assert world.statuses(other)["K"] == "waiting"


# ---------------------------------------------------------------------- early


def test_a_callback_that_comes_before_its_wait_opens_is_its_answer_exactly_once(world: World, hand: Hand) -> None:
    run_id = begun(world, DRAWING)
    token = token_of(world, run_id)
    assert post(token, "early") == (202, "kept")
    assert post(token, "again") == (200, "already")
    assert ("callback.kept", "K") in world.events(run_id)
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), CALLBACK)
    assert world.output(run_id, "K") == "early"
    assert world.statuses(run_id)["B"] == "ready"
    assert not Wait.objects.filter(run_id=run_id).exists()
    assert post(token, "late") == (200, "already")
    kept = Callback.objects.get()
    assert kept.used_at is not None
    assert kept.body is None


def test_a_callback_that_comes_in_the_middle_of_the_finish_that_opens_its_wait_is_not_missed(
    world: World, hand: Hand
) -> None:
    """The finish decides from what its process knows of the run: the callback must have changed that."""
    run_id = begun(world, DRAWING)
    token = token_of(world, run_id)
    done = hand.finish_all([hand.request(hand.take(), Succeeded(1), wish=hand.wish())], others=1)
    held = done.results[0].next
    assert held is not None
    assert held.path == "K"
    assert done.known is not None
    request = hand.request(held, CALLBACK)
    meddled = After(hand.connection, READ_EARLY, lambda: kept.append(post(token, "just now")))
    kept: list[tuple[int, str]] = []
    finish(cast(Connection, meddled), [request], known=done.known)
    assert kept[0] == (202, "kept")
    assert world.output(run_id, "K") == "just now"


def test_of_two_early_callbacks_at_once_the_first_counts(world: World, hand: Hand) -> None:
    run_id = begun(world, DRAWING)
    token = token_of(world, run_id)
    with closing(Link(name="other")) as other:

        def meanwhile() -> None:
            with other.connection.transaction():
                assert receive(other.connection, token, '"first"').result == "kept"

        with world.connection.transaction():
            meddled = cast(Connection, Meddled(world.connection, meanwhile))
            assert receive(meddled, token, '"second"').result == "already"
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), CALLBACK)
    assert world.output(run_id, "K") == "first"


def test_a_callback_during_the_attempt_that_will_wait_is_kept_for_it(world: World, hand: Hand) -> None:
    run_id = begun(world, DRAWING)
    hand.finish(hand.take(), Succeeded(1))
    held = hand.take()
    assert post(token_of(world, run_id), 5) == (202, "kept")
    hand.finish(held, CALLBACK)
    assert world.output(run_id, "K") == 5


def test_an_early_callback_survives_a_failure_before_its_step_and_the_resume(world: World, hand: Hand) -> None:
    run_id = begun(world, DRAWING)
    token = token_of(world, run_id)
    hand.finish(hand.take(), BROKEN)
    assert world.run(run_id).status == "failed"
    assert post(token, "meanwhile") == (202, "kept")
    resume(world, run_id)
    hand.finish(hand.take(), Succeeded(1))
    hand.finish(hand.take(), CALLBACK)
    assert world.output(run_id, "K") == "meanwhile"


def test_each_item_of_a_map_has_a_link_of_its_own(world: World, hand: Hand) -> None:
    run_id = begun(world, "S > E[A > K:wait_for_callback]")
    hand.finish(hand.take(), Fans([1, 2], 32, "fail_at_end"))
    first, second = (token_of(world, run_id, f"E[{index}].K") for index in (0, 1))
    assert post(second, "two") == (202, "kept")
    assert post(first, "one") == (202, "kept")
    for _ in range(2):
        hand.finish(hand.take(), Succeeded(1))
    for _ in range(2):
        hand.finish(hand.take(), CALLBACK)
    assert [world.output(run_id, f"E[{index}].K") for index in (0, 1)] == ["one", "two"]


# ---------------------------------------------------------------------- over


def test_after_the_deadline_and_after_a_cancel_the_link_is_gone(world: World, hand: Hand) -> None:
    run_id = begun(world, "S > K:wait_for_callback")
    token = token_of(world, run_id)
    hand.finish(hand.take(), Waits("callback", 0.0, {}))
    assert post(token, 1) == (410, "callback_closed")  # also before a sweeper has come by
    world.sweep()
    assert world.steps(run_id)["K"].status == "failed"
    assert post(token, 1) == (410, "callback_closed")
    run_id, token = waiting(world, hand)
    cancel(world, run_id)
    assert post(token, 1) == (410, "callback_closed")


def test_a_resume_waits_by_a_new_link_and_the_old_one_is_gone(world: World, hand: Hand) -> None:
    run_id, old = waiting(world, hand)
    cancel(world, run_id)
    resume(world, run_id)
    new = token_of(world, run_id)
    assert new != old
    assert post(old, 1) == (410, "callback_closed")
    assert post(new, "early") == (202, "kept")
    hand.finish(hand.take(), CALLBACK)
    assert world.output(run_id, "K") == "early"
    assert post(old, 1) == (410, "callback_closed")


def test_a_step_that_was_left_out_takes_no_callback(world: World, hand: Hand) -> None:
    run_id = begun(world, "S > I, I ?true> K:wait_for_callback, I ?false> B")
    token = token_of(world, run_id)
    hand.finish(hand.take(), Succeeded(False, "false"))
    assert world.statuses(run_id)["K"] == "skipped"
    assert post(token, 1) == (410, "callback_closed")


def test_a_callback_that_waits_for_the_run_while_it_is_cancelled_is_refused(world: World, hand: Hand) -> None:
    run_id, token = waiting(world, hand)
    with closing(Link(name="person")) as person:

        def meanwhile() -> None:
            with person.connection.transaction():
                cancel_run(person.connection, world.command(run_id, "cancel"))

        with pytest.raises(CallbackClosed), world.connection.transaction():
            receive(cast(Connection, Meddled(world.connection, meanwhile)), token, "1")
    assert world.run(run_id).status == "cancelled"


# ---------------------------------------------------------------------- who learns the link


def test_a_step_that_names_a_link_gets_it_and_keeps_it_secret(world: World, hand: Hand) -> None:
    config = {"value": "{{ run.callbacks.K }}"}
    begun(world, DRAWING, configs={"A": config})
    held = hand.take()
    jobs = [job_for(hand.connection, held, values=Values()) for _ in range(2)]  # another attempt gets the same
    one, two = (cast(Job, job).scope["run"]["callbacks"]["K"] for job in jobs)
    assert one == two
    token = one.rpartition("/")[2]
    assert one == f"{settings.PUBLIC_URL}/api/callbacks/{token}"
    assert token in cast(Job, jobs[0]).connections[""]["_secrets"]
    assert post(token, 1) == (202, "kept")


def test_a_step_in_an_item_gets_the_links_of_its_own_item_and_of_what_lies_around(world: World, hand: Hand) -> None:
    config = {"value": ["{{ run.callbacks.K }}", "{{ run.callbacks.L }}"]}
    run_id = begun(world, "S > E[A > K:wait_for_callback] > L:wait_for_callback", configs={"A": config})
    hand.finish(hand.take(), Fans([1, 2], 32, "fail_at_end"))
    for index in (0, 1):
        job = job_for(hand.connection, hand.take(), values=Values())
        links = cast(Job, job).scope["run"]["callbacks"]
        tokens = {"K": token_of(world, run_id, f"E[{index}].K"), "L": token_of(world, run_id, "L")}
        assert {key: link.rpartition("/")[2] for key, link in links.items()} == tokens


def test_a_link_is_masked_in_what_the_step_that_sends_it_leaves_behind(world: World) -> None:
    config = {"value": {"told": "{{ run.callbacks.K }}"}}
    run_id = begun(world, DRAWING, configs={"A": config, "K": {}})
    world.work()
    token = token_of(world, run_id)
    step = world.steps(run_id)["A"]
    assert step.status == "succeeded"
    assert token not in str(step.output) + str(step.input)
    assert "/api/callbacks/" in str(step.output)
    assert post(token, {"from": "outside"}) == (200, "taken")
    world.work()
    assert world.run(run_id).status == "succeeded"


def cancel(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        cancel_run(world.connection, world.command(run_id, "cancel"))


def resume(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
