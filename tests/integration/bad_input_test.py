"""Whatever is wrong with what is sent: a problem (RFC 9457) that names field and node, and nothing has changed."""

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from builder.workflows.models import Version, Workflow
from runs.models import Run
from teams.models import AuditRecord, Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db

START = {"id": "n1", "key": "start", "kind": "start"}
WAIT = {"id": "n2", "key": "wait", "kind": "delay", "config": {"seconds": 1}}
EDGE = {"id": "e1", "source": "n1", "target": "n2"}
LIMIT = 2_000_000


def graph(*nodes: Any, edges: Any = (EDGE,)) -> str:
    return json.dumps({"revision": 1, "graph": {"nodes": [START, *nodes], "edges": list(edges)}})


DRAFTS: dict[str, tuple[str, int, str, tuple[str, str | None] | None]] = {
    "broken JSON": ('{"revision": 1, "graph": ', 400, "malformed_json", None),
    "no object": ("[]", 400, "bad_input", None),
    "no graph": ('{"revision": 1}', 400, "bad_input", ("graph", None)),
    "a text for a number": ('{"revision": "one", "graph": {}}', 400, "bad_input", ("revision", None)),
    "a number for a list": ('{"revision": 1, "graph": {"nodes": 7}}', 400, "graph_malformed", ("graph.nodes", None)),
    "a list for settings": (
        graph({**WAIT, "config": [1]}), 400, "graph_malformed", ("graph.nodes[1].config", "n2"),
    ),
    "a negative limit": (
        graph({**WAIT, "policy": {"limit_s": -1}}), 400, "graph_malformed", ("graph.nodes[1].policy.limit_s", "n2"),
    ),
    "an edge to nowhere": (
        graph(edges=[{**EDGE, "target": "n9"}]), 400, "graph_malformed", ("graph.edges[0].target", None),
    ),
    "a huge body": (graph({**WAIT, "config": {"note": "x" * LIMIT}}), 413, "body_too_large", None),
}  # fmt: skip


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def editor(people: Cast) -> Client:
    return people.client(Role.EDITOR)


@pytest.fixture
def workflow(people: Cast, editor: Client) -> str:
    address = f"/api/workspaces/{people.acme.slug}/workflows"
    made = editor.post(address, {"name": "Invoices"}, content_type="application/json")
    return f"{address}/{made.json()['id']}"


def all_there_is(editor: Client, workflow: str) -> Any:
    return (
        editor.get(f"{workflow}/draft").json(), Workflow.objects.count(), Version.objects.count(), Run.objects.count(),
        AuditRecord.objects.count(),
    )  # fmt: skip


def problem_of(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code), problem
    assert problem["title"]
    assert problem["detail"]
    return problem


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_that_cannot_be_read_is_refused_by_field_and_changes_nothing(
    editor: Client, workflow: str, settings: Settings, name: str
) -> None:
    body, status, code, where = DRAFTS[name]
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT
    before = all_there_is(editor, workflow)
    problem = problem_of(editor.put(f"{workflow}/draft", body, content_type="application/json"), status, code)
    if where is not None:
        assert where in [(each["field"], each.get("node")) for each in problem["data"]["fields"]]
    assert all_there_is(editor, workflow) == before


@pytest.mark.parametrize(
    ("nodes", "edges", "found"),
    [
        ([{**WAIT, "config": {"seconds": 1, "colour": 1}}], [EDGE], ("unknown_field", "n2", "colour")),
        ([{**WAIT, "config": {"seconds": "soon"}}], [EDGE], ("bad_field", "n2", "seconds")),
        ([WAIT], [EDGE, {"id": "e2", "source": "n2", "target": "n2"}], ("self_loop", "n2", None)),
        ([{**WAIT, "config": {"seconds": "{{ steps.nobody.output }}"}}], [EDGE],
         ("reference_unknown", "n2", "seconds")),
    ],
)  # fmt: skip
def test_what_cannot_run_is_not_published_and_its_problem_names_node_and_field(
    editor: Client, workflow: str, nodes: list[Any], edges: list[Any], found: tuple[str, str, str | None]
) -> None:
    saved = editor.put(f"{workflow}/draft", graph(*nodes, edges=edges), content_type="application/json")
    assert saved.status_code == 200
    before = all_there_is(editor, workflow)
    refused = editor.post(f"{workflow}/publish", {"revision": 2}, content_type="application/json")
    problem = problem_of(refused, 422, "draft_has_problems")
    assert found in [(each["code"], each.get("node"), each.get("field")) for each in problem["data"]["problems"]]
    assert all_there_is(editor, workflow) == before


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ('{"input": ', 400, None),
        ('{"input": null, "priority": "high"}', 400, "priority"),
        ('{"input": null, "deadline_s": -1}', 400, "deadline_s"),
        ('{"input": {"sum": "seven"}}', 400, "input.sum"),
    ],
)
def test_a_start_that_cannot_be_is_refused_by_field_and_starts_nothing(
    editor: Client, workflow: str, body: str, status: int, field: str | None
) -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "number"}}}
    start = {**START, "config": {"input_schema": schema}}
    content = json.dumps({"revision": 1, "graph": {"nodes": [start], "edges": []}})
    assert editor.put(f"{workflow}/draft", content, content_type="application/json").status_code == 200
    assert editor.post(f"{workflow}/publish", {"revision": 2}, content_type="application/json").status_code == 201
    before = all_there_is(editor, workflow)
    refused = editor.post(f"{workflow}/runs", body, content_type="application/json")
    assert (refused.status_code, refused["Content-Type"]) == (status, "application/problem+json"), refused.content
    if field is not None:
        assert field in [each["field"] for each in refused.json()["data"]["fields"]], refused.json()
    assert all_there_is(editor, workflow) == before
