"""Disabled steps, from the draft to the run: what is passed through is not executed, and what was drawn is kept."""

import json
from typing import Any

import pytest
from django.test import Client

from builder.workflows.models import Version
from teams.models import Role
from tests.engine import World
from tests.people import cast

pytestmark = pytest.mark.django_db(transaction=True)


def node(key: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"id": f"n_{key}", "key": key, "kind": kind, **more}


def edge(source: str, target: str, port: str = "out") -> dict[str, Any]:
    return {"id": f"e_{source}_{target}", "source": f"n_{source}", "source_port": port, "target": f"n_{target}"}


# The step that is switched off would fail, and the branch would go the other way.
GRAPH: dict[str, Any] = {
    "nodes": [
        node("start", "start"),
        node("stop", "fail", config={"message": "never"}, disabled=True),
        node("which", "branch", config={"condition": "{{ false }}"}, disabled=True),
        node("yes", "set_fields", config={"fields": {"got": "{{ steps.stop.output.n }}"}}),
        node("no", "fail", config={"message": "the other way"}),
    ],
    "edges": [edge("start", "stop"), edge("stop", "which"), edge("which", "yes", "true"), edge("which", "no", "false")],
}


def publish(client: Client, base: str, graph: Any, *, revision: int) -> Any:
    saved = client.put(
        f"{base}/draft", json.dumps({"revision": revision, "graph": graph}), content_type="application/json"
    )
    assert saved.status_code == 200, saved.json()
    body = json.dumps({"revision": revision + 1})
    return client.post(f"{base}/publish", body, content_type="application/json")


@pytest.fixture
def address() -> tuple[Client, str]:
    people = cast()
    client = people.client(Role.EDITOR)
    base = f"/api/workspaces/{people.acme.slug}/workflows"
    made = client.post(base, {"name": "Off"}, content_type="application/json").json()
    return client, f"{base}/{made['id']}"


def test_a_run_passes_through_disabled_steps_and_leaves_out_what_only_they_led_to(address: tuple[Client, str]) -> None:
    published = publish(*address, GRAPH, revision=1)
    assert published.status_code == 201, published.json()
    with World() as world:
        run_id = world.start(Version.objects.get(), {"n": 7}).run_id
        world.work()
        assert world.run(run_id).status == "succeeded"
        assert world.statuses(run_id) == dict.fromkeys(("start", "stop", "which", "yes"), "succeeded")
        assert world.output(run_id, "yes") == {"got": 7}
        assert world.broken() == []


def test_what_was_drawn_comes_back_and_publishing_it_again_changes_nothing(address: tuple[Client, str]) -> None:
    client, base = address
    publish(client, base, GRAPH, revision=1)
    shown = client.get(f"{base}/versions/1").json()["graph"]
    assert shown == client.get(f"{base}/draft").json()["graph"]
    assert [one["kind"] for one in shown["nodes"] if one.get("disabled")] == ["fail", "branch"]
    again = client.post(f"{base}/publish", json.dumps({"revision": 2}), content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "version_unchanged")


def test_a_disabled_step_has_no_problems_but_the_start_may_not_be_disabled(address: tuple[Client, str]) -> None:
    client, base = address
    nodes = [node("start", "start"), node("call", "http_request", disabled=True)]
    check = {"graph": {"nodes": nodes, "edges": [edge("start", "call")]}}
    assert client.post(f"{base}/check", json.dumps(check), content_type="application/json").json() == {"problems": []}
    nodes[0]["disabled"] = True
    found = client.post(f"{base}/check", json.dumps(check), content_type="application/json").json()["problems"]
    assert [problem["code"] for problem in found] == ["start_disabled"]


def test_reading_a_step_that_is_left_out_is_a_problem_before_it_can_fail_a_run(address: tuple[Client, str]) -> None:
    reader = node("reader", "set_fields", config={"fields": {"x": "{{ steps.no.output }}"}})
    graph = {
        "nodes": [*GRAPH["nodes"], reader],
        "edges": [*GRAPH["edges"], edge("no", "reader"), edge("yes", "reader")],
    }
    refused = publish(*address, graph, revision=1)
    assert refused.status_code == 422
    problems = refused.json()["data"]["problems"]
    assert [problem["code"] for problem in problems if problem["severity"] == "error"] == ["reference_unknown"]
