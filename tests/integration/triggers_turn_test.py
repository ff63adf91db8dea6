"""The turn that a trigger gives its runs: priority, a limit that they share, a deadline. Of every kind of trigger."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from runs.engine.start import Start, start_run
from runs.models import Run, Trigger
from runs.triggers.sweep import fire_due
from teams.models import AuditRecord, Role
from tests.engine import World
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)

TURN = {"priority": 7, "limit": {"key": "imports", "at_most": 2}, "deadline_s": 3600.0}
PLAIN = {"priority": 0, "limit": None, "deadline_s": None}


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def acme(people: Cast) -> Iterator[World]:
    with World(workspace=people.acme) as world:
        yield world


@pytest.fixture
def editor(people: Cast) -> Client:
    return people.client(Role.EDITOR)


def send(client: Client, method: str, address: str, body: Any = None) -> tuple[int, Any]:
    content = b"" if body is None else json.dumps(body).encode()
    answer = client.generic(method, address, content, content_type="application/json")
    return answer.status_code, json.loads(answer.content)


def url(people: Cast, tail: str) -> str:
    return f"/api/workspaces/{people.acme.slug}/{tail}"


def make(people: Cast, editor: Client, workflow_id: UUID, body: dict[str, Any]) -> Any:
    status, made = send(editor, "POST", url(people, f"workflows/{workflow_id}/triggers"), {"name": "t", **body})
    assert status == 201, made
    return made


def turn_of(run: Run) -> dict[str, Any]:
    limit = None if run.limit_key is None else {"key": run.limit_key, "at_most": run.limit_at_most}
    return {"priority": run.priority, "limit": limit, "deadline_s": run.deadline_s}


def test_a_schedules_runs_start_in_the_turn_that_it_says(people: Cast, acme: World, editor: Client) -> None:
    version = acme.draw("S > A")
    settings = {"cron": "0 2 * * *", "zone": "UTC"}
    made = make(people, editor, version.workflow_id, {"kind": "schedule", "settings": settings, **TURN})
    assert {name: made[name] for name in TURN} == TURN
    Trigger.objects.filter(id=made["id"]).update(next_at="2026-01-01T02:00:00Z", decided_to="2026-01-01T01:00:00Z")
    assert fire_due(acme.connection) == 1
    run = Run.objects.get(trigger_id=made["id"])
    assert turn_of(run) == TURN
    assert run.deadline_at is not None
    assert set(run.steps.values_list("priority", flat=True)) == {7}
    shown = send(editor, "GET", url(people, f"runs/{run.id}"))[1]["run"]
    assert {name: shown[name] for name in TURN} == TURN


def test_a_webhooks_runs_start_in_the_turn_that_it_says(people: Cast, acme: World, editor: Client) -> None:
    version = acme.draw("S > A")
    made = make(people, editor, version.workflow_id, {"kind": "webhook", "settings": {"security": "none"}, **TURN})
    status, taken = send(Client(), "POST", made["path"], {"order": 7})
    assert status == 202
    assert turn_of(Run.objects.get(id=taken["run_id"])) == TURN


def test_the_runs_after_another_ones_end_start_in_the_turn_that_the_trigger_says(
    people: Cast, acme: World, editor: Client
) -> None:
    source, target = acme.draw("S"), acme.draw("S > A")
    settings = {"source": str(source.workflow_id)}
    made = make(people, editor, target.workflow_id, {"kind": "run_end", "settings": settings, **TURN})
    with acme.connection.transaction():
        start_run(acme.connection, Start(source.workflow_id, source.id, None, "Ana", priority=-3))
    assert fire_due(acme.connection) == 1
    assert turn_of(Run.objects.get(trigger_id=made["id"])) == TURN, "the trigger's, not that of the run that ended"


def test_without_a_word_a_triggers_runs_have_no_turn_of_their_own(people: Cast, acme: World, editor: Client) -> None:
    version = acme.draw("S > A")
    made = make(people, editor, version.workflow_id, {"kind": "webhook", "settings": {"security": "none"}})
    assert {name: made[name] for name in PLAIN} == PLAIN
    taken = send(Client(), "POST", made["path"], {})[1]
    assert turn_of(Run.objects.get(id=taken["run_id"])) == PLAIN


def test_a_change_leaves_what_it_does_not_name_and_null_takes_away(people: Cast, acme: World, editor: Client) -> None:
    version = acme.draw("S > A")
    settings = {"cron": "0 2 * * *", "zone": "UTC"}
    made = make(people, editor, version.workflow_id, {"kind": "schedule", "settings": settings, **TURN})
    before = Trigger.objects.get(id=made["id"])
    address = url(people, f"triggers/{made['id']}")
    assert send(editor, "PATCH", address, {"priority": -2})[1]["limit"] == TURN["limit"]
    status, changed = send(editor, "PATCH", address, {"limit": None, "deadline_s": None})
    assert {name: changed[name] for name in TURN} == {"priority": -2, "limit": None, "deadline_s": None}
    after = Trigger.objects.get(id=made["id"])
    assert (status, after.next_at, after.decided_to) == (200, before.next_at, before.decided_to), "no tick was moved"
    trail = AuditRecord.objects.filter(action="trigger.update").order_by("id")
    assert [row.data["changed"] for row in trail] == [["priority"], ["deadline_s", "limit_at_most", "limit_key"]]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"priority": 11}, "priority"),
        ({"priority": None}, "priority"),
        ({"limit": {"key": "x"}}, "limit.at_most"),
        ({"limit": {"key": "", "at_most": 1}}, "limit.key"),
        ({"limit": {"key": "x", "at_most": 0}}, "limit.at_most"),
        ({"deadline_s": 0}, "deadline_s"),
    ],
)
def test_a_turn_that_cannot_be_is_refused_by_name(
    people: Cast, acme: World, editor: Client, wrong: dict[str, Any], field: str
) -> None:
    version = acme.draw("S > A")
    body = {"kind": "webhook", "name": "t", "settings": {}, **wrong}
    status, problem = send(editor, "POST", url(people, f"workflows/{version.workflow_id}/triggers"), body)
    assert (status, problem["data"]["fields"][0]["field"]) == (400, field)
    assert not Trigger.objects.exists()


def test_a_trigger_of_before_starts_its_runs_as_ever(acme: World) -> None:
    """An older process writes no turn; the columns have values all the same."""
    version = acme.draw("S > A")
    acme.connection.execute(
        "INSERT INTO runs_trigger (id, workspace_id, workflow_id, kind, name, is_enabled, settings, ends, overlap,"
        " created_at, updated_at) VALUES (gen_random_uuid(), %s, %s, 'run_end', 'old', true, '{}', '', '', now(),"
        " now())",
        (acme.workspace.id, version.workflow_id),
    )
    assert Trigger.objects.get(name="old").priority == 0
