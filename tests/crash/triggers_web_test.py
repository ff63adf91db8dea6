"""Deliveries to a real web process: many that wait at once, and one whose web process is killed before it answers."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from config.services import ports
from runs.models import Firing, Run
from runs.triggers import services
from teams.access import SYSTEM
from tests.fleet import Fleet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.crash]

WAITING = 24  # more than a web process has connections to the database


def test_more_senders_wait_than_there_are_connections_and_each_gets_its_own_answer(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    with Fleet(process_environment, tmp_path) as fleet:
        port = ports.free_port()
        fleet.worker()
        fleet.web(port, PAWL_POOL_SIZE="4")
        version = fleet.world.draw("S > O", configs={"O": {"value": "{{ run.input.body }}"}})
        trigger = services.create_trigger(
            actor=SYSTEM, workflow=version.workflow, kind="webhook", name="orders",
            settings={"security": "none", "answer": "when_done", "wait_s": 60},
        )  # fmt: skip
        address = f"http://{ports.LOOPBACK}:{port}/hooks/{trigger.path}"

        def deliver(number: int) -> httpx.Response:
            return httpx.post(address, json={"n": number}, headers={"X-Delivery-Id": f"d{number}"}, timeout=90)

        with ThreadPoolExecutor(WAITING) as pool:
            answers = list(pool.map(deliver, range(WAITING)))
        assert [(answer.status_code, answer.json().get("output")) for answer in answers] == [
            (200, {"n": number}) for number in range(WAITING)
        ]
        fleet.check()


def test_a_delivery_whose_web_process_is_killed_is_taken_once_when_it_is_sent_again(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    with Fleet(process_environment, tmp_path) as fleet:
        version = fleet.world.draw("S > O")
        trigger = services.create_trigger(
            actor=SYSTEM, workflow=version.workflow, kind="webhook", name="orders", settings={"security": "none"}
        )
        for point in ("in_delivery", "before_wake"):  # before the commit, and after it
            port = ports.free_port()
            address = f"http://{ports.LOOPBACK}:{port}/hooks/{trigger.path}"
            sent = {"content": json.dumps({"at": point}), "headers": {"X-Delivery-Id": point}, "timeout": 30.0}
            web = fleet.web(port, PAWL_FAILPOINTS=f"{point}?marker={tmp_path / point}:exit9")
            with pytest.raises(httpx.TransportError):
                httpx.post(address, **sent)  # type: ignore[arg-type]
            fleet.wait(lambda web=web: not web.is_up, what="the death of the web process")
            fleet.web(port)
            answers = [httpx.post(address, **sent).json() for _ in range(2)]  # type: ignore[arg-type]
            assert answers[0]["run_id"] == answers[1]["run_id"]
            assert answers[0]["replayed"] is (point == "before_wake")
        assert Run.objects.filter(trigger_id=trigger.id).count() == Firing.objects.filter(status="fired").count() == 2
        fleet.check()
