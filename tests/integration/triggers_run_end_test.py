"""Another workflow's end: each end starts one run, with what the mapping takes from it, and no circle runs for ever."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from builder.workflows.models import Workflow
from runs.engine.cancel import cancel_run
from runs.engine.resume import resume_run
from runs.link import Link
from runs.models import Firing, Run, Trigger
from runs.triggers import services
from runs.triggers.errors import BadTrigger
from runs.triggers.run_end import DEEPEST
from runs.triggers.sweep import fire_due
from teams.access import SYSTEM
from tests.engine import World
from tests.staging import failpoints

pytestmark = pytest.mark.django_db(transaction=True)

ANSWERS = {"O": {"value": {"total": 7615917337495251231, "who": "{{ run.input.who }}"}}}
FAILS = {"X": {"message": "no"}}


def follow(source: Workflow, target: Workflow, **settings: Any) -> Trigger:
    return services.create_trigger(
        actor=SYSTEM, workflow=target, kind="run_end", name="after", settings={"source": str(source.id), **settings}
    )


def drawn(world: World, drawing: str = "S > O", **options: Any) -> Any:
    return world.draw(drawing, **options)


def followers(trigger: Trigger) -> list[Run]:
    return list(Run.objects.filter(trigger_id=trigger.id).order_by("number"))


def test_a_runs_end_starts_the_other_workflow_with_what_it_answered(world: World) -> None:
    first, second = drawn(world, configs=ANSWERS), drawn(world)
    trigger = follow(
        first.workflow, second.workflow,
        input={"sum": "{{ run.output.total }}", "by": "{{ run.input.who }}", "list": ["{{ run.number }}", 1]},
    )  # fmt: skip
    started = world.start(first, {"who": "Ana"})
    world.work()
    assert Firing.objects.get(trigger=trigger).status == "queued"
    assert fire_due(world.connection) == 1
    assert fire_due(world.connection) == 0
    (run,) = followers(trigger)
    assert (run.trigger, run.actor, run.trigger_depth) == ("run_end", "end of a run: after", 1)
    assert json.loads(run.input) == {"sum": 7615917337495251231, "by": "Ana", "list": [started.number, 1]}


def test_without_a_mapping_the_input_says_which_run_ended_how(world: World) -> None:
    first, second = drawn(world, "S > X", configs=FAILS), drawn(world)
    trigger = follow(first.workflow, second.workflow, on=["failed"])
    started = world.start(first)
    world.work()
    fire_due(world.connection)
    found = json.loads(followers(trigger)[0].input)
    assert found["run"] == {"id": str(started.run_id), "number": started.number, "status": "failed", "workflow": "w"}
    assert found["output"] is None


def test_only_the_ends_that_were_asked_for_start_something(world: World) -> None:
    first, second = drawn(world), drawn(world)
    of_success = follow(first.workflow, second.workflow)
    of_others = follow(first.workflow, second.workflow, on=["failed", "cancelled"])
    world.start(first)
    world.work()
    cancelled = world.start(first)
    with world.connection.transaction():
        cancel_run(world.connection, world.command(cancelled.run_id, "cancel"))
    fire_due(world.connection)
    assert [json.loads(run.input)["run"]["status"] for run in followers(of_success)] == ["succeeded"]
    assert [json.loads(run.input)["run"]["status"] for run in followers(of_others)] == ["cancelled"]


def test_each_end_of_a_run_that_is_resumed_counts_once(world: World) -> None:
    first, second = drawn(world, "S > X", configs=FAILS), drawn(world)
    trigger = follow(first.workflow, second.workflow, on=["failed"])
    started = world.start(first)
    world.work()
    fire_due(world.connection)
    with world.connection.transaction():
        resume_run(world.connection, world.command(started.run_id, "resume", generation=1))
    world.work()
    fire_due(world.connection)
    fire_due(world.connection)
    assert len(followers(trigger)) == 2


def test_four_sweepers_at_once_start_one_run_for_each_end(world: World) -> None:
    first, second = drawn(world), drawn(world)
    trigger = follow(first.workflow, second.workflow)
    for _ in range(25):
        world.start(first)
    world.work()
    links = [Link(name=f"sweeper {n}") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda link: fire_due(link.connection), links))
    for link in links:
        link.close()
    assert sum(started) == len(followers(trigger)) == 25
    assert Firing.objects.filter(trigger=trigger, status="fired").count() == 25


def test_a_sweeper_that_dies_in_the_middle_leaves_it_to_the_next(world: World) -> None:
    first, second = drawn(world), drawn(world)
    trigger = follow(first.workflow, second.workflow)
    world.start(first)
    world.work()
    with failpoints("in_firing:raise"):
        assert fire_due(world.connection) == 0
    assert followers(trigger) == []
    assert fire_due(world.connection) == 1
    assert len(followers(trigger)) == 1


def test_a_circle_of_two_workflows_stops(world: World) -> None:
    first, second = drawn(world), drawn(world)
    there = follow(first.workflow, second.workflow)
    back = follow(second.workflow, first.workflow)
    world.start(first)
    for _ in range(DEEPEST + 5):
        world.work()
        fire_due(world.connection)
    assert Run.objects.count() == DEEPEST + 1
    stopped = Firing.objects.get(status="failed")
    assert stopped.reason == "chain_too_deep"
    assert stopped.trigger_id in (there.id, back.id)
    assert not Run.objects.exclude(status="succeeded").exists()


def test_a_run_inside_another_one_is_as_deep_as_its_root(world: World) -> None:
    first, second = drawn(world), drawn(world)
    trigger = follow(first.workflow, second.workflow)
    root, inner = world.start(second), world.start(first)
    world.connection.execute("UPDATE runs_run SET trigger_depth = %s WHERE id = %s", (DEEPEST, root.run_id))
    world.connection.execute("UPDATE runs_run SET root_id = %s WHERE id = %s", (root.run_id, inner.run_id))
    world.work()
    assert fire_due(world.connection) == 0
    assert Firing.objects.get(trigger=trigger).reason == "chain_too_deep"


def test_a_workflow_does_not_follow_itself_nor_one_of_another_workspace(world: World) -> None:
    with World() as elsewhere:
        version = drawn(world)
        for source in (version.workflow, drawn(elsewhere).workflow):
            with pytest.raises(BadTrigger) as refused:
                follow(source, version.workflow)
            assert refused.value.data["fields"][0]["field"] == "settings.source"


@pytest.mark.parametrize(
    "mapping",
    ["{{ run.output.a + 1 }}", "{{ steps.a.output }}", "{{ run }}", "so {{ run.id }}", "{{ run.secrets }}", "{{ run.",
     ["{% for a in run.input %}{% endfor %}"]],
)  # fmt: skip
def test_a_mapping_is_made_of_plain_paths(world: World, mapping: Any) -> None:
    first, second = drawn(world), drawn(world)
    with pytest.raises(BadTrigger) as refused:
        follow(first.workflow, second.workflow, input={"a": mapping})
    assert refused.value.data["fields"][0]["field"] == "settings.input"


def test_a_path_that_leads_nowhere_is_failed_in_the_ledger(world: World) -> None:
    first, second = drawn(world, configs=ANSWERS), drawn(world)
    trigger = follow(first.workflow, second.workflow, input="{{ run.output.sum }}")
    world.start(first, {"who": "Ana"})
    world.work()
    fire_due(world.connection)
    firing = Firing.objects.get(trigger=trigger)
    assert (firing.status, firing.reason) == ("failed", "expression_undefined")
    assert "total" in (firing.detail or "")


def test_a_disabled_or_deleted_trigger_starts_nothing(world: World) -> None:
    first, second = drawn(world), drawn(world)
    disabled, deleted = follow(first.workflow, second.workflow), follow(first.workflow, second.workflow)
    world.start(first)
    world.work()
    services.change_trigger(actor=SYSTEM, trigger=disabled, enabled=False)
    services.delete_trigger(actor=SYSTEM, trigger=Trigger.objects.get(id=deleted.id))
    world.start(first)
    world.work()
    assert fire_due(world.connection) == 0
    assert [firing.status for firing in Firing.objects.all()] == ["skipped"]


def test_what_was_left_by_a_trigger_deleted_in_that_moment_is_swept(world: World) -> None:
    first, second = drawn(world), drawn(world)
    follow(first.workflow, second.workflow)
    world.start(first)
    world.work()
    world.connection.execute("DELETE FROM runs_trigger")
    assert fire_due(world.connection) == 0
    assert not Firing.objects.exists()
