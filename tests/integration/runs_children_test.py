"""Runs inside runs: started once, stopped with their parent, resumed with it, and told of exactly once."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from builder.graph.codec import encode
from builder.workflows.checking import problems_of
from builder.workflows.models import Version, Workflow
from runs.core.rows import MOST_NESTED
from runs.engine import children
from runs.engine.cancel import cancel_run
from runs.engine.children import deliver, deliver_next
from runs.engine.resume import resume_run
from runs.models import Event, Outbox, Run, StepRun
from runs.selectors.runs import snapshot
from runs.store import outbox
from runs.store.claim import FIRST
from tests.engine import World
from tests.graphs import draw

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = {"C": "run_workflow", "D": "delay", "X": "fail"}
ANSWER = {"A": {"value": "{{ run.input.n * 2 }}"}, "O": {"value": "{{ steps.A.output }}"}}


def calling(world: World, child: Version, drawing: str = "S > C > K", **configs: Any) -> Version:
    configs = {"C": {"workflow": str(child.workflow_id), "input": {"n": 21}}, **configs}
    return world.draw(drawing, kinds=KINDS, configs=configs)


def settle(world: World) -> None:
    """Until nothing can go on by itself."""
    for _ in range(100):
        world.work()
        if not deliver(world.connection):
            break
    world.work()
    assert world.broken() == []


def play(world: World, version: Version, run_input: Any = None) -> UUID:
    run_id = world.start(version, run_input).run_id
    settle(world)
    return run_id


def child_of(run_id: UUID) -> Run:
    return Run.objects.get(parent_run_id=run_id)


def resume(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
    settle(world)


def cancel(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        cancel_run(world.connection, world.command(run_id, "cancel"))


def begun(world: World, *, child: str = "S > D > O") -> tuple[UUID, Run]:
    """A run whose child waits for its time."""
    version = world.draw(child, kinds=KINDS, configs={"D": {"seconds": 3600}, "O": {"value": 1}})
    run_id = play(world, calling(world, version))
    return run_id, child_of(run_id)


def test_a_step_runs_another_workflow_and_gives_what_it_answers(world: World) -> None:
    run_id = play(world, calling(world, world.draw("S > A > O", kinds=KINDS, configs=ANSWER), K={
        "value": "{{ steps.C.output + 1 }}"
    }))  # fmt: skip
    assert (world.output(run_id, "C"), world.output(run_id, "K")) == (42, 43)
    child = child_of(run_id)
    step = StepRun.objects.get(run_id=run_id, path="C")
    assert (child.parent_step_id, child.root_id, child.depth, child.trigger) == (step.id, run_id, 1, "workflow")
    assert json.loads(child.input) == {"n": 21}
    assert not Outbox.objects.exists()


def test_a_child_that_answers_nothing_gives_null(world: World) -> None:
    run_id = play(world, calling(world, world.draw("S > A", kinds=KINDS, configs={"A": {"value": 1}})))
    assert (world.run(run_id).status, world.output(run_id, "C")) == ("succeeded", None)


def test_the_version_that_is_named_runs_and_else_the_live_one(world: World) -> None:
    first = world.draw("S > O", kinds=KINDS, configs={"O": {"value": "one"}})
    second = draw("S > O", kinds=KINDS, configs={"O": {"value": "two"}})
    Version.objects.create(workflow=first.workflow, number=2, graph=json.dumps(encode(second)))
    configs = {
        "C1": {"workflow": str(first.workflow_id), "version": 1},
        "C2": {"workflow": str(first.workflow_id)},
        "C3": {"workflow": str(first.workflow_id), "version": 3},
    }
    run_id = play(world, world.draw("S > C1 + C2 + C3", kinds=KINDS, configs=configs))
    assert (world.output(run_id, "C1"), world.output(run_id, "C2")) == ("one", "two")
    assert "cannot_call" in (world.steps(run_id)["C3"].error or "")


@pytest.mark.parametrize("workflow", ["nonsense", "0197a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b"])
def test_a_workflow_that_is_not_there_fails_the_step(world: World, workflow: str) -> None:
    run_id = play(world, world.draw("S > C", kinds=KINDS, configs={"C": {"workflow": workflow}}))
    assert world.run(run_id).status == "failed"
    assert "cannot_call" in (world.steps(run_id)["C"].error or "")


def test_an_input_that_the_child_does_not_take_fails_the_step(world: World) -> None:
    schema = {"type": "object", "required": ["m"]}
    version = world.draw("S > O", kinds=KINDS, configs={"S": {"input_schema": schema}, "O": {"value": 1}})
    run_id = play(world, calling(world, version))
    assert "bad_run_input" in (world.steps(run_id)["C"].error or "")
    assert not Run.objects.filter(parent_run_id=run_id).exists()


def test_a_failed_child_fails_its_step_with_its_own_error_and_a_resume_reaches_inside(world: World) -> None:
    configs = {"A": {"value": 1}, "V": {"value": "{{ steps.A.output }}"}, "X": {"message": "No stock."}}
    version = world.draw("S > A > V > X", kinds=KINDS, configs=configs)
    run_id = play(world, calling(world, version))
    error = json.loads(world.steps(run_id)["C"].error or "")
    child = child_of(run_id)
    assert (error["message"], error["data"]) == (
        "No stock.", {"run": str(child.id), "number": child.number, "path": "X"}
    )  # fmt: skip
    assert (world.run(run_id).status, child.status) == ("failed", "failed")
    resume(world, run_id)
    assert child_of(run_id).generation == 2
    steps = world.steps(child.id)
    assert [steps[path].attempt for path in ("A", "V", "X")] == [1, 1, 2]
    assert world.run(run_id).status == "failed"


def test_a_child_that_was_mended_by_itself_is_taken_as_it_is_by_a_resume_of_its_parent(world: World) -> None:
    version = world.draw("S > A > O", kinds=KINDS, configs={"A": {"value": "{{ 1 // 0 }}"}, "O": {"value": 5}})
    run_id = play(world, calling(world, version))
    child = child_of(run_id)
    assert (child.status, world.run(run_id).status) == ("failed", "failed")
    with world.connection.transaction():  # as if a person had repaired it
        world.connection.execute("UPDATE runs_steprun SET override = '{\"value\": 1}', edition = 2 WHERE run_id = %s "
                                 "AND path = 'A'", (child.id,))  # fmt: skip
    resume(world, child.id)
    assert (Run.objects.get(id=child.id).status, world.run(run_id).status) == ("succeeded", "failed")
    resume(world, run_id)
    assert (world.run(run_id).status, world.output(run_id, "C")) == ("succeeded", 5)
    assert Run.objects.filter(parent_run_id=run_id).count() == 1


def test_a_cancel_stops_the_runs_inside_at_any_depth_and_a_resume_goes_on_with_them(world: World) -> None:
    bottom = world.draw(
        "S > A > D > O", kinds=KINDS, configs={"A": {"value": 1}, "D": {"seconds": 1}, "O": {"value": 7}}
    )
    middle = calling(world, bottom, "S > C > O", O={"value": "{{ steps.C.output }}"})
    run_id = play(world, calling(world, middle, "S > C > K"))
    cancel(world, run_id)
    settle(world)
    inner = child_of(run_id)
    lowest = child_of(inner.id)
    assert [Run.objects.get(id=each).status for each in (run_id, inner.id, lowest.id)] == ["cancelled"] * 3
    resume(world, run_id)
    world.connection.execute(
        "UPDATE runs_steprun SET not_before = now() WHERE run_id = %s AND path = 'D'", (lowest.id,)
    )
    world.sweep()
    settle(world)
    assert (world.run(run_id).status, world.output(run_id, "C")) == ("succeeded", 7)
    assert world.steps(lowest.id)["A"].attempt == 1


def test_a_cancel_before_the_child_was_started_starts_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.worker.deliver", lambda *_, **__: 0)
    version = world.draw("S > O", kinds=KINDS, configs={"O": {"value": 1}})
    run_id = world.start(calling(world, version)).run_id
    world.work()
    assert Outbox.objects.count() == 1
    cancel(world, run_id)
    settle(world)
    assert not Run.objects.filter(parent_run_id=run_id).exists()
    assert world.run(run_id).status == "cancelled"


def test_a_child_that_a_person_cancels_fails_its_step(world: World) -> None:
    run_id, child = begun(world)
    cancel(world, child.id)
    settle(world)
    assert json.loads(world.steps(run_id)["C"].error or "")["code"] == "child_cancelled"


def test_a_cancelled_and_resumed_parent_waits_for_its_child_to_be_stopped_first(world: World) -> None:
    run_id, child = begun(world)
    cancel(world, run_id)
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
    settle(world)
    assert (world.run(run_id).status, Run.objects.get(id=child.id).status) == ("running", "running")
    assert Run.objects.filter(parent_run_id=run_id).count() == 1


def test_two_workflows_that_run_each_other_end_at_the_deepest_level(world: World) -> None:
    first = world.draw("S > O", kinds=KINDS, configs={"O": {"value": 1}})
    second = calling(world, first, "S > C")
    graph = draw("S > C", kinds=KINDS, configs={"C": {"workflow": str(second.workflow_id)}})
    Version.objects.create(workflow=first.workflow, number=2, graph=json.dumps(encode(graph)))
    run_id = play(world, second)
    assert json.loads(world.steps(run_id)["C"].error or "")["code"] == "nesting_too_deep"
    runs = Run.objects.filter(root_id=run_id)
    assert (runs.count(), {run.status for run in runs}) == (MOST_NESTED, {"failed"})


def test_an_end_that_is_delivered_twice_is_taken_once(world: World) -> None:
    run_id, child = begun(world)
    world.connection.execute("UPDATE runs_steprun SET not_before = now() WHERE run_id = %s AND path = 'D'", (child.id,))
    world.sweep()
    world.work()
    again = (child.parent_step_id, child.id)
    world.connection.execute(outbox.AGAIN, again)
    world.connection.execute(outbox.AGAIN, again)
    settle(world)
    ends = Event.objects.filter(run_id=run_id, type="step.succeeded", path="C")
    assert (world.run(run_id).status, ends.count()) == ("succeeded", 1)


def test_an_end_that_comes_after_its_step_was_cancelled_changes_nothing(world: World) -> None:
    run_id, child = begun(world)
    cancel(world, run_id)
    settle(world)
    world.connection.execute(outbox.AGAIN, (child.parent_step_id, child.id))
    before = Event.objects.filter(run_id=run_id).count()
    settle(world)
    assert (Event.objects.filter(run_id=run_id).count(), world.statuses(run_id)["C"]) == (before, "cancelled")


def test_a_delivery_that_dies_has_done_nothing_and_the_next_one_does_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.worker.deliver", lambda *_, **__: 0)
    version = world.draw("S > O", kinds=KINDS, configs={"O": {"value": 1}})
    run_id = world.start(calling(world, version)).run_id
    world.work()

    def dies(name: str) -> None:
        raise RuntimeError(name)

    with monkeypatch.context() as struck:
        struck.setattr(children, "failpoint", dies)
        assert deliver_next(world.connection)
    assert not Run.objects.filter(parent_run_id=run_id).exists()
    world.connection.execute("UPDATE runs_outbox SET not_before = now()")
    settle(world)
    assert (world.run(run_id).status, Run.objects.filter(parent_run_id=run_id).count()) == ("succeeded", 1)


def test_two_deliveries_at_once_never_take_the_same_row(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.worker.deliver", lambda *_, **__: 0)
    version = world.draw("S > O", kinds=KINDS, configs={"O": {"value": 1}})
    world.start(calling(world, version))
    world.work()
    with World(workspace=world.workspace) as other, world.connection.transaction():
        post = outbox.next_post(world.connection, after=FIRST, passed=[])
        assert post is not None
        assert outbox.take(world.connection, post)
        with ThreadPoolExecutor() as pool:
            assert not pool.submit(deliver_next, other.connection).result()


def test_each_item_of_a_map_has_a_child_of_its_own(world: World) -> None:
    child = world.draw("S > A > O", kinds=KINDS, configs=ANSWER)
    configs = {
        "E": {"items": [1, 2, 3]},
        "C": {"workflow": str(child.workflow_id), "input": {"n": "{{ item }}"}},
        "K": {"value": "{{ steps.E.output }}"},
    }
    run_id = play(world, world.draw("S > E[C] > K", kinds={**KINDS, "E": "map"}, configs=configs))
    assert world.output(run_id, "K") == [2, 4, 6]


def test_a_graph_that_runs_itself_or_nobody_is_refused_when_it_is_saved(world: World) -> None:
    own = world.draw("S > O", kinds=KINDS, configs={"O": {"value": 1}})
    gone = "0197a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b"
    silent = Workflow.objects.create(workspace=world.workspace, name="draft only")

    def problems(called: str) -> list[tuple[str, str | None]]:
        graph = draw("S > C", kinds=KINDS, configs={"C": {"workflow": called}})
        found = problems_of(graph, world.workspace, workflow_id=own.workflow_id)
        return [(problem["code"], problem.get("field")) for problem in found]

    assert problems(str(own.workflow_id)) == [("calls_itself", "workflow")]
    assert problems(gone) == problems("nonsense") == [("workflow_unknown", "workflow")]
    assert problems(str(silent.id)) == [("workflow_not_live", "workflow")]
    assert problems("{{ run.input.which }}") == []


def test_the_page_of_a_run_names_its_children_and_its_parent(world: World) -> None:
    run_id = play(world, calling(world, world.draw("S > A > O", kinds=KINDS, configs=ANSWER)))
    child = child_of(run_id)
    step = next(step for step in snapshot(world.run(run_id))["steps"] if step["path"] == "C")
    assert (step["child"]["id"], step["child"]["status"]) == (child.id, "succeeded")
    parent = snapshot(child)["run"]["parent"]
    assert (parent["run"], parent["path"]) == (run_id, "C")
