"""What comes through the doors: values, names, graphs and clicks that broke other builders."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from builder.graph.codec import encode
from runs.models import Run
from teams.models import Role
from tests.cases.scene import Scene
from tests.graphs import draw
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)

START = {"id": "n1", "key": "start", "kind": "start"}
AWKWARD = [
    "v1.2 load",
    "a[b]",
    "x/y",
    " lead",
    "{{n}}",
    "",
    "node 1",
    "node 1",
    "第一步",
    "第二步",
    "مرحلة",
    "caf\u00e9",
    "cafe\u0301",
]
# 64-bit integers that a browser rounds, and what JSON can say and few keep
NUMBERS = "[7615917337495251231, 17169973925117969, 0.1, -0.0, 1e+22]"


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def editor(people: Cast) -> Client:
    return people.client(Role.EDITOR)


class Desk:
    """A workflow of Acme, and the person who draws it."""

    def __init__(self, people: Cast, editor: Client) -> None:
        self.editor = editor
        self.workflows = f"/api/workspaces/{people.acme.slug}/workflows"
        self.address = f"{self.workflows}/{self.post(self.workflows, {'name': 'Invoices'}).json()['id']}"
        self.revision = 1

    def post(self, address: str, body: Any) -> Any:
        return self.editor.post(address, _text(body), content_type="application/json")

    def save(self, graph: Any) -> Any:
        body = {"revision": self.revision, "graph": graph}
        saved = self.editor.put(f"{self.address}/draft", _text(body), content_type="application/json")
        self.revision = saved.json().get("revision", self.revision) if saved.status_code == 200 else self.revision
        return saved

    def publish(self) -> Any:
        return self.post(f"{self.address}/publish", {"revision": self.revision, "note": ""})

    def run(self, run_input: Any = None, **more: Any) -> Any:
        return self.post(f"{self.address}/runs", {"input": run_input, **more})


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


@pytest.fixture
def desk(people: Cast, editor: Client) -> Desk:
    return Desk(people, editor)


def drawn(text: str, **options: Any) -> dict[str, Any]:
    return encode(draw(text, plain="pass_through", **options))


def problems_of(saved: Any) -> set[str]:
    assert saved.status_code == 200, saved.content
    return {problem["code"] for problem in saved.json()["problems"]}


def test_numbers_that_a_browser_rounds_come_back_as_they_were(desk: Desk, scene: Scene) -> None:
    """n8n-io/n8n#26925, node-red/node-red#2760: 64-bit ids were rounded on their way through."""
    desk.save(drawn("S > A > O", configs={"A": {"value": "{{ run.input }}"}, "O": {"value": "{{ steps.A.output }}"}}))
    assert desk.publish().status_code == 201
    started = desk.post(f"{desk.address}/runs", f'{{"input": {NUMBERS}}}').json()
    scene.work()
    run = f"{desk.workflows.removesuffix('/workflows')}/runs/{started['id']}"
    shown = desk.editor.get(f"{run}/steps/O").content.decode()
    for number in ("7615917337495251231", "17169973925117969", "0.1", "-0.0", "1e+22"):
        assert number in shown
    assert json.loads(scene.steps(started["id"])["O"].output) == json.loads(NUMBERS)


def test_a_number_that_is_too_large_for_a_double_is_refused_by_its_place(desk: Desk) -> None:
    """1e400 is infinity to most readers: it is refused, never changed silently."""
    desk.save(drawn("S > O", configs={"O": {"value": 1}}))
    desk.publish()
    refused = desk.post(f"{desk.address}/runs", '{"input": {"a": 1e400}}')
    assert refused.status_code == 400
    assert Run.objects.count() == 0


def test_settings_nested_ten_thousand_deep_are_refused_with_the_limit(desk: Desk) -> None:
    """elizaOS/eliza PR 22716: the serializer broke before the check could answer 400."""
    deep = "[" * 10_000 + "]" * 10_000
    node = f'{{"id": "a", "key": "a", "kind": "pass_through", "config": {{"value": {deep}}}}}'
    refused = desk.save(f'{{"revision": 1, "graph": {{"nodes": [{json.dumps(START)}, {node}], "edges": []}}}}')
    assert refused.status_code == 400
    assert refused["Content-Type"] == "application/problem+json"
    assert desk.save({"nodes": [START], "edges": []}).status_code == 200


def test_a_name_is_a_label_and_a_reference_goes_by_the_key(desk: Desk, scene: Scene) -> None:
    """n8n-io/n8n PR 8013, #917, #19331, langgenius/dify#29446, molgenis/molgenis#2737: a dot in a name hid the output;
    other scripts became '_' and clashed, or were shown as escapes.
    """
    graph = drawn(f"S > {' > '.join(f'k{number}' for number in range(len(AWKWARD)))}")
    named = {f"k{number}": name for number, name in enumerate(AWKWARD)}
    for node in graph["nodes"]:
        node["name"] = named.get(node["key"], node["key"])
        if node["key"] == "k1":
            node["config"] = {"value": "{{ steps.k0.output }}"}
        elif node["key"] == "k0":
            node["config"] = {"value": 7}
    assert not problems_of(desk.save(graph)) - {"unused_output"}
    back = desk.editor.get(f"{desk.address}/draft").json()["graph"]
    assert [node["name"] for node in back["nodes"] if node["key"] in named] == AWKWARD
    assert desk.publish().status_code == 201
    started = desk.run().json()
    scene.work()
    assert scene.output(started["id"], "k1") == 7


def test_equal_and_empty_keys_get_a_clear_answer(desk: Desk) -> None:
    """n8n-io/n8n#7896: the same name twice hung the editor."""
    twins = {"nodes": [START, *({"id": i, "key": "same", "kind": "merge"} for i in ("a", "b"))], "edges": []}
    found = problems_of(desk.save(twins))
    assert found == {"duplicate_key", "unreachable"}
    assert desk.publish().status_code == 422
    assert problems_of(desk.save({"nodes": [{**START, "key": ""}], "edges": []})) == {"bad_key"}
    assert desk.publish().status_code == 422


def test_an_edge_without_an_end_is_refused_and_not_stored(desk: Desk) -> None:
    """xyflow/xyflow#2339: deleted nodes left their edges in the model, unseen."""
    graph = drawn("S > A + B > C")
    graph["nodes"] = [node for node in graph["nodes"] if node["key"] not in "AB"]
    saved = desk.save(graph)
    assert saved.status_code == 400
    fields = {fault["field"] for fault in saved.json()["data"]["fields"]}
    assert fields == {
        "graph.edges[0].target",
        "graph.edges[1].target",
        "graph.edges[2].source",
        "graph.edges[3].source",
    }
    kept = desk.editor.get(f"{desk.address}/draft").json()
    assert (kept["revision"], kept["graph"]["edges"]) == (1, [])


def test_a_workflow_that_only_starts_ends_at_once(desk: Desk, scene: Scene) -> None:
    """rune-org/rune#501: it ran for ever."""
    desk.save({"nodes": [START], "edges": []})
    assert desk.publish().status_code == 201
    started = desk.run().json()
    assert (started["status"], started["counts"]["total"]) == ("succeeded", 1)
    alone = {"id": "a", "key": "a", "kind": "merge"}
    assert problems_of(desk.save({"nodes": [START, alone], "edges": []})) == {"unreachable"}
    assert desk.publish().status_code == 422, "a step that no way leads to is no part of any run"


def test_a_double_click_on_run_is_one_run_and_two_keys_are_two(desk: Desk, people: Cast) -> None:
    """mattermost/mattermost-plugin-playbooks#1773, n8n-io/n8n#35081: two runs, ten messages."""
    desk.save(drawn("S > O", configs={"O": {"value": 1}}))
    desk.publish()

    def click(key: str) -> tuple[int, str]:
        client = people.client(Role.EDITOR)
        try:
            body = json.dumps({"input": None, "idempotency_key": key})
            made = client.post(f"{desk.address}/runs", body, content_type="application/json")
            return made.status_code, made.json()["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        clicks = list(pool.map(click, ["one", "one", "one", "two"]))
    assert {id_ for _, id_ in clicks[:3]} == {clicks[0][1]}
    assert sorted(status for status, _ in clicks[:3]) == [200, 200, 201]
    assert clicks[3][0] == 201
    assert Run.objects.count() == 2


def test_a_save_on_top_of_what_somebody_else_saved_is_a_choice_and_idling_is_no_conflict(desk: Desk) -> None:
    """n8n-io/n8n#11638, #4857: the last save won silently; then idle tabs got false conflicts."""
    first = {"revision": 1, "graph": {"nodes": [START], "edges": []}}
    put = lambda body: desk.editor.put(f"{desk.address}/draft", json.dumps(body), content_type="application/json")  # noqa: E731
    assert put(first).json()["revision"] == 2
    conflict = put(first)
    assert (conflict.status_code, conflict.json()["code"]) == (409, "draft_conflict")
    assert conflict.json()["data"]["revision"] == 2
    assert put({**first, "revision": 2}).status_code == 200
