"""Who is claimed first: no workspace's flood keeps another waiting; among one's steps, priority and age decide."""

from uuid import UUID

import pytest

from runs.core.outcomes import Succeeded
from runs.engine.start import Start, start_run
from runs.models import StepRun
from steps.registry import all_specs
from teams.models import Workspace
from tests.engine import World
from tests.hands import Hand

pytestmark = pytest.mark.django_db(transaction=True)


def start(world: World, text: str = "S > A", **options: int) -> UUID:
    version = world.draw(text)
    with world.connection.transaction():
        return start_run(
            world.connection, Start(version.workflow_id, version.id, None, "Ana", priority=options.get("priority", 0))
        ).run_id


def other_workspace(world: World, name: str) -> Workspace:
    world.workspace = Workspace.objects.create(slug=name, name=name)
    return world.workspace


def age(world: World, run_id: UUID, seconds: int) -> None:
    older = "UPDATE runs_steprun SET not_before = not_before - make_interval(secs => %s) WHERE status = 'ready'"
    world.connection.execute(f"{older} AND run_id = %s", (seconds, run_id))


def test_a_thread_goes_round_the_workspaces(world: World, hands: list[Hand]) -> None:
    flood = [start(world) for _ in range(6)]
    late = []
    for name in ("b", "c"):
        other_workspace(world, name)
        late += [start(world) for _ in range(2)]
    served = []
    after = UUID(int=0)
    while (held := hands[0].claim(after=after).held) is not None:
        after = held.workspace_id
        served.append(held)
    assert len(served) == 10
    assert {held.run_id for held in served[:6]} >= set(late), "each had its turn before the flood had its fourth"
    assert {held.run_id for held in served[-2:]} <= set(flood)


def test_a_workspace_whose_only_run_is_locked_is_passed_over(world: World, hands: list[Hand]) -> None:
    locked = start(world)
    other_workspace(world, "b")
    free = start(world)
    with world.connection.transaction():
        world.connection.execute("SELECT FROM runs_run WHERE id = %s FOR UPDATE", (locked,))
        assert hands[0].take().run_id == free
        assert hands[0].claim().result == "contended"


def test_what_is_more_urgent_goes_first(world: World, hands: list[Hand]) -> None:
    plain, low, high = start(world), start(world, priority=-5), start(world, priority=5)
    assert [hands[0].take().run_id for _ in range(3)] == [high, plain, low]


def test_whoever_has_waited_a_minute_for_each_level_goes_first(world: World, hands: list[Hand]) -> None:
    """So nothing starves: an urgent run overtakes what came at most ten minutes before it."""
    old, fresh = start(world, priority=-5), start(world, priority=5)
    age(world, old, 10 * 60 + 1)
    assert hands[0].take().run_id == old
    assert hands[0].take().run_id == fresh


def test_steps_that_a_run_opens_later_have_its_priority(world: World, hands: list[Hand]) -> None:
    run_id = start(world, "S > A > B", priority=3)
    hands[0].finish(hands[0].take(), Succeeded(1))
    assert set(StepRun.objects.filter(run_id=run_id).values_list("priority", flat=True)) == {3}


def test_an_insert_that_names_no_workspace_gets_its_runs(world: World, hands: list[Hand]) -> None:
    """As a worker of the version before does it while a new one is rolled out: its steps must not be lost sight of."""
    run_id = start(world)
    row = "run_id, run_day, path, node_id, key, kind, queue, delivery, status, not_before"
    values = "id, run_day, 'old', 'old', 'old', 'set_fields', 'default', 'at_least_once', 'ready', now()"
    with world.connection.transaction(force_rollback=True):
        found = world.connection.execute(
            f"INSERT INTO runs_steprun ({row}) SELECT {values} FROM runs_run WHERE id = %s RETURNING workspace_id",
            (run_id,),
        ).fetchone()
        assert found == (world.workspace.id,)


def test_a_worker_never_takes_a_kind_that_it_lacks(world: World, hands: list[Hand]) -> None:
    start(world, "S > A:template")
    plain = start(world, "S > B")
    old = [kind for kind in all_specs() if kind != "template"]
    assert hands[0].claim(kinds=old).held is not None
    assert hands[0].claim(kinds=old).result == "empty"
    assert world.statuses(plain)["B"] == "running"
    assert hands[1].take().path == "A"


def test_a_finish_takes_no_kind_along_that_its_worker_lacks(world: World, hands: list[Hand]) -> None:
    start(world, "S > A > B:template")
    held = hands[0].take()
    wish = hands[0].wish()
    old = [kind for kind in all_specs() if kind != "template"]
    wish = type(wish)(wish.worker, wish.claim, wish.queues, old)
    assert hands[0].finish(held, Succeeded(1), wish=wish).next is None
    assert hands[1].take().path == "B"
