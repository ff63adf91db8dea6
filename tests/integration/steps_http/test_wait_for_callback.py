"""A step that sends its own link: once for each link, under a key of its own, to whoever is to call back."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from uuid import UUID

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from runs.engine.cancel import cancel_run
from runs.engine.resume import resume_run
from steps.base import StepFailure, WaitFor
from tests.engine import World
from tests.integration.steps_http.local_server import LocalServer, Seen, local_server, reply
from tests.step_context import FakeContext, run_step


def take(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
    reply(handler, 503 if seen.path == "/busy" else 200, b"thanks")


@pytest.fixture
def bank() -> Iterator[LocalServer]:
    with local_server(take) as server:
        yield server


@pytest.fixture
def ctx(tmp_path: Path, bank: LocalServer) -> FakeContext:
    return FakeContext(storage_root=tmp_path, outbound_allow=frozenset({bank.address}))


def test_the_link_is_sent_once_however_many_attempts_there_are(ctx: FakeContext, bank: LocalServer) -> None:
    body = {"callback_url": "https://pawl.example/api/callbacks/one"}
    config = {"notify_url": bank.url("/payments"), "notify_body": body, "notify_headers": {"X-Shop": "7"}}
    assert isinstance(run_step(ctx, "wait_for_callback", **config), WaitFor)
    run_step(ctx.next_attempt(), "wait_for_callback", **config)
    (seen,) = bank.seen
    assert (seen.method, seen.path) == ("POST", "/payments")
    assert json.loads(seen.body) == body
    assert seen.headers["x-shop"] == "7"


def test_another_link_is_sent_under_another_key(ctx: FakeContext, bank: LocalServer) -> None:
    for link in ("one", "two"):
        run_step(ctx, "wait_for_callback", notify_url=bank.url(), notify_body={"callback_url": link})
    keys = [seen.headers["idempotency-key"] for seen in bank.seen]
    assert len(set(keys)) == 2


def test_a_link_that_is_not_taken_fails_the_step_as_a_request_would(ctx: FakeContext, bank: LocalServer) -> None:
    with pytest.raises(StepFailure) as problem:
        run_step(ctx, "wait_for_callback", notify_url=bank.url("/busy"), notify_body={})
    assert problem.value.code == "http_503"
    assert problem.value.retryable


@pytest.mark.django_db(transaction=True)
def test_after_a_resume_the_step_sends_a_new_link_by_which_it_is_answered(
    bank: LocalServer, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOW = frozenset({bank.address})
    config = {"notify_url": bank.url(), "notify_body": {"call": "{{ run.callbacks.K }}", "for": "{{ run.input }}"}}
    with World() as world:
        version = world.draw("S > K:wait_for_callback > B", configs={"K": config})
        run_id: UUID = world.start(version, 5).run_id
        world.work()
        assert world.statuses(run_id)["K"] == "waiting"
        with world.connection.transaction():
            cancel_run(world.connection, world.command(run_id, "cancel"))
        with world.connection.transaction():
            resume_run(world.connection, world.command(run_id, "resume"))
        world.work()
        first, second = (json.loads(seen.body)["call"].partition("/api/")[2] for seen in bank.seen)
        assert first != second
        assert second.rpartition("/")[2] not in str(world.steps(run_id)["K"].input)
        post = Client(enforce_csrf_checks=True).post
        assert post(f"/api/{first}", "1", content_type="application/json").status_code == 410
        assert post(f"/api/{second}", '"paid"', content_type="application/json").status_code == 200
        world.work()
        assert world.output(run_id, "K") == "paid"
        assert world.run(run_id).status == "succeeded"
        assert world.broken() == []
