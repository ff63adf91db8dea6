"""A run that a step has started is there as long as that step: a resume finds it, also after its own time is over."""

from typing import Any
from uuid import UUID

import pytest

from runs.engine.cancel import cancel_run
from runs.engine.children import deliver
from runs.engine.resume import resume_run
from runs.engine.retention import Housekeeping
from runs.models import Run
from tests.engine import World
from tests.staging import age

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = {"C": "run_workflow", "D": "delay", "X": "fail"}


def settle(world: World) -> None:
    world.work()
    while deliver(world.connection):
        world.work()
    assert world.broken() == []


def called(world: World, child: str = "S > X") -> tuple[UUID, UUID]:
    """A run, and the run that its step has started."""
    version = world.draw(child, kinds=KINDS, configs={"D": {"seconds": 3600}, "X": {"message": "No stock."}})
    configs = {"C": {"workflow": str(version.workflow_id)}}
    run_id = world.start(world.draw("S > C", kinds=KINDS, configs=configs)).run_id
    settle(world)
    return run_id, Run.objects.get(parent_run_id=run_id).id


def act(world: World, what: Any, run_id: UUID, name: str) -> None:
    with world.connection.transaction():
        what(world.connection, world.command(run_id, name))
    settle(world)


def left(*ids: UUID) -> set[UUID]:
    return set(Run.objects.filter(id__in=ids).values_list("id", flat=True))


def test_a_failed_child_stays_as_long_as_its_parent_and_a_resume_of_that_goes_on_in_it(world: World) -> None:
    run_id, child_id = called(world)
    age(world, child_id, days=40)
    age(world, run_id, days=20)
    assert Housekeeping(days=30).turn(world.connection).runs == 0
    act(world, resume_run, run_id, "resume")
    (child,) = Run.objects.filter(parent_run_id=run_id)
    assert (child.id, child.generation) == (child_id, 2)


def test_a_child_goes_after_its_parent_in_the_same_turn(world: World) -> None:
    run_id, child_id = called(world)
    age(world, child_id, days=41)  # the older one, so it is looked at first
    age(world, run_id, days=40)
    assert Housekeeping(days=30).turn(world.connection).runs == 2
    assert left(run_id, child_id) == set()


def test_a_run_inside_a_run_inside_a_run_stays_with_the_first(world: World) -> None:
    inner = world.draw("S > X", kinds=KINDS, configs={"X": {"message": "No stock."}})
    middle = world.draw("S > C", kinds=KINDS, configs={"C": {"workflow": str(inner.workflow_id)}})
    outer = world.draw("S > C", kinds=KINDS, configs={"C": {"workflow": str(middle.workflow_id)}})
    run_id = world.start(outer).run_id
    settle(world)
    inside = list(Run.objects.filter(root_id=run_id).values_list("id", flat=True))
    for id_ in inside:
        age(world, id_, days=40)
    assert Housekeeping(days=30).turn(world.connection).runs == 0
    age(world, run_id, days=40)
    assert Housekeeping(days=30).turn(world.connection).runs == 3


def test_a_parent_stays_while_a_run_inside_it_is_open(world: World) -> None:
    run_id, child_id = called(world, "S > D")
    act(world, cancel_run, run_id, "cancel")
    act(world, resume_run, child_id, "resume")  # a person took it up by itself
    age(world, run_id, days=40)
    assert Housekeeping(days=30).turn(world.connection).runs == 0
    act(world, cancel_run, child_id, "cancel")
    assert Housekeeping(days=30).turn(world.connection).runs == 1
    assert left(run_id, child_id) == {child_id}
