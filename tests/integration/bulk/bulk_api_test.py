"""Bulk operations and the runs list's `waits` over HTTP."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from builder.graph.model import Policy
from runs.bulk.drive import drive
from runs.core.outcomes import Crashed, Waits
from runs.models import BulkOperation
from teams.models import Role
from tests.bulk import BROKEN
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast

pytestmark = pytest.mark.django_db(transaction=True)


class Api:
    def __init__(self, people: Cast, role: Role | None = Role.OPERATOR) -> None:
        self.client: Client = people.client(role)
        self.base = f"/api/workspaces/{people.acme.slug}"

    def get(self, address: str, **query: Any) -> tuple[int, Any]:
        answer = self.client.get(f"{self.base}/{address}", query)
        return answer.status_code, answer.json()

    def post(self, address: str, **body: Any) -> tuple[int, Any]:
        answer = self.client.post(f"{self.base}/{address}", json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()


def test_an_operator_looks_begins_watches_stops_and_continues(people: Cast, hands: list[Hand]) -> None:
    api = Api(people)
    with World(workspace=people.acme) as world:
        version = world.draw("S > A")
        for _ in range(4):
            world.start(version)
            hands[0].finish(hands[0].take(), BROKEN)
    asked = {"operation": "resume", "filter": {"status": "failed,cancelled", "workflow": str(version.workflow_id)}}
    status, preview = api.post("bulk/preview", **asked)
    assert (status, preview["count"], preview["by_status"]) == (200, 4, {"failed": 4})
    assert preview["plans"][0]["again"] == ["A"]
    begin = {**asked, "command_id": str(uuid4()), "canary": 1, "expected_count": preview["count"]}
    status, bulk = api.post("bulk", **begin)
    assert (status, bulk["status"], bulk["counts"]["pending"]) == (201, "running", 4)
    assert api.post("bulk", **begin) == (200, bulk)
    assert api.post("bulk", **{**begin, "canary": 2})[1]["code"] == "command_id_taken"
    address = f"bulk/{bulk['id']}"
    while drive():
        pass
    status, bulk = api.get(address)
    assert (bulk["status"], bulk["reason"]["code"], bulk["counts"]["done"]) == ("waiting", "canary", 1)
    assert api.post(f"{address}/continue", revision=1)[1]["code"] == "bulk_changed"
    assert api.post(f"{address}/stop")[1]["status"] == "stopped"
    _, bulk = api.get(address)
    assert api.post(f"{address}/continue", revision=bulk["revision"])[1]["status"] == "running"
    while drive():
        pass
    _, bulk = api.get(address)
    assert bulk["status"] == "waiting", "the canary was not looked at yet"
    assert api.post(f"{address}/continue", revision=bulk["revision"])[0] == 200
    while drive():
        pass
    first = api.get(f"{address}/runs", limit=3)[1]
    second = api.get(f"{address}/runs", limit=3, cursor=first["next"])[1]
    found = [*first["items"], *second["items"]]
    assert [(item["status"], item["result"]) for item in found] == [("done", {"generation": 2, "again_count": 1})] * 4
    assert (second["next"], api.get(f"{address}/runs", status="refused")[1]["items"]) == (None, [])
    assert [each["id"] for each in api.get("bulk")[1]["items"]] == [bulk["id"]]


def test_many_runs_are_labelled_at_once_whatever_they_are_at(people: Cast, hands: list[Hand]) -> None:
    api = Api(people)
    with World(workspace=people.acme) as world:
        version = world.draw("S > A")
        for _ in range(2):
            world.start(version)
        hands[0].finish(hands[0].take(), BROKEN)
        asked = {"operation": "label", "filter": {}, "labels": {"add": ["month end"], "remove": ["to check"]}}
        assert api.post("bulk/preview", **asked)[1]["count"] == 2
        status, bulk = api.post("bulk", **asked, command_id=str(uuid4()))
        assert (status, bulk["request"]["labels"]) == (201, asked["labels"])
        while drive():
            pass
        assert api.get(f"bulk/{bulk['id']}")[1]["counts"]["done"] == 2
        assert [row["labels"] for row in api.get("runs", label="month end")[1]["items"]] == [["month end"]] * 2


@pytest.mark.parametrize(
    "body",
    [
        {"operation": "resume"},
        {"operation": "resume", "filter": {}, "ids": [str(uuid4())]},
        {"operation": "delete", "filter": {}},
        {"operation": "resume", "ids": []},
        {"operation": "resume", "ids": ["x"]},
        {"operation": "resume", "filter": {"status": "fialed"}},
        {"operation": "resume", "filter": {"state": "failed"}},
        {"operation": "resume", "filter": {"limit": 5}},
        {"operation": "resume", "filter": {}, "rate_per_s": 0},
        {"operation": "resume", "filter": {}, "canary": 0},
        {"operation": "resume", "filter": {}},  # no run at all
        {"operation": "label", "filter": {}},
        {"operation": "label", "filter": {}, "labels": {"add": ["a,b"]}},
        {"operation": "resume", "filter": {}, "labels": {"add": ["a"]}},
    ],
)
def test_what_cannot_be_is_refused_and_begins_nothing(people: Cast, body: dict[str, Any]) -> None:
    status, problem = Api(people).post("bulk", command_id=str(uuid4()), **body)
    assert status == 400, problem
    assert not BulkOperation.objects.exists()


def test_nobody_sees_the_bulk_operations_of_others_and_viewers_only_look(people: Cast, hands: list[Hand]) -> None:
    with World(workspace=people.acme) as world:
        world.start(world.draw("S > A"))
    asked = {"operation": "cancel", "filter": {"status": "running"}, "command_id": str(uuid4())}
    assert Api(people, Role.VIEWER).post("bulk", **asked)[0] == 403
    assert Api(people, None).post("bulk", **asked)[0] == 404
    _, bulk = Api(people).post("bulk", **asked)
    for role, sees, does in ((Role.VIEWER, 200, 403), (None, 404, 404)):
        api = Api(people, role)
        assert [api.get(f"bulk/{bulk['id']}{more}")[0] for more in ("", "/runs")] == [sees, sees]
        assert api.post(f"bulk/{bulk['id']}/stop")[0] == does
        assert api.post(f"bulk/{bulk['id']}/continue", revision=1)[0] == does
    olga = people.client(None)
    answer = olga.get(f"/api/workspaces/{people.other.slug}/bulk/{bulk['id']}")
    assert (answer.status_code, answer.json()["code"]) == (404, "bulk_not_found")


# ---------------------------------------------------------------------- runs that wait for a person


def test_the_runs_list_tells_those_that_wait_for_a_person_from_the_others(people: Cast, hands: list[Hand]) -> None:
    policies = {"A": Policy(delivery="at_most_once")}
    plays = {
        "asks": Waits("approval", None, {}),
        "unknown": Crashed("killed"),
        "timer": Waits("timer", 60.0, {}),
        "failed": BROKEN,
        "runs": None,
    }
    numbers = {}
    with World(workspace=people.acme) as world:
        version = world.draw("S > A", policies=policies)
        for name, outcome in plays.items():
            started = world.start(version)
            numbers[started.number] = name
            held = hands[0].take()
            if outcome is not None:
                hands[0].finish(held, outcome)
    api = Api(people)

    def found(**query: str) -> set[str]:
        status, page = api.get("runs", **query)
        assert status == 200, page
        return {numbers[run["number"]] for run in page["items"]}

    assert found(waits="person") == {"asks", "unknown"}
    assert found(waits="nobody") == {"timer", "runs"}
    assert found(waits="person", status="failed") == set()
    assert api.get("runs", waits="anything")[0] == 400
