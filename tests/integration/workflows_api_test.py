import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builder.workflows.models import Version
from steps import registry
from teams.models import AuditRecord, Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db

START = {"id": "n1", "key": "start", "kind": "start"}


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def editor(people: Cast) -> Client:
    return people.client(Role.EDITOR)


@pytest.fixture
def workflow(people: Cast, editor: Client) -> str:
    """The address of a new workflow."""
    base = f"/api/workspaces/{people.acme.slug}/workflows"
    made = editor.post(base, {"name": "Invoices"}, content_type="application/json")
    assert made.status_code == 201
    return f"{base}/{made.json()['id']}"


def put(client: Client, address: str, body: Any) -> Any:
    return client.put(address, json.dumps(body), content_type="application/json")


def post(client: Client, address: str, body: Any) -> Any:
    return client.post(address, json.dumps(body), content_type="application/json")


def test_from_the_first_draft_to_a_version(editor: Client, workflow: str) -> None:
    listed = editor.get(workflow).json()
    assert (listed["live_version"], listed["draft_revision"], listed["last_run"]) == (None, 1, None)
    assert listed["updated_by"] == "Editor"

    saved = put(editor, f"{workflow}/draft", {"revision": 1, "graph": {"nodes": [START], "edges": []}})
    assert saved.status_code == 200
    assert (saved.json()["revision"], saved.json()["problems"]) == (2, [])
    assert saved.json() == editor.get(f"{workflow}/draft").json()

    published = post(editor, f"{workflow}/publish", {"revision": 2, "note": "first"})
    assert published.status_code == 201
    assert (published.json()["number"], published.json()["note"]) == (1, "first")
    assert editor.get(f"{workflow}/versions/1").json() == published.json()
    assert "graph" not in editor.get(f"{workflow}/versions").json()["items"][0]
    assert editor.get(f"{workflow}/versions/2").json()["code"] == "version_not_found"
    assert editor.get(workflow).json()["live_version"] == 1


def test_what_is_published_already_is_published_again_only_when_asked(editor: Client, workflow: str) -> None:
    assert post(editor, f"{workflow}/publish", {"revision": 1}).status_code == 201
    recorded = AuditRecord.objects.count()
    same = put(editor, f"{workflow}/draft", {"revision": 1, "graph": editor.get(f"{workflow}/draft").json()["graph"]})
    assert same.json()["revision"] == 2
    refused = post(editor, f"{workflow}/publish", {"revision": 2, "note": "a lost reply, or a second click"})
    assert (refused.status_code, refused.json()["code"]) == (409, "version_unchanged")
    assert refused.json()["data"] == {"version": 1}
    assert "same as version 1" in refused.json()["detail"]
    assert (Version.objects.count(), AuditRecord.objects.count()) == (1, recorded + 1), "the draft was saved, no more"
    asked = post(editor, f"{workflow}/publish", {"revision": 2, "note": "on purpose", "again": True})
    assert (asked.status_code, asked.json()["number"]) == (201, 2)


def test_a_conflict_brings_the_present_draft(editor: Client, workflow: str) -> None:
    put(editor, f"{workflow}/draft", {"revision": 1, "graph": {"nodes": [START], "edges": [], "tab": 1}})
    refused = put(editor, f"{workflow}/draft", {"revision": 1, "graph": {"nodes": [], "edges": []}})
    assert refused.status_code == 409
    assert refused["content-type"] == "application/problem+json"
    assert refused.json()["code"] == "draft_conflict"
    assert refused.json()["data"] == editor.get(f"{workflow}/draft").json()


def test_a_broken_field_is_named_with_its_node(editor: Client, workflow: str) -> None:
    nodes = [START, {"id": "n2", "key": "wait", "kind": "delay", "policy": {"limit_s": -5}}]
    refused = put(editor, f"{workflow}/draft", {"revision": 1, "graph": {"nodes": nodes, "edges": []}})
    assert refused.status_code == 400
    (field,) = refused.json()["data"]["fields"]
    assert (field["field"], field["node"]) == ("graph.nodes[1].policy.limit_s", "n2")
    assert editor.get(f"{workflow}/draft").json()["revision"] == 1


@pytest.mark.parametrize(
    ("nodes", "edges", "code", "node"),
    [
        ([], [["n1", "n1"]], "self_loop", "n1"),
        ([["n2", "fail"], ["n3", "fail"]], [["n1", "n2"], ["n2", "n3"], ["n3", "n2"]], "cycle", "n2"),
        ([["n2", "no_such_kind"]], [["n1", "n2"]], "unknown_kind", "n2"),
        ([["n2", "fail"]], [], "unreachable", "n2"),
    ],
)
def test_a_graph_that_cannot_run_is_saved_and_not_published(
    editor: Client, workflow: str, nodes: list[list[str]], edges: list[list[str]], code: str, node: str
) -> None:
    graph = {
        "nodes": [START, *({"id": each, "key": f"key_{each}", "kind": kind} for each, kind in nodes)],
        "edges": [{"id": f"e{index}", "source": a, "target": b} for index, (a, b) in enumerate(edges)],
    }
    saved = put(editor, f"{workflow}/draft", {"revision": 1, "graph": graph})
    assert saved.status_code == 200
    assert (code, node) in {(each["code"], each.get("node")) for each in saved.json()["problems"]}
    assert post(editor, f"{workflow}/check", {"graph": graph}).json() == {"problems": saved.json()["problems"]}

    recorded = AuditRecord.objects.count()
    refused = post(editor, f"{workflow}/publish", {"revision": 2})
    assert refused.status_code == 422
    assert refused.json()["code"] == "draft_has_problems"
    assert refused.json()["data"]["problems"] == saved.json()["problems"]
    assert not Version.objects.exists()
    assert AuditRecord.objects.count() == recorded


def test_whole_numbers_of_64_bits_come_back_exact(editor: Client, workflow: str) -> None:
    body = (
        '{"revision": 1, "graph": {"nodes": [{"id": "n1", "key": "start", "kind": "start",'
        ' "config": {"a": 9223372036854775807, "b": -9223372036854775808, "c": 18446744073709551615}}], "edges": []}}'
    )
    assert editor.put(f"{workflow}/draft", body, content_type="application/json").status_code == 200
    text = editor.get(f"{workflow}/draft").content
    for number in (b"9223372036854775807", b"-9223372036854775808", b"18446744073709551615"):
        assert number in text


@pytest.mark.parametrize("kind", list(registry.all_specs()))
def test_the_palette_and_the_form_know_every_kind(people: Cast, editor: Client, workflow: str, kind: str) -> None:
    items = editor.get(f"/api/workspaces/{people.acme.slug}/step-kinds").json()["items"]
    (found,) = [each for each in items if each["kind"] == kind]
    assert found["title"]
    assert found["readme"].startswith("#")
    assert found["schema"]["type"] == "object"
    described = post(editor, f"{workflow}/describe", {"kind": kind, "config": {}})
    assert described.status_code == 200
    assert described.json()["ports"] == found["ports"]


JUNK = [None, True, -1, 1.5, "", "{{", "{{ steps.x.output }}", [], [[]], {}, [None], {"a": {"b": []}}, [{"name": 1}]]


@pytest.mark.parametrize("kind", list(registry.all_specs()))
def test_unfinished_settings_are_described_not_answered_with_500(editor: Client, workflow: str, kind: str) -> None:
    spec = registry.get(kind)
    fields = list(spec.config.model_fields)
    for config in ({field: junk} for field in fields for junk in JUNK):
        assert isinstance(spec.describe(config), str)
        assert spec.ports(config)
    for junk in JUNK:
        answer = post(editor, f"{workflow}/describe", {"kind": kind, "config": dict.fromkeys(fields, junk)})
        assert answer.status_code == 200, (junk, answer.content)


def test_an_unknown_kind_is_not_found(editor: Client, workflow: str) -> None:
    answer = post(editor, f"{workflow}/describe", {"kind": "nonsense", "config": {}})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_kind")


def test_all_the_nodes_of_a_canvas_are_described_by_one_call(editor: Client, workflow: str) -> None:
    nodes = [{"kind": kind, "config": {}} for kind in registry.all_specs()]
    nodes.append({"kind": "http_request", "config": {"method": "PUT", "url": "/batch"}})
    items = post(editor, f"{workflow}/describe", {"nodes": nodes}).json()["items"]
    assert items == [post(editor, f"{workflow}/describe", node).json() for node in nodes]
    assert items[-1]["description"] == "PUT /batch"


def test_a_kind_that_is_gone_takes_no_words_from_the_other_nodes(editor: Client, workflow: str) -> None:
    nodes = [{"kind": "nonsense", "config": {}}, {"kind": "start", "config": {}}]
    nothing, start = post(editor, f"{workflow}/describe", {"nodes": nodes}).json()["items"]
    assert nothing is None
    assert start["ports"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "kind"),
        ({"kind": "start"}, "config"),
        ({"kind": "start", "config": {}, "nodes": []}, "kind"),
        ({"nodes": [{"kind": "start"}]}, "nodes[0].config"),
        ({"nodes": [{"kind": "start", "config": {}, "key": "a"}]}, "nodes[0].key"),
        ({"nodes": [{"kind": "start", "config": {}}] * 1001}, "nodes"),
    ],
)
def test_what_is_asked_of_nodes_is_checked(editor: Client, workflow: str, body: Any, field: str) -> None:
    answer = post(editor, f"{workflow}/describe", body)
    assert answer.status_code == 400
    assert field in [each["field"] for each in answer.json()["data"]["fields"]]


texts = st.text(max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
node = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["n1", "n2", ""]) | json_values,
        "key": st.sampled_from(["start", "two"]) | json_values,
        "kind": st.sampled_from(["start", "map", "branch", "http_request", "nonsense"]) | json_values,
        "config": json_values,
        "policy": json_values | st.dictionaries(st.sampled_from(["retry", "limit_s", "on_error"]), json_values),
        "parent": st.sampled_from(["n1", "n2", None]) | json_values,
        "position": json_values,
    },
)
edge = st.fixed_dictionaries({"id": texts, "source": texts, "target": texts}) | json_values
graphs = json_values | st.fixed_dictionaries({"nodes": st.lists(node, max_size=4), "edges": st.lists(edge, max_size=3)})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs)
def test_whatever_is_sent_for_a_graph_is_saved_or_refused_by_field(editor: Client, workflow: str, graph: Any) -> None:
    revision = editor.get(f"{workflow}/draft").json()["revision"]
    answer = put(editor, f"{workflow}/draft", {"revision": revision, "graph": graph})
    assert answer.status_code in (200, 400), answer.content
    after = editor.get(f"{workflow}/draft").json()["revision"]
    if answer.status_code == 200:
        assert after == revision + 1
    else:
        assert after == revision
        assert answer.json()["data"]["fields"]
