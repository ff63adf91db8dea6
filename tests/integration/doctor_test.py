"""The doctor: what it finds with real triggers, connections and people."""

import json
from typing import Any

import pytest

from builder.connections.models import Connection
from builder.connections.services import create_connection
from builder.workflows.models import Workflow
from builder.workflows.services import archive_workflow, create_workflow, publish, save_draft
from runs.models import Run, Trigger
from runs.triggers.services import create_trigger
from teams.access import SYSTEM
from teams.models import Membership, Role
from tests.graphs import draw
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)
NEEDS_BATCH = {"type": "object", "required": ["batch"]}


@pytest.fixture
def people() -> Cast:
    return cast()


def made(people: Cast, drawing: str = "S > A", **configs: Any) -> Workflow:
    graph = draw(drawing, configs={"A": {"fields": {"x": 1}}, **configs})
    document = {
        "nodes": [{"id": n.id, "key": n.key, "kind": n.kind, "config": n.config} for n in graph.nodes],
        "edges": [{"id": e.id, "source": e.source, "target": e.target} for e in graph.edges],
    }
    return create_workflow(actor=SYSTEM, workspace=people.acme, name="Invoices", graph=document)


def ask(people: Cast, workflow: Workflow, role: Role = Role.VIEWER) -> dict[str, Any]:
    address = f"/api/workspaces/{people.acme.slug}/workflows/{workflow.id}/doctor"
    answer = people.client(role).get(address)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def findings(people: Cast, workflow: Workflow, check: str) -> list[tuple[str, str]]:
    (found,) = [each for each in ask(people, workflow)["checks"] if each["check"] == check]
    return [(each["state"], each["message"]) for each in found["findings"]]


def schedule(workflow: Workflow, name: str = "Nightly", **settings: Any) -> Trigger:
    wanted = {"cron": "0 2 * * *", "zone": "Europe/Berlin", **settings}
    return create_trigger(actor=SYSTEM, workflow=workflow, kind="schedule", name=name, settings=wanted)


def test_a_sound_first_draft_is_well_in_every_way(people: Cast) -> None:
    found = ask(people, made(people))
    assert (found["revision"], found["state"]) == (1, "ok")
    assert [each["check"] for each in found["checks"]] == [
        "problems", "changes", "triggers", "schedules", "connections", "approvers",
    ]  # fmt: skip


def test_problems_and_an_unchanged_draft_are_told(people: Cast) -> None:
    workflow = made(people)
    publish(actor=SYSTEM, workflow=workflow, revision=1)
    assert findings(people, workflow, "changes")[0][0] == "warning"
    broken = made(people, "S, A")
    assert ask(people, broken)["state"] == "error"
    assert findings(people, broken, "problems")[0][0] == "error"


def test_the_next_five_times_of_a_schedule_mark_the_change_of_the_clock(people: Cast) -> None:
    workflow = made(people)
    schedule(workflow)
    (found,) = [each for each in ask(people, workflow)["checks"] if each["check"] == "schedules"]
    assert len(found["findings"][0]["upcoming"]) == 5
    yearly = made(people)
    schedule(yearly, cron="30 2 * 3 0L")  # the last Sunday in March, on which the clock skips this time
    (found,) = [each for each in ask(people, yearly)["checks"] if each["check"] == "schedules"]
    assert "forward" in [tick["clock"] for tick in found["findings"][0]["upcoming"]]
    assert found["state"] == "warning"


def test_a_schedule_whose_input_the_draft_would_refuse(people: Cast) -> None:
    workflow = made(people, S={"input_schema": NEEDS_BATCH})
    schedule(workflow, input={"batch": 7})
    assert findings(people, workflow, "triggers")[0][0] == "ok"
    schedule(workflow, name="Hourly", input={})
    ((_, _), (state, message)) = findings(people, workflow, "triggers")
    assert state == "error"
    assert "'Hourly': its input does not fit" in message


@pytest.mark.parametrize("settings", [{}, {"signature": "body"}, {"security": "bearer"}, {"security": "none"}], ids=str)
def test_a_webhook_takes_a_test_delivery_that_starts_nothing(people: Cast, settings: dict[str, Any]) -> None:
    workflow = made(people)
    publish(actor=SYSTEM, workflow=workflow, revision=1)
    hook = create_trigger(actor=SYSTEM, workflow=workflow, kind="webhook", name="Orders", settings=settings)
    ((state, message),) = findings(people, workflow, "triggers")
    assert (state, "takes a test delivery" in message) == ("ok", True)
    assert Run.objects.count() == 0
    Trigger.objects.filter(id=hook.id).update(secret="kept with a key that is gone")
    if settings.get("security") != "none":
        assert findings(people, workflow, "triggers")[0][0] == "error"


def test_what_a_trigger_needs_may_be_gone(people: Cast) -> None:
    workflow, source = made(people), made(people)
    ends = {"source": str(source.id)}
    create_trigger(actor=SYSTEM, workflow=workflow, kind="run_end", name="After", settings=ends)
    assert findings(people, workflow, "triggers") == [("ok", "'After' starts at the end of 'Invoices'.")]
    archive_workflow(actor=SYSTEM, workflow=source)
    assert findings(people, workflow, "triggers")[0][0] == "error"
    nightly = schedule(workflow)
    Trigger.objects.filter(id=nightly.id).update(settings=json.dumps({"cron": "never"}))
    assert findings(people, workflow, "triggers")[1][0] == "error"
    assert findings(people, workflow, "schedules")[0][0] == "error"
    Trigger.objects.filter(workflow=workflow).update(is_enabled=False)
    assert {state for state, _ in findings(people, workflow, "triggers")} == {"ok"}
    assert findings(people, workflow, "schedules") == [("ok", "No schedule is switched on.")]


def test_a_connection_that_nobody_can_open_any_more(people: Cast) -> None:
    http = {"base_url": "https://example.com", "token": "a-token-of-the-tests"}
    create_connection(actor=SYSTEM, workspace=people.acme, name="api", kind="http", settings=http)
    workflow = made(people, "S > A:http_request", A={"url": "/x", "connection": "api"})
    assert findings(people, workflow, "connections")[0][0] == "ok"
    Connection.objects.filter(name="api").update(sealed="kept with a key that is gone")
    ((state, message),) = findings(people, workflow, "connections")
    assert state == "error"
    assert "PAWL_ENCRYPTION_KEYS" in message


def test_only_members_who_may_approve_and_can_sign_in_are_counted(people: Cast) -> None:
    workflow = made(people, "S > A:approval", A={"title": "Pay?", "approvals_needed": 4})
    assert findings(people, workflow, "approvers")[0][0] == "ok"  # owner, admin, editor, operator
    leaver = Membership.objects.get(workspace=people.acme, role=Role.OPERATOR).user
    leaver.is_active = False
    leaver.save()
    assert findings(people, workflow, "approvers")[0][0] == "error"


def test_the_history_of_a_step_names_each_version_that_changed_it(people: Cast) -> None:
    workflow = made(people)
    publish(actor=SYSTEM, workflow=workflow, revision=1, note="first")
    editor = people.actor(Role.EDITOR)
    graph = json.loads(workflow.draft.graph)
    graph["nodes"][1]["config"] = {"fields": {"x": 2}}
    save_draft(actor=editor, workflow=workflow, revision=1, graph=graph)
    address = f"/api/workspaces/{people.acme.slug}/workflows/{workflow.id}/steps"
    client = people.client(Role.VIEWER)
    found = client.get(f"{address}/n_A/history").json()
    assert [(each["number"], each["note"], each["by"]) for each in found["items"]] == [
        (None, "", "Editor"),
        (1, "first", None),
    ]
    assert [each["node"]["config"] for each in found["items"]] == [{"fields": {"x": 2}}, {"fields": {"x": 1}}]
    assert found["since"] == 1
    assert client.get(f"{address}/n_gone/history").json() == {"items": [], "since": 1}
