"""What a hostile reader found in what was built around the engine."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from builder.workflows.models import Workflow
from runs.engine import sweep
from runs.engine.fork import Forking, fork_run
from runs.models import Run, StepRun
from runs.triggers import services
from runs.triggers.errors import BadTrigger
from teams.access import SYSTEM
from teams.models import Role
from tests.engine import World
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def sender() -> Client:
    return Client(raise_request_exception=False)


def hooked(world: World, **settings: Any) -> Any:
    version = world.draw("S > O", configs={"O": {"value": "{{ run.input.body }}"}})
    return services.create_trigger(
        actor=SYSTEM,
        workflow=version.workflow,
        kind="webhook",
        name="orders",
        settings={"security": "none", **settings},
    )


def scheduled(workflow: Workflow, **settings: Any) -> Any:
    return services.create_trigger(actor=SYSTEM, workflow=workflow, kind="schedule", name="leap", settings=settings)


def post(people: Cast, tail: str, body: Any) -> Any:
    client = people.client(Role.EDITOR)
    client.raise_request_exception = False
    return client.post(f"/api/workspaces/{people.acme.slug}/{tail}", json.dumps(body), content_type="application/json")


def test_a_run_that_lost_a_decision_is_decided_anew(world: World) -> None:
    started = world.start(world.draw("S > A > O"))
    StepRun.objects.filter(run_id=started.run_id, path="A").update(status="pending")
    Run.objects.filter(id=started.run_id).update(created_at="2026-01-01T00:00Z")
    assert sweep.unstick(world.connection) == 1
    assert world.statuses(started.run_id)["A"] == "ready"
    world.work()
    assert world.run(started.run_id).status == "succeeded"


# ---------------------------------------------------------------------- deliveries


@pytest.mark.parametrize("name", ["Authorization", "authorization", "Cookie"])
def test_no_header_that_proves_who_the_sender_is_names_a_delivery(world: World, name: str) -> None:
    """Its value would be in the ledger and in the run's input."""
    with pytest.raises(BadTrigger):
        hooked(world, security="bearer", delivery_header=name)


MANY = "&".join(f"a{n}=1" for n in range(1_001))


def test_too_many_fields_are_refused_and_start_nothing(world: World, sender: Client) -> None:
    path = f"/hooks/{hooked(world).path}"
    answers = [
        sender.post(f"{path}?{MANY}", b"{}", content_type="application/json"),
        sender.post(path, MANY, content_type="application/x-www-form-urlencoded"),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(400, "too_many_fields")] * 2
    assert not Run.objects.exists()


def test_a_delivery_may_have_a_name_that_the_database_cannot_keep(world: World, sender: Client) -> None:
    trigger = hooked(world)
    answers = [
        sender.post(f"/hooks/{trigger.path}", b"{}", content_type="application/json", headers={"X-Delivery-Id": name})
        for name in ("a\0b", "a\0b", "a\0c")
    ]
    assert [answer.status_code for answer in answers] == [202] * 3
    assert [answer.json()["replayed"] for answer in answers] == [False, True, False]


# ---------------------------------------------------------------------- schedules


@pytest.mark.parametrize("begin", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1899-12-31T23:59:59Z"])
def test_a_schedule_is_not_made_up_for_before_there_were_clocks(people: Cast, begin: str) -> None:
    with World(workspace=people.acme) as world:
        trigger = scheduled(world.draw("S > A").workflow, cron="0 0 29 2 *", zone="Asia/Tokyo")
        answer = post(people, f"triggers/{trigger.id}/backfill", {"begin": begin, "end": "2020-01-01T00:00:00Z"})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_input")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize(
    ("after", "status"), [("0001-01-01T00:00:00Z", 400), ("9999-12-31T23:59:59-12:00", 400), ("9900-12-31T12:00Z", 200)]
)
def test_the_ends_of_all_time_are_no_times_of_a_schedule(people: Cast, after: str, zone: str, status: int) -> None:
    answer = post(people, "schedule-preview", {"cron": "0 0 29 2 *", "zone": zone, "after": after})
    assert answer.status_code == status, answer.content


# ---------------------------------------------------------------------- runs of runs, forks


def test_a_step_does_not_wait_for_a_run_that_somebody_else_gave_its_key(world: World) -> None:
    child = world.draw("S > O", configs={"O": {"value": "{{ run.input }}"}})
    calls = {"workflow": str(child.workflow_id), "input": {"a": 1}}
    run_id = world.start(world.draw("S > C", kinds={"C": "run_workflow"}, configs={"C": calls})).run_id
    world.start(child, {"a": 1}, key=f"step:{world.steps(run_id)['C'].id}:1")
    world.work()
    world.sweep()
    step = world.steps(run_id)["C"]
    assert (step.status, json.loads(step.error or "null")["code"]) == ("failed", "child_key_taken")


def test_a_loop_is_forked_whatever_characters_its_input_holds(world: World) -> None:
    config = {"most": 5, "until": "{{ index >= 1 }}", "first": "{{ run.input }}"}
    version = world.draw("S > L[A > B] > O", kinds={"L": "loop"}, configs={"L": config})
    run_id = world.start(version, "\ud800 \0").run_id
    world.work()
    wanted = world.command(run_id, "fork", generation=1)
    with world.connection.transaction():
        done = fork_run(world.connection, wanted, Forking("L[1].A"), then=lambda told: None)
    assert world.steps(UUID(done.result["run"]))["L"].item_total == 5


# ---------------------------------------------------------------------- starts


@pytest.mark.parametrize("key", ["a\0b", "a\x7f", "x" * 201])
def test_a_key_in_the_header_that_cannot_be_kept_is_refused(people: Cast, key: str) -> None:
    client = people.client(Role.OPERATOR)
    client.raise_request_exception = False
    with World(workspace=people.acme) as world:
        address = f"/api/workspaces/{people.acme.slug}/workflows/{world.draw('S > A').workflow_id}/runs"
        answer = client.post(address, "{}", content_type="application/json", headers={"Idempotency-Key": key})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_input")
        assert not Run.objects.exists()
