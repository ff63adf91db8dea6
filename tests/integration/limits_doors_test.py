"""Limits through the API: who may set which, what is told and recorded, and how much of each is used just now."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from builder.graph.model import Policy
from runs.core.limits import workspace_limit
from runs.engine.limits import set_limit
from runs.engine.start import Start, start_run
from runs.models import Limit, Run
from teams.models import AuditRecord, Role
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast, cast, superuser
from tests.staging import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def acme(people: Cast) -> Iterator[World]:
    with World(workspace=people.acme) as world:
        yield world


@pytest.fixture
def hand(acme: World) -> Iterator[Hand]:
    hand = Hand()
    yield hand
    hand.close()


def send(client: Client, method: str, address: str, body: Any = None) -> tuple[int, Any]:
    content = b"" if body is None else json.dumps(body).encode()
    answer = client.generic(method, f"/api/{address}", content, content_type="application/json")
    return answer.status_code, json.loads(answer.content)


def begin(world: World, policy: Policy = Policy(), **options: Any) -> Run:  # noqa: B008 - it is frozen
    version = world.draw("S > A", policies={"A": policy})
    with world.connection.transaction():
        started = start_run(world.connection, Start(version.workflow_id, version.id, None, "Ana", **options))
    return Run.objects.get(id=started.run_id)


def is_waiting_for_a_lock() -> bool:
    """Whether some session of this database is. Asked outside of any transaction: within one, PostgreSQL shows the same
    activity all the time.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


def lines(client: Client, people: Cast, scope: str) -> list[dict[str, Any]]:
    status, answer = send(client, "GET", f"workspaces/{people.acme.slug}/limits")
    assert status == 200
    return [line for line in answer["items"] if line["scope"] == scope]


def test_a_limit_is_set_changed_and_taken_away_and_each_answer_tells_what_was_before(people: Cast) -> None:
    owner, address = people.client(Role.OWNER), f"workspaces/{people.acme.slug}/limit"
    told = [send(owner, "PUT", address, {"at_most": number}) for number in (5, 5, 2)]
    told += [send(owner, "DELETE", address), send(owner, "DELETE", address)]
    assert [(answer["before"], answer["at_most"]) for _, answer in told] == [
        (None, 5), (5, 5), (5, 2), (2, None), (None, None),
    ]  # fmt: skip
    trail = AuditRecord.objects.filter(action__startswith="limit.").order_by("id")
    assert [(row.action, row.data["from"], row.data["to"], row.actor_name) for row in trail] == [
        ("limit.set", None, 5, "Owner"), ("limit.set", 5, 2, "Owner"), ("limit.remove", 2, None, "Owner"),
    ]  # fmt: skip
    assert {row.workspace_id for row in trail} == {people.acme.id}


def test_the_same_limit_again_leaves_who_set_it_and_when(people: Cast) -> None:
    address = f"workspaces/{people.acme.slug}/limit"
    send(people.client(Role.OWNER), "PUT", address, {"at_most": 5})
    first = Limit.objects.get()
    send(people.client(Role.OWNER), "PUT", address, {"at_most": 5})
    again = Limit.objects.get()
    assert (again.set_at, again.set_by) == (first.set_at, first.set_by)


def test_two_who_set_a_limit_at_once_are_told_each_others_number(people: Cast, acme: World) -> None:
    """Without the lock of the limit's name the second one would look before the first one's number is there."""
    name, address = workspace_limit(people.acme.id), f"workspaces/{people.acme.slug}/limit"

    def put() -> Any:
        try:
            return send(people.client(Role.OWNER), "PUT", address, {"at_most": 7})[1]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with acme.connection.transaction():
            assert set_limit(acme.connection, name, 5, workspace_id=people.acme.id, actor="Ben") is None
            second = pool.submit(put)
            wait_until(lambda: second.done() or is_waiting_for_a_lock())
        assert second.result(timeout=20) == {"at_most": 7, "before": 5}
    assert Limit.objects.get().at_most == 7


def test_a_workflows_limit_is_the_editors_and_the_workspaces_the_owners(people: Cast, acme: World) -> None:
    run = begin(acme)
    of_workflow = f"workspaces/{people.acme.slug}/workflows/{run.workflow_id}/limit"
    of_workspace = f"workspaces/{people.acme.slug}/limit"
    body = {"at_most": 1}
    may = {
        role: [send(people.client(role), "PUT", each, body)[0] for each in (of_workflow, of_workspace)] for role in Role
    }
    assert may == {
        Role.OWNER: [200, 200], Role.ADMIN: [200, 403], Role.EDITOR: [200, 403],
        Role.OPERATOR: [403, 403], Role.VIEWER: [403, 403],
    }  # fmt: skip


@pytest.mark.parametrize("at_most", [0, -1, 100_001, 1.5, "many", None])
def test_what_cannot_be_a_limit_is_refused_and_changes_nothing(people: Cast, at_most: Any) -> None:
    status, problem = send(
        people.client(Role.OWNER), "PUT", f"workspaces/{people.acme.slug}/limit", {"at_most": at_most}
    )
    assert (status, problem["data"]["fields"][0]["field"]) == (400, "at_most")
    assert not Limit.objects.exists()


def test_a_lanes_limit_is_the_installations(people: Cast) -> None:
    root = superuser()
    assert send(root, "PUT", "lanes/browser/limit", {"at_most": 2}) == (200, {"at_most": 2, "before": None})
    assert AuditRecord.objects.get(action="limit.set").workspace_id is None
    status, problem = send(root, "PUT", "lanes/Browser/limit", {"at_most": 2})
    assert (status, problem["code"]) == (400, "bad_lane")
    lane = send(root, "GET", "lanes")[1]["items"][0]
    assert (lane["lane"], lane["at_most"], lane["used"], lane["set_by"]) == ("browser", 2, 0, "Root")
    shown = lines(people.client(Role.VIEWER), people, "lane")
    assert [(line["lane"], line["at_most"]) for line in shown] == [("browser", 2)], "members see it, and may not set it"


# ---------------------------------------------------------------------- live use


def test_the_list_tells_what_runs_and_what_waits(people: Cast, acme: World, hand: Hand) -> None:
    begin(acme, Policy(limit_key="erp", limit_at_most=1, rate_starts=5, rate_per_s=60))
    begin(acme, Policy(limit_key="erp", limit_at_most=1, rate_starts=5, rate_per_s=60))
    hand.take()
    assert hand.claim().held is None
    viewer = people.client(Role.VIEWER)
    (key,) = lines(viewer, people, "key")
    assert (key["key"], key["at_most"], key["used"], key["waiting"]) == ("erp", 1, 1, 1)
    assert key["rate"] == {"starts": 5, "per_s": 60.0, "started": 1}
    (workspace,) = lines(viewer, people, "workspace")
    assert (workspace["at_most"], workspace["used"], workspace["waiting"]) == (None, 1, 1)
    (lane,) = [each for each in lines(viewer, people, "lane") if each["lane"] == "default"]
    assert (lane["used"], lane["waiting"]) == (1, 1)
    (of_all,) = [each for each in send(superuser(), "GET", "lanes")[1]["items"] if each["lane"] == "default"]
    assert (of_all["used"], of_all["waiting"], of_all["workers"]) == (1, 1, 1)


def test_runs_that_wait_for_their_workflow_or_key_are_counted_as_runs(people: Cast, acme: World, hand: Hand) -> None:
    version = acme.draw("S > A")
    address = f"workspaces/{people.acme.slug}/workflows/{version.workflow_id}/limit"
    assert send(people.client(Role.EDITOR), "PUT", address, {"at_most": 1})[0] == 200
    wanted = Start(version.workflow_id, version.id, None, "Ana", limit=("4711", 3))
    with acme.connection.transaction():
        for _ in range(3):
            start_run(acme.connection, wanted)
    hand.take()
    for _ in range(2):
        assert hand.claim().held is None
    viewer = people.client(Role.VIEWER)
    (workflow,) = lines(viewer, people, "workflow")
    assert (workflow["at_most"], workflow["used"], workflow["waiting"]) == (1, 1, 2)
    assert workflow["workflow"]["id"] == str(version.workflow_id)
    (key,) = lines(viewer, people, "run_key")
    assert (key["key"], key["at_most"], key["used"]) == ("4711", 3, 1)


def test_a_workspace_sees_nothing_of_anothers_use(people: Cast, acme: World, hand: Hand) -> None:
    begin(acme, Policy(limit_key="erp", limit_at_most=1))
    hand.take()
    status, answer = send(people.client(None), "GET", f"workspaces/{people.other.slug}/limits")
    assert status == 200
    assert [(line["scope"], line["used"], line["waiting"]) for line in answer["items"]] == [("workspace", 0, 0)]
