"""The failure inbox: failures written down after the fact, once each; their groups, and what people do with them."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from runs.bulk.drive import drive
from runs.core.outcomes import Error, Failed, Succeeded
from runs.failures import project as projecting
from runs.failures.project import project
from runs.models import FailureGroup, Run, RunFailure
from sample.many_runs import forget_many_runs, make_many_runs
from teams.models import AuditRecord, Role
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


def policy(port: int) -> Failed:
    return Failed(Error("http_status", f"503 from http://127.0.0.1:{port}/policies"))


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def world(people: Cast) -> Iterator[World]:
    with World(workspace=people.acme) as world:
        yield world
        assert world.broken() == []


class Api:
    def __init__(self, people: Cast, role: Role | None = Role.OPERATOR) -> None:
        self.client: Client = people.client(role)
        self.base = f"/api/workspaces/{people.acme.slug}"

    def get(self, address: str, **query: Any) -> Any:
        return self.client.get(f"{self.base}/{address}", query).json()

    def send(self, method: str, address: str, **body: Any) -> tuple[int, Any]:
        answer = self.client.generic(
            method, f"{self.base}/{address}", json.dumps(body), content_type="application/json"
        )
        return answer.status_code, json.loads(answer.content or b"null")


def failing(world: World, hand: Hand, *outcomes: Failed) -> list[UUID]:
    """One run for each, failed in its turn at A."""
    version = world.draw("S > A > B")
    runs = []
    for outcome in outcomes:
        runs.append(world.start(version).run_id)
        hand.finish(hand.take(), outcome)
    return runs


def test_failures_that_differ_only_in_numbers_are_one_group(world: World, people: Cast, hands: list[Hand]) -> None:
    runs = failing(world, hands[0], policy(8001), policy(8002), Failed(Error("bad_value", "Row 17 is empty.")))
    assert (project(world.connection), project(world.connection)) == (3, 0)
    api = Api(people)
    newest, policies = api.get("failures")["items"]
    assert (newest["code"], newest["pattern"], newest["seen_count"]) == ("bad_value", "Row <n> is empty.", 1)
    assert (policies["pattern"], policies["seen_count"]) == ("<n> from <url>", 2)
    assert policies["standing"] == {"count": 2, "is_exact": True}
    assert policies["example"]["run"]["id"] == str(runs[1])
    assert (policies["example"]["path"], policies["example"]["message"]) == (
        "A",
        "503 from http://127.0.0.1:8002/policies",
    )
    assert [(each["name"], each["count"]) for each in policies["workflows"]] == [("w", 2)]
    assert api.get("failures/count") == {"count": 2, "is_exact": True}
    found = api.get("runs", fingerprint=policies["fingerprint"])["items"]
    assert [row["id"] for row in found] == [str(runs[1]), str(runs[0])]
    assert len(api.get("runs", error="row 17")["items"]) == len(api.get("runs", error="bad_val")["items"]) == 1
    assert len(api.get("runs", failed_step="A")["items"]) == 3
    assert api.get("runs", failed_step="B")["items"] == []


def test_a_group_whose_runs_were_resumed_says_by_whom(world: World, people: Cast, hands: list[Hand]) -> None:
    runs = failing(world, hands[0], policy(1), policy(2))
    project(world.connection)
    api = Api(people)
    (group,) = api.get("failures")["items"]
    asked = {"operation": "resume", "filter": {"fingerprint": group["fingerprint"]}}
    _, bulk = api.send("POST", "bulk", command_id=str(uuid4()), **asked)
    while drive():
        pass
    (resolved,) = api.get("failures", show="resolved")["items"]
    assert resolved["standing"]["count"] == 0
    assert (resolved["resolved_by"]["operation"], resolved["resolved_by"]["bulk"]) == ("resume", bulk["id"])
    assert resolved["resolved_by"]["actor"] == "Operator"
    assert api.get("failures")["items"] == []
    assert api.get("failures/count")["count"] == 0
    assert api.get("runs", fingerprint=group["fingerprint"])["items"] == []
    hands[0].finish(hands[0].take(), policy(3))
    hands[0].finish(hands[0].take(), Succeeded(1))
    assert project(world.connection) == 1
    (again,) = api.get("failures")["items"]
    assert (again["seen_count"], again["standing"]["count"], again["first_at"]) == (3, 1, group["first_at"])
    assert set(RunFailure.objects.filter(run_id__in=runs).values_list("generation", flat=True)) == {1, 2}


def test_handled_and_ignored_groups_leave_the_inbox_by_name(world: World, people: Cast, hands: list[Hand]) -> None:
    failing(world, hands[0], policy(1))
    project(world.connection)
    api = Api(people)
    address = f"failures/{api.get('failures')['items'][0]['fingerprint']}"
    status, group = api.send("PUT", address, state="handled", note="Asked the policy team")
    assert (status, group["state"], group["state_by"], group["note"]) == (
        200,
        "handled",
        "Operator",
        "Asked the policy team",
    )
    assert api.get("failures")["items"] == []
    assert api.get("failures/count")["count"] == 0
    assert api.get("failures", show="handled")["items"][0]["fingerprint"] == group["fingerprint"]
    assert api.send("PUT", address, state="ignored")[1]["state"] == "ignored"
    assert api.send("PUT", address, state="open")[1]["note"] == ""
    assert api.get("failures/count")["count"] == 1
    assert AuditRecord.objects.filter(action="failures.state").count() == 3
    assert api.send("PUT", address, state="resolved")[0] == 400
    assert Api(people, Role.VIEWER).send("PUT", address, state="open")[0] == 403
    assert Api(people, None).send("PUT", address, state="open")[0] == 404
    assert api.send("PUT", "failures/0000000000000000", state="open")[1]["code"] == "failure_group_not_found"


def test_of_a_container_the_item_that_failed_is_told(world: World, people: Cast) -> None:
    version = world.draw("S > E[X] > O", configs={"E": {"items": [1, 2]}, "X": {"message": "order PO-1"}})
    world.start(version)
    world.work()
    assert project(world.connection) == 1
    (group,) = Api(people).get("failures")["items"]
    assert (group["kind"], group["example"]["path"]) == ("fail", "E[0].X")


def test_what_is_written_down_goes_with_its_run_and_the_group_stays(people: Cast) -> None:
    make_many_runs(people.other, 400)
    with World() as world:
        while project(world.connection):
            pass
        assert RunFailure.objects.count() == Run.objects.filter(status="failed").count() == 20
        assert sum(FailureGroup.objects.values_list("seen_count", flat=True)) == 20
        assert FailureGroup.objects.count() == 4
    forget_many_runs(people.other)
    assert not RunFailure.objects.exists()


def test_two_sweepers_count_no_failure_twice(world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second has found the same runs before the first one wrote."""
    failing(world, hands[0], policy(1), policy(2))
    found = world.connection.execute(projecting.FIND, (10,)).fetchall()
    rows = [projecting.Failed(*row) for row in found]
    for _ in range(2):
        world.connection.execute(projecting.WRITE, projecting._values(rows))
    assert (RunFailure.objects.count(), FailureGroup.objects.get().seen_count) == (2, 2)


def test_a_message_that_no_column_takes_is_written_down_without_it(world: World, hands: list[Hand]) -> None:
    failing(world, hands[0], Failed(Error("odd", "a\0b \ud800 c")))
    assert project(world.connection) == 1
    assert RunFailure.objects.get().message == "ab ? c"


def test_a_run_that_passed_its_deadline_failed_by_itself() -> None:
    row: Any = (uuid4(), uuid4(), 1, 1, uuid4(), 1, None, '{"code": "run_deadline", "message": "It took 5 s."}')
    cause = projecting.cause_of(projecting.Failed(*row, None, None, None, None))
    assert (cause.kind, cause.code, cause.message) == ("run", "run_deadline", "It took 5 s.")
    nothing = projecting.cause_of(projecting.Failed(*row[:7], None, None, None, None, None))
    assert (nothing.kind, nothing.code, nothing.message) == ("run", "unknown", "")
