"""A request in a whole run whose child dies in its middle: a person sees what was being sent, and under which key."""

import os
import signal
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest
from pytest_django.fixtures import Settings

from builder.graph.model import Policy
from runs.models import Run, StepRun
from runs.selectors.steps import step_detail
from tests.engine import World
from tests.integration.steps_http.local_server import Seen, local_server, reply

pytestmark = pytest.mark.django_db(transaction=True)


def sent(world: World, settings: Settings, *, delivery: str | None) -> tuple[UUID, list[Seen]]:
    """The first request is taken, and then its sender dies."""

    def answer(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        if len(server.seen) == 1:
            kill_the_child(world)
        reply(handler, 200, b"thanks")

    with local_server(answer) as server:
        settings.OUTBOUND_ALLOW = frozenset({server.address})
        config = {"method": "POST", "url": server.url("/pay"), "body_type": "json", "body": {"sum": 7}}
        policies = {"P": Policy(delivery=delivery)} if delivery else {}  # type: ignore[arg-type]
        version = world.draw("S > P:http_request", configs={"P": config}, policies=policies)
        run_id = world.start(version).run_id
        for _ in range(3):
            world.work()
            world.sweep()
        return run_id, list(server.seen)


def kill_the_child(world: World) -> None:
    for pid in world.slot.child.pids:
        os.kill(pid, signal.SIGKILL)


def kept(run_id: UUID) -> Any:
    step = StepRun.objects.get(run_id=run_id, path="P")
    (act,) = step_detail(Run.objects.get(id=run_id), step, output={})["checkpoints"]
    return step, act["value"]


def test_a_request_whose_sender_died_is_shown_as_unknown_with_its_key_for_a_person(
    settings: Settings,
) -> None:
    with World() as world, closing(world.link):
        run_id, seen = sent(world, settings, delivery="at_most_once")
        step, act = kept(run_id)
        assert (step.status, len(seen)) == ("needs_decision", 1), step.error
        assert act["state"] == "unknown"
        assert act["idempotency_key"] == seen[0].headers["idempotency-key"]
        assert act["detail"]["method"] == "POST"
        assert act["detail"]["url"].endswith("/pay")


def test_a_request_that_may_be_repeated_is_sent_again_under_the_same_key(settings: Settings) -> None:
    with World() as world, closing(world.link):
        run_id, seen = sent(world, settings, delivery=None)
        step, act = kept(run_id)
        assert (step.status, step.attempt, act["state"]) == ("succeeded", 2, "done")
        assert len({each.headers["idempotency-key"] for each in seen}) == 1
        assert len(seen) == 2
