"""Starts with an idempotency key, and the doors of triggers."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from runs.models import Run, Trigger
from runs.triggers.sweep import fire_due
from teams.models import AuditRecord, Role
from tests.engine import World
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


def url(people: Cast, tail: str) -> str:
    return f"/api/workspaces/{people.acme.slug}/{tail}"


def post(client: Any, address: str, body: Any) -> Any:
    return client.post(address, json.dumps(body), content_type="application/json")


# ---------------------------------------------------------------------- the same request again


def test_parallel_starts_with_one_key_are_one_run(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        address = url(people, f"workflows/{world.draw('S > A').workflow_id}/runs")
        clients = [people.client(Role.OPERATOR) for _ in range(8)]
        together = threading.Barrier(len(clients))

        def start(client: Any) -> Any:
            try:
                together.wait()
                return post(client, address, {"input": {"n": 1}, "idempotency_key": "click"})
            finally:
                connection.close()

        with ThreadPoolExecutor(len(clients)) as pool:
            answers = list(pool.map(start, clients))
        assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert Run.objects.count() == 1
        other = post(clients[0], address, {"input": {"n": 1}, "idempotency_key": "another click"})
        assert (other.status_code, Run.objects.count()) == (201, 2)


def test_a_key_answers_for_one_input_alone(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        address = url(people, f"workflows/{world.draw('S > A').workflow_id}/runs")
        client = people.client(Role.OPERATOR)
        answers = [post(client, address, {"input": n, "idempotency_key": "k"}) for n in (1, 2, 1)]
        assert [answer.status_code for answer in answers] == [201, 409, 200]


@pytest.mark.parametrize(
    "other", [{"n": 2}, {"n": 1.0}, {"n": True}, {"n": "1"}, {}, None, [1], {"n": 1, "m": None}], ids=str
)
def test_the_same_key_with_another_input_is_refused_and_starts_nothing(people: Cast, other: Any) -> None:
    with World(workspace=people.acme) as world:
        address = url(people, f"workflows/{world.draw('S > A').workflow_id}/runs")
        client = people.client(Role.OPERATOR)
        first = post(client, address, {"input": {"n": 1}, "idempotency_key": "k"})
        answer = post(client, address, {"input": other, "idempotency_key": "k"})
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")
        assert answer.json()["data"]["number"] == first.json()["number"]
        assert Run.objects.count() == 1


def test_the_key_may_come_in_the_header(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        address = url(people, f"workflows/{world.draw('S > A').workflow_id}/runs")
        client = people.client(Role.OPERATOR)

        def start(body: Any, key: str) -> Any:
            headers = {"Idempotency-Key": key}
            return client.post(address, json.dumps(body), content_type="application/json", headers=headers)

        first, again = start({"input": 1}, "k"), start({"input": 1}, "k")
        assert (first.status_code, again.status_code) == (201, 200)
        assert start({"input": 2}, "k").json()["code"] == "idempotency_key_reused"
        assert post(client, address, {"input": 1, "idempotency_key": "k"}).json()["id"] == first.json()["id"]
        assert start({"input": 1, "idempotency_key": "k"}, "k").status_code == 200
        for body, key in (({"idempotency_key": "other"}, "k"), ({}, "x" * 201)):
            refused = start(body, key)
            assert (refused.status_code, refused.json()["data"]["fields"][0]["field"]) == (400, "idempotency_key")
        assert Run.objects.count() == 1


def test_the_order_of_an_inputs_keys_makes_no_other_input(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        address = url(people, f"workflows/{world.draw('S > A').workflow_id}/runs")
        client = people.client(Role.OPERATOR)
        first = post(client, address, {"input": {"a": 1, "b": {"c": 2, "d": 3}}, "idempotency_key": "k"})
        again = post(client, address, {"input": {"b": {"d": 3, "c": 2}, "a": 1}, "idempotency_key": "k"})
        assert (first.status_code, again.status_code) == (201, 200)


def test_the_same_key_for_another_version_is_refused(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw("S > A")
        type(version).objects.create(workflow=version.workflow, number=2, graph=version.graph)
        address = url(people, f"workflows/{version.workflow_id}/runs")
        client = people.client(Role.OPERATOR)
        assert post(client, address, {"idempotency_key": "k", "version": 1}).status_code == 201
        assert post(client, address, {"idempotency_key": "k"}).status_code == 200
        answer = post(client, address, {"idempotency_key": "k", "version": 2})
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")


# ---------------------------------------------------------------------- triggers

NIGHTLY = {"cron": "30 2 * * *", "zone": "America/New_York", "input": {"id": 7615917337495251231}}


def test_a_schedule_is_made_looked_at_changed_and_deleted(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        version, editor = world.draw("S > O"), people.client(Role.EDITOR)
        made = post(
            editor,
            url(people, f"workflows/{version.workflow_id}/triggers"),
            {"kind": "schedule", "name": "Nightly", "settings": NIGHTLY},
        )
        assert made.status_code == 201, made.content
        trigger = made.json()
        assert trigger["settings"]["input"] == {"id": 7615917337495251231}
        assert (trigger["enabled"], trigger["last_firing"], len(trigger["upcoming"])) == (True, None, 5)
        address = url(people, f"triggers/{trigger['id']}")
        Trigger.objects.filter(id=trigger["id"]).update(decided_to="2026-03-01T00:00Z", next_at="2026-03-01T07:30Z")
        fire_due(world.connection)
        seen = editor.get(address).json()
        assert seen["last_firing"]["status"] == "fired"
        run = editor.get(url(people, f"runs/{seen['last_firing']['run']['id']}")).json()["run"]
        assert (run["trigger"], run["trigger_id"]) == ("schedule", trigger["id"])
        assert run["started_by"] == "schedule Nightly"
        firings = editor.get(address + "/firings?limit=3").json()
        assert (len(firings["items"]), firings["items"][0]["is_late"], bool(firings["next"])) == (3, True, True)
        second = editor.get(address + f"/firings?limit=3&cursor={firings['next']}").json()
        assert firings["items"][-1]["due_at"] > second["items"][0]["due_at"]
        off = editor.patch(address, json.dumps({"enabled": False}), content_type="application/json")
        assert (off.json()["enabled"], off.json()["upcoming"]) == (False, [])
        assert [each["id"] for each in editor.get(url(people, "triggers")).json()["items"]] == [trigger["id"]]
        assert editor.delete(address).status_code == 204
        assert editor.get(address).json()["code"] == "trigger_not_found"
        acts = list(AuditRecord.objects.filter(action__startswith="trigger.").values_list("action", flat=True))
        assert sorted(acts) == ["trigger.create", "trigger.delete", "trigger.update"]


def test_the_preview_of_an_expression_marks_the_changes_of_the_clock(people: Cast) -> None:
    wanted = {"cron": "30 2 * * *", "zone": "America/New_York", "after": "2023-03-11T12:00:00Z"}
    answer = post(people.client(Role.VIEWER), url(people, "schedule-preview"), wanted).json()["items"]
    assert [each["clock"] for each in answer] == ["forward", None, None, None, None]
    assert answer[0] == {"at": "2023-03-12T07:00:00Z", "local": "2023-03-12T03:00:00-04:00", "clock": "forward"}


@pytest.mark.parametrize(
    ("wanted", "field", "words"),
    [
        ({"cron": "0 0 30 2 *"}, "cron", "is never due"),
        ({"cron": "* * * * * *"}, "cron", "Seconds are not supported"),
        ({"cron": "0 0 * * *", "zone": "Nowhere"}, "zone", "no time zone"),
    ],
)
def test_an_expression_that_cannot_be_is_refused_in_words(
    people: Cast, wanted: dict[str, str], field: str, words: str
) -> None:
    answer = post(people.client(Role.VIEWER), url(people, "schedule-preview"), wanted)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_schedule")
    assert words in answer.json()["detail"]
    assert answer.json()["data"]["fields"][0]["field"] == field


def test_an_input_that_the_workflow_does_not_take_is_refused_when_the_schedule_is_made(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        version = world.draw("S > O", configs={"S": {"input_schema": {"type": "object", "required": ["total"]}}})
        body = {"kind": "schedule", "name": "x", "settings": {"cron": "0 0 * * *", "input": {}}}
        answer = post(people.client(Role.EDITOR), url(people, f"workflows/{version.workflow_id}/triggers"), body)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_run_input")
        assert not Trigger.objects.exists()


def test_the_secret_is_shown_once_and_the_address_to_those_who_may_run(people: Cast) -> None:
    with World(workspace=people.acme) as world:
        workflow = world.draw("S > O").workflow_id
        address = f"/api/workspaces/{people.acme.slug}/workflows/{workflow}/triggers"
        body = json.dumps({"kind": "webhook", "name": "orders", "settings": {}})
        made = people.client(Role.EDITOR).post(address, body, content_type="application/json").json()
        secret = made["secret"]
        assert secret.startswith("whsec_")
        one = f"/api/workspaces/{people.acme.slug}/triggers/{made['id']}"
        shown = {role: people.client(role).get(one) for role in (Role.VIEWER, Role.OPERATOR, Role.EDITOR)}
        assert all(secret not in answer.content.decode() for answer in shown.values())
        assert shown[Role.VIEWER].json()["path"] is None
        assert shown[Role.OPERATOR].json()["path"] == f"/hooks/{Trigger.objects.get().path}"
        assert people.client(Role.VIEWER).get(address).json()["items"][0]["path"] is None
        changed = people.client(Role.EDITOR).post(f"{one}/secret").json()["secret"]
        assert changed != secret
        kept = Trigger.objects.values_list("secret", "settings").get()
        trail = str(list(AuditRecord.objects.values_list("data", flat=True)))
        assert secret not in str(kept) + trail
        assert changed not in str(kept) + trail
