"""Pause, unpause and breakpoints over HTTP: who may, what is answered, what the audit trail says."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from builder.workflows.models import Workflow
from builder.workflows.services import create_workflow, publish
from runs.models import Run
from teams.access import SYSTEM
from teams.models import AuditRecord, Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)

GRAPH = {
    "schema": 1,
    "nodes": [
        {"id": "n1", "key": "start", "kind": "start"},
        {"id": "n2", "key": "fetch", "kind": "pass_through", "config": {"value": 1}},
        {"id": "n3", "key": "load", "kind": "pass_through", "config": {"value": 2}},
    ],
    "edges": [{"id": "e1", "source": "n1", "target": "n2"}, {"id": "e2", "source": "n2", "target": "n3"}],
}


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def workflow(people: Cast) -> Workflow:
    made = create_workflow(actor=SYSTEM, workspace=people.acme, name="Load", graph=GRAPH)
    publish(actor=SYSTEM, workflow=made, revision=1)
    return made


def send(client: Client, method: str, address: str, body: Any) -> tuple[int, Any]:
    answer = client.generic(method, f"/api/{address}", data=json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def started(people: Cast, workflow: Workflow, **options: Any) -> tuple[int, Any]:
    client = people.client(Role.OPERATOR)
    return send(client, "POST", f"workspaces/{people.acme.slug}/workflows/{workflow.id}/runs", options)


def act(people: Cast, run_id: str, what: str, *, role: Role | None = Role.OPERATOR, **body: Any) -> tuple[int, Any]:
    method = "PUT" if what == "breakpoints" else "POST"
    body = {"command_id": str(uuid4()), **body}
    return send(people.client(role), method, f"workspaces/{people.acme.slug}/runs/{run_id}/{what}", body)


def test_an_operator_pauses_and_unpauses_and_the_trail_says_so(people: Cast, workflow: Workflow) -> None:
    _, run = started(people, workflow)
    assert act(people, run["id"], "pause") == (200, {"status": "paused"})
    status, problem = act(people, run["id"], "pause")
    assert (status, problem["code"]) == (409, "not_possible_now")
    assert act(people, run["id"], "unpause") == (200, {"status": "running"})
    trail = AuditRecord.objects.filter(target_id=run["id"]).order_by("id").values_list("action", flat=True)
    assert list(trail) == ["run.start", "run.pause", "run.unpause"]


def test_the_same_command_again_is_answered_with_the_first_result(people: Cast, workflow: Workflow) -> None:
    _, run = started(people, workflow)
    command = str(uuid4())
    assert act(people, run["id"], "pause", command_id=command) == (200, {"status": "paused"})
    assert act(people, run["id"], "unpause") == (200, {"status": "running"})
    assert act(people, run["id"], "pause", command_id=command) == (200, {"status": "paused"})
    assert Run.objects.get(id=run["id"]).status == "running"


@pytest.mark.parametrize(("role", "expected"), [(Role.VIEWER, 403), (None, 404)])
@pytest.mark.parametrize("what", ["pause", "unpause", "breakpoints"])
def test_who_may_not_run_may_not_do_it(
    people: Cast, workflow: Workflow, role: Role | None, expected: int, what: str
) -> None:
    _, run = started(people, workflow)
    body: dict[str, Any] = {"breakpoints": []} if what == "breakpoints" else {}
    assert act(people, run["id"], what, role=role, **body)[0] == expected
    assert Run.objects.get(id=run["id"]).status == "running"


def test_a_run_that_is_started_with_breakpoints_shows_where_it_stands(people: Cast, workflow: Workflow) -> None:
    status, run = started(people, workflow, breakpoints=[{"path": "fetch"}, {"node": "n3"}])
    assert (status, run["status"], run["paused_at"]) == (201, "paused", ["fetch"])
    address = f"/api/workspaces/{people.acme.slug}/runs/{run['id']}"
    shown = people.client(Role.VIEWER).get(address).json()["run"]
    assert (shown["paused_at"], shown["breakpoints"]) == (["fetch"], [{"node": "n3"}, {"path": "fetch"}])
    status, answer = act(people, run["id"], "breakpoints", breakpoints=[])
    assert (status, answer) == (200, {"status": "paused", "breakpoints": [], "paused_at": ["fetch"]})
    assert act(people, run["id"], "unpause") == (200, {"status": "running"})


def test_the_snapshot_says_since_when_and_by_whom_a_run_is_paused(people: Cast, workflow: Workflow) -> None:
    _, run = started(people, workflow)
    show = f"/api/workspaces/{people.acme.slug}/runs/{run['id']}"

    def pause() -> Any:
        return people.client(Role.VIEWER).get(show).json()["run"]["pause"]

    assert pause() is None
    act(people, run["id"], "pause")
    first = pause()
    assert (first["by"], first["at"]) == (people.actor(Role.OPERATOR).name, None)
    act(people, run["id"], "breakpoints", breakpoints=[{"path": "fetch"}])  # holds what is ready: told as another pause
    assert Run.objects.get(id=run["id"]).paused_at == '["fetch"]'
    assert pause() == first  # it is still the same pause
    act(people, run["id"], "unpause")
    assert pause() is None
    _, held = started(people, workflow, breakpoints=[{"node": "n3"}, {"path": "fetch"}])
    assert people.client(Role.VIEWER).get(show.replace(run["id"], held["id"])).json()["run"]["pause"]["at"] == "fetch"


@pytest.mark.parametrize(
    "points",
    [
        [{}],
        [{"node": "n2", "path": "fetch"}],
        [{"node": "gone"}],
        [{"node": "n1"}],
        [{"path": "fetch[0].x"}],
        [{"node": "n\0"}],
        [{"step": "n2"}],
        [{"node": "n2"}] * 201,
        "n2",
    ],
)
def test_a_breakpoint_that_cannot_be_is_refused_and_changes_nothing(
    people: Cast, workflow: Workflow, points: Any
) -> None:
    assert started(people, workflow, breakpoints=points)[0] == 400
    assert not Run.objects.exists()
    _, run = started(people, workflow)
    seq = Run.objects.get(id=run["id"]).event_seq
    assert act(people, run["id"], "breakpoints", breakpoints=points)[0] == 400
    assert Run.objects.get(id=run["id"]).event_seq == seq
