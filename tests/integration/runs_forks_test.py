"""Forks on the real store and through the door: copies by reference, one moment, one fork for one command."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection as django_connection

from builder.graph.model import Graph
from builder.workflows.models import Version
from runs.attempt import job_for
from runs.core.fork import NothingToFork
from runs.core.outcomes import Error, Failed, Fans, Succeeded, Waits
from runs.core.plan import PlanChanged
from runs.engine import repair
from runs.engine.check_input import BadRunInput
from runs.engine.commands import GenerationChanged
from runs.engine.fork import Forking, check_fork, fork_run, preview_fork
from runs.engine.resume import resume_run
from runs.engine.retention import Housekeeping
from runs.engine.scope import Values
from runs.engine.wait import Answer, answer_wait
from runs.link import Link
from runs.models import Attempt, Event, Run, Wait
from runs.runner.messages import Job
from teams.models import AuditRecord, Role
from tests.engine import World
from tests.graphs import draw
from tests.hands import Hand
from tests.people import Cast, cast
from tests.staging import age, begun

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = Failed(Error("broken", "It broke."))
LARGE = "x" * 50_000


def fork(world: World, run_id: UUID, path: str | None = None, **more: Any) -> UUID:
    generation = more.pop("generation", world.run(run_id).generation)
    seen, id_ = more.pop("seen", None), more.pop("id_", None)
    wanted = world.command(run_id, "fork", generation=generation, id_=id_)
    forking = Forking(path, more.pop("version", None), **more)
    check_fork(world.connection, run_id, forking)
    with world.connection.transaction():
        done = fork_run(world.connection, wanted, forking, seen=seen, then=lambda told: None)
    return UUID(done.result["run"])


def another(world: World, version: Version, graph: Graph) -> UUID:
    """A second version of the workflow."""
    from builder.graph.codec import encode

    return Version.objects.create(workflow=version.workflow, number=2, graph=json.dumps(encode(graph))).id


def graph(drawing: str, **configs: Any) -> Graph:
    return draw(drawing, plain="pass_through", configs={"O": {"value": None}, **configs})


def job_of(hand: Hand) -> tuple[Any, Job]:
    held = hand.take()
    job = job_for(hand.connection, held, values=Values())
    assert isinstance(job, Job)
    return held, job


def test_a_fork_is_a_run_of_its_own_that_names_its_source(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A > B", configs={"B": {"value": "{{ steps.A.output }}"}})
    hands[0].finish(hands[0].take(), Succeeded({"large": LARGE}))
    hands[0].finish(hands[0].take(), Succeeded(1))
    before = (world.statuses(run_id), world.run(run_id).finished_at)
    other = fork(world, run_id, "B")
    made, source = world.run(other), world.run(run_id)
    assert (made.forked_from_id, made.trigger, made.key_root, made.event_seq > 0) == (run_id, "fork", None, True)
    assert made.number > source.number
    copy, original = world.steps(other)["A"], world.steps(run_id)["A"]
    assert (copy.origin, copy.source_id) == ("copied", original.id)
    assert (copy.output_ref, copy.started_at) == (original.output_ref, original.started_at)
    assert not Attempt.objects.filter(step_run_id=copy.id).exists()
    held, job = job_of(hands[0])
    assert (held.run_id, held.path, job.scope["steps"]["A"]["output"]) == (other, "B", {"large": LARGE})
    hands[0].finish(held, Succeeded(2))
    assert world.run(other).status == "succeeded"
    assert (world.statuses(run_id), world.run(run_id).finished_at) == before
    assert world.events(run_id)[-1] == ("command", None)


def test_a_real_worker_goes_on_with_a_fork_on_another_version(world: World) -> None:
    version = world.draw("S > A > B > O", configs={"A": {"value": 1}, "B": {"value": "{{ steps.A.output + 1 }}"}})
    run_id = world.start(version).run_id
    world.work()
    second = another(world, version, graph("S > A > B > O", A={"value": 1}, B={"value": "{{ steps.A.output + 5 }}"}))
    second_graph = fork(world, run_id, version=second)
    world.work()
    assert world.run(second_graph).status == "succeeded"
    assert (world.output(second_graph, "A"), world.output(second_graph, "B")) == (1, 6)
    assert {path: step.origin for path, step in world.steps(second_graph).items()}["A"] == "copied"


def test_containers_are_copied_with_their_items_and_read_as_before(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > E[A > B] > C", configs={"C": {"value": "{{ steps.E.output }}"}})
    hand = hands[0]
    hand.finish(hand.take(), Fans(["x", "y"], 1, "fail_at_end"))
    for value in (1, 2, 3, 4):
        hand.finish(hand.take(), Succeeded(value))
    hand.finish(hand.take(), Succeeded("read"))
    whole = fork(world, run_id, "C")
    held, job = job_of(hand)
    assert (held.run_id, job.scope["steps"]["E"]["output"]) == (whole, [2, 4])
    hand.finish(held, Succeeded(1))
    inside = fork(world, run_id, "E[1].B")
    held, job = job_of(hand)
    assert (held.run_id, held.path, job.scope["item"]) == (inside, "E[1].B", "y")
    hand.finish(held, Succeeded(40))
    held, job = job_of(hand)
    assert (held.path, job.scope["steps"]["E"]["output"]) == ("C", [2, 40])
    hand.finish(held, Succeeded(1))
    assert world.run(inside).status == "succeeded"


def test_a_fork_of_a_fork_names_the_first_source(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    for _ in range(2):
        hands[0].finish(hands[0].take(), Succeeded(1))
    first = fork(world, run_id, "B")
    hands[0].finish(hands[0].take(), Succeeded(1))
    second = fork(world, first, "B")
    assert world.steps(second)["A"].source_id == world.steps(run_id)["A"].id
    assert world.run(second).forked_from_id == first


def test_new_keys_unless_the_same_effects_are_wanted(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hand = hands[0]
    hand.finish(hand.take(), Succeeded(1))
    held, job = job_of(hand)
    original = job.idempotency_key
    hand.finish(held, BROKEN)
    with world.connection.transaction():
        world.connection.execute("UPDATE runs_steprun SET edition = 2 WHERE run_id = %s AND path = 'B'", (run_id,))
    keys = []
    for same in (False, True, True):
        other = fork(world, run_id, "B", same_effects=same)
        held, job = job_of(hand)
        assert held.run_id == other
        keys.append(job.idempotency_key)
        hand.finish(held, Succeeded(1))
        run_id = other if same else run_id  # a fork of a fork has the first one's keys, too
    assert original not in keys  # it was raised by a person's `run again`, and the outside saw the later key
    assert keys[0] not in keys[1:]
    assert keys[1] == keys[2]
    assert world.run(run_id).key_root == world.run(world.run(run_id).forked_from_id).key_root


def test_an_edited_input_is_not_carried_on(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hand = hands[0]
    hand.finish(hand.take(), BROKEN)
    with world.connection.transaction():
        wanted = world.command(run_id, "edit_input", generation=1)
        repair.edit_step(world.connection, wanted, path="A", given={"value": 5})
    hand.finish(hand.take(), Succeeded(5))
    fork(world, run_id, "A", same_effects=True)
    hand.take()  # B of the source
    held, job = job_of(hand)
    assert (held.path, job.is_resolved, held.edition) == ("A", False, 1)


def test_an_answered_question_is_copied_with_its_answer(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > P, P ?approved> A", configs={"P": {"title": "ok?"}})
    hands[0].finish(hands[0].take(), Waits("approval", None, {}))
    given = Answer(Wait.objects.get(run_id=run_id).id, "approved", "Fine.", None, None)
    with world.connection.transaction():
        answer_wait(world.connection, world.command(run_id, "answer"), given)
    hands[0].finish(hands[0].take(), Succeeded(1))
    other = fork(world, run_id, "A")
    assert world.output(other, "P")["comment"] == "Fine."
    assert not Wait.objects.filter(run_id=other).exists()
    shown = preview_fork(world.connection, other, Forking("A"))
    assert shown.saved_s == 0.0  # only a person had worked


def test_the_time_that_is_saved_is_what_the_copied_steps_took(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > E[A] > B > C")
    hand = hands[0]
    hand.finish(hand.take(), Fans([1, 2], 2, "fail_at_end"))
    for _ in range(4):
        hand.finish(hand.take(), Succeeded(1))
    shown = preview_fork(world.connection, run_id, Forking("C"))
    steps = world.steps(run_id)
    took = [steps[path].finished_at - steps[path].started_at for path in ("E[0].A", "E[1].A", "B")]
    assert shown.saved_s == pytest.approx(sum(each.total_seconds() for each in took), abs=1e-6)
    other = fork(world, run_id, "C", seen=shown.plan.token)
    again = preview_fork(world.connection, other, Forking("C"))
    assert again.saved_s == shown.saved_s


# ---------------------------------------------------------------------- guards


def test_one_command_makes_one_fork(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    hands[0].finish(hands[0].take(), BROKEN)
    wanted = world.command(run_id, "fork", generation=1)

    def one(_: int) -> str:
        with closing(Link(name="person")) as link, link.connection.transaction():
            done = fork_run(link.connection, wanted, Forking("A"), then=lambda told: None)
            return str(done.result["run"])

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(one, range(3)))) == 1
    assert Run.objects.filter(forked_from_id=run_id).count() == 1


def test_a_fork_is_refused_where_the_run_is_not_as_it_was_seen(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A > B > C")
    hands[0].finish(hands[0].take(), Succeeded(1))
    hands[0].finish(hands[0].take(), BROKEN)
    shown = preview_fork(world.connection, run_id, Forking("A"))
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
    with pytest.raises(GenerationChanged):
        fork(world, run_id, "A", generation=1)
    shown = preview_fork(world.connection, run_id, Forking("C"))
    hands[0].finish(hands[0].take(), Succeeded(1))
    with pytest.raises(PlanChanged):  # B has finished meanwhile, and would be copied
        fork(world, run_id, "C", seen=shown.plan.token)
    assert not Run.objects.filter(forked_from_id=run_id).exists()
    assert world.events(run_id).count(("command", None)) == 1


def test_nothing_is_made_of_a_fork_without_anything_to_run(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A")
    hands[0].finish(hands[0].take(), Succeeded(1))
    before = world.run(run_id).event_seq
    with pytest.raises(NothingToFork):
        fork(world, run_id)
    assert world.run(run_id).event_seq == before


def test_a_version_that_does_not_take_the_input_is_refused(world: World) -> None:
    version = world.draw("S > A")
    run_id = world.start(version, {"batch": 1}).run_id
    schema = {"type": "object", "required": ["name"]}
    second = another(world, version, graph("S > A", S={"input_schema": json.dumps(schema)}))
    with pytest.raises(BadRunInput):
        fork(world, run_id, version=second)


def test_a_copy_never_changes_as_any_result(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    for _ in range(2):
        hands[0].finish(hands[0].take(), Succeeded(1))
    other = fork(world, run_id, "B")
    with pytest.raises(psycopg.errors.RaiseException, match="has succeeded"):
        world.connection.execute("UPDATE runs_steprun SET output = '2' WHERE run_id = %s AND path = 'A'", (other,))


def test_a_run_that_forks_refer_to_is_kept(world: World, hands: list[Hand]) -> None:
    run_id = begun(world)
    for _ in range(2):
        hands[0].finish(hands[0].take(), Succeeded(1))
    other = fork(world, run_id, "B")
    age(world, run_id, days=400)
    Housekeeping(days=30, grace_s=-1).turn(world.connection)
    assert Run.objects.filter(id=run_id).exists()
    hands[0].finish(hands[0].take(), Succeeded(1))
    age(world, other, days=400)
    for _ in range(3):
        Housekeeping(days=30, grace_s=-1).turn(world.connection)
    assert not Run.objects.filter(id__in=[run_id, other]).exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs_steprun SET source_id = NULL WHERE origin = 'copied'",
        "UPDATE runs_steprun SET output = '9' WHERE origin = 'copied' AND path = 'A'",
        "UPDATE runs_steprun SET origin = 'executed' WHERE origin = 'copied' AND path = 'A'",
    ],
)
def test_a_copy_that_is_not_as_its_source_shows_in_the_invariants(
    transactional_db: None, hands: list[Hand], change: str
) -> None:
    with World() as world:
        run_id = begun(world)
        for _ in range(2):
            hands[0].finish(hands[0].take(), Succeeded(1))
        fork(world, run_id, "B")
        assert world.broken() == []
        with django_connection.cursor() as cursor:
            cursor.execute("ALTER TABLE runs_steprun DISABLE TRIGGER runs_steprun_frozen")
            cursor.execute(change)
            cursor.execute("ALTER TABLE runs_steprun ENABLE TRIGGER runs_steprun_frozen")
        assert any(what.startswith("I13") for what in world.broken())


# ---------------------------------------------------------------------- the door


@pytest.fixture
def people(transactional_db: None) -> Cast:
    return cast()


@pytest.fixture
def acme(people: Cast) -> Iterator[World]:
    with World(workspace=people.acme) as world:
        yield world
        assert world.broken() == []


def post(people: Cast, tail: str, role: Role = Role.OPERATOR, **body: Any) -> tuple[int, Any]:
    address = f"/api/workspaces/{people.acme.slug}/runs/{tail}"
    answer = people.client(role).post(address, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def test_a_fork_is_previewed_and_made_through_the_api(acme: World, people: Cast) -> None:
    version = acme.draw("S > A > B > O", configs={"A": {"value": 1}, "B": {"value": 2}})
    run_id = acme.start(version).run_id
    acme.work()
    another(acme, version, graph("S > A > B > O", A={"value": 1}, B={"value": 3}))
    before = Event.objects.count()
    status, shown = post(people, f"{run_id}/preview", operation="fork", version=2)
    assert (status, shown["allowed"], shown["kept"], shown["again"]) == (200, True, ["S", "A"], ["B", "O"])
    assert {each["key"]: each["action"] for each in shown["nodes"]} == {
        "S": "kept", "A": "kept", "B": "again", "O": "again",
    }  # fmt: skip
    assert Event.objects.count() == before
    body = {"command_id": str(uuid4()), "generation": 1, "version": 2}
    assert post(people, f"{run_id}/fork", Role.VIEWER, **body)[0] == 403
    assert post(people, f"{run_id}/fork", **{**body, "command_id": str(uuid4())}, plan="another")[0] == 409
    same = {**body, "command_id": str(uuid4()), "same_effects": True}
    assert post(people, f"{run_id}/fork", **same, plan=shown["plan"])[1]["code"] == "plan_changed"
    status, made = post(people, f"{run_id}/fork", **body, plan=shown["plan"])
    assert (status, made["trigger"], made["version"]) == (201, "fork", 2), made
    assert made["forked_from"] == {"id": str(run_id), "number": acme.run(run_id).number}
    assert post(people, f"{run_id}/fork", **body, plan=shown["plan"])[1]["id"] == made["id"]
    acme.work()
    assert acme.output(UUID(made["id"]), "B") == 3
    client = people.client(Role.VIEWER)
    detail = client.get(f"/api/workspaces/{people.acme.slug}/runs/{made['id']}/steps/A").json()
    assert detail["copied_from"] == {"run": made["forked_from"], "path": "A"}
    assert AuditRecord.objects.get(action="run.fork").target_id == str(run_id)


def test_a_fork_names_the_step_that_it_came_from_and_its_source_finds_it(acme: World, people: Cast) -> None:
    run_id = acme.start(acme.draw("S > A > B", configs={"A": {"value": 1}, "B": {"value": 2}})).run_id
    acme.work()
    made = [
        post(people, f"{run_id}/fork", command_id=str(uuid4()), generation=1, path=path)[1]["id"] for path in ("A", "B")
    ]
    client, runs = people.client(Role.VIEWER), f"/api/workspaces/{people.acme.slug}/runs"
    shown = [client.get(f"{runs}/{fork}").json()["run"] for fork in (*made, run_id)]
    assert [run["forked_at"] for run in shown] == ["A", "B", None]
    assert [run["id"] for run in client.get(f"{runs}?forked_from={run_id}").json()["items"]] == made[::-1]
    assert client.get(f"{runs}?forked_from={made[0]}").json()["items"] == []


def test_what_cannot_be_forked_is_told(acme: World, people: Cast) -> None:
    run_id = acme.start(acme.draw("S > A")).run_id
    acme.work()
    _, shown = post(people, f"{run_id}/preview", operation="fork")
    assert (shown["allowed"], shown["refusal"]) == (
        False,
        "Every step would be kept: choose the step from which to run again.",
    )
    assert post(people, f"{run_id}/preview", operation="fork", path="nobody")[0] == 404
    assert post(people, f"{run_id}/preview", operation="fork", version=9)[0] == 404
    acme.run(run_id).workflow.__class__.objects.filter(id=acme.run(run_id).workflow_id).update(
        archived_at="2026-01-01T00:00Z"
    )
    status, problem = post(people, f"{run_id}/fork", command_id=str(uuid4()), generation=1, path="A")
    assert (status, problem["code"]) == (409, "workflow_archived")


def test_a_loop_that_had_ended_may_have_all_of_its_rounds_again(world: World) -> None:
    looped = "S > L[A > B] > O"
    config = {"most": 5, "until": "{{ index >= 1 }}"}
    run_id = begun(world, looped, kinds={"L": "loop"}, configs={"L": config})
    world.work()
    assert (world.run(run_id).status, world.steps(run_id)["L"].item_total) == ("succeeded", 2)
    other = fork(world, run_id, "L[1].A")
    assert world.steps(other)["L"].item_total == 5
    world.work()
    assert world.run(other).status == "succeeded"
    assert world.steps(other)["L[0].A"].origin == "copied"
    assert world.output(other, "O") == world.output(run_id, "O")
