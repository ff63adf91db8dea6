"""Priority and limit of a run over HTTP, and why a ready step does not run."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from builder.graph.model import Policy
from builder.workflows.models import Workflow
from builder.workflows.services import create_workflow, publish
from runs.engine.limits import set_limit
from runs.engine.start import Start, start_run
from runs.models import Run
from runs.selectors.steps import step_for, why_not
from teams.access import SYSTEM
from teams.models import Role
from tests.engine import World
from tests.hands import KINDS, Hand
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)

GRAPH = {
    "schema": 1,
    "nodes": [{"id": "n1", "key": "start", "kind": "start"}, {"id": "n2", "key": "a", "kind": "pass_through"}],
    "edges": [{"id": "e1", "source": "n1", "target": "n2"}],
}


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def workflow(people: Cast) -> Workflow:
    made = create_workflow(actor=SYSTEM, workspace=people.acme, name="Load", graph=GRAPH)
    publish(actor=SYSTEM, workflow=made, revision=1)
    return made


def start(people: Cast, workflow: Workflow, **body: Any) -> tuple[int, Any]:
    client: Client = people.client(Role.OPERATOR)
    address = f"/api/workspaces/{people.acme.slug}/workflows/{workflow.id}/runs"
    answer = client.post(address, data=json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def test_a_run_is_started_with_a_priority_and_a_limit(people: Cast, workflow: Workflow) -> None:
    status, run = start(people, workflow, priority=7, limit={"key": "customer 4711", "at_most": 1})
    assert status == 201
    kept = Run.objects.get(id=run["id"])
    assert (kept.priority, kept.limit_key, kept.limit_at_most) == (7, "customer 4711", 1)
    assert set(kept.steps.values_list("priority", flat=True)) == {7}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"priority": 11}, "priority"),
        ({"priority": "high"}, "priority"),
        ({"limit": {"key": "x"}}, "limit"),
        ({"limit": {"key": "", "at_most": 1}}, "limit"),
        ({"limit": {"key": "x", "at_most": 0}}, "limit"),
        ({"limit": "x"}, "limit"),
    ],
)
def test_a_priority_or_limit_that_cannot_be_starts_nothing(
    people: Cast, workflow: Workflow, body: dict[str, Any], field: str
) -> None:
    status, problem = start(people, workflow, **body)
    assert status == 400
    assert field in json.dumps(problem)
    assert not Run.objects.exists()


# ---------------------------------------------------------------------- why


@pytest.fixture
def hand() -> Iterator[Hand]:
    hand = Hand()
    yield hand
    hand.close()


def begin(world: World, policy: Policy = Policy(), **options: Any) -> Run:  # noqa: B008 - it is frozen
    version = world.draw("S > A", policies={"A": policy})
    with world.connection.transaction():
        started = start_run(world.connection, Start(version.workflow_id, version.id, None, "Ana", **options))
    return Run.objects.get(id=started.run_id)


def why(run: Run) -> str | None:
    run.refresh_from_db()
    return why_not(run, step_for(run, "A"))


def test_a_step_says_that_nobody_serves_its_lane(world: World) -> None:
    assert why(begin(world)) == "Ready: no worker serves the lane 'default'. Start one (PAWL_WORKER_QUEUES)."


def test_a_step_says_that_no_worker_is_capable(world: World, hand: Hand) -> None:
    run = begin(world)
    assert why(run) == "Ready: waits for a worker that serves the lane 'default'."
    world.connection.execute("UPDATE runs_worker SET kinds = %s", (",".join(set(KINDS) - {"pass_through"}),))
    assert str(why(run)).startswith("Ready: no capable worker. ")
    world.connection.execute("UPDATE runs_worker SET kinds = ''")
    assert why(run) == "Ready: waits for a worker that serves the lane 'default'.", "an older one may have it"
    world.connection.execute("UPDATE runs_worker SET heartbeat_at = heartbeat_at - interval '20 seconds'")
    assert str(why(run)).startswith("Ready: no worker serves")


def test_a_step_says_which_limit_holds_it(world: World, hand: Hand) -> None:
    policy = Policy(limit_key="erp", limit_at_most=1, rate_starts=5, rate_per_s=60)
    begin(world, policy)
    run = begin(world, policy)
    hand.take()
    assert hand.claim().held is None
    assert why(run) == "Ready: waits for room under the limit 'erp': at most 1 run at once, at most 5 start in 60 s."


@pytest.mark.parametrize("sort", ["workflow", "run", "queue", "workspace"])
def test_a_step_says_that_its_run_lane_or_workspace_waits(world: World, hand: Hand, sort: str) -> None:
    version = world.draw("S > A")
    limit = ("4711", 1) if sort == "run" else None
    with world.connection.transaction():
        wanted = Start(version.workflow_id, version.id, None, "Ana", limit=limit)
        runs = [start_run(world.connection, wanted).run_id for _ in range(2)]
    names = {
        "queue": "queue:default", "workspace": f"workspace:{world.workspace.id}",
        "workflow": f"workflow:{version.workflow_id}",
    }  # fmt: skip
    if sort in names:
        set_limit(world.connection, names[sort], 1, actor="Ana")
    assert hand.take().run_id == runs[0]
    assert hand.claim().held is None
    assert (
        why(Run.objects.get(id=runs[1]))
        == {
            "workflow": "Ready: waits for its turn. As many runs of this workflow are under way as may be at once.",
            "run": "Ready: waits for its turn. As many runs with the key '4711' are under way as may be at once.",
            "queue": "Ready: waits for room under the limit of the lane (at most 1 at once).",
            "workspace": "Ready: waits for room under the limit of the workspace (at most 1 at once).",
        }[sort]
    )
