"""What looks for steps that started too early: it finds them, and is done with a large run in no time."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from django.db import connection

from builder.graph.model import Policy
from tests import shapes
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)

LARGE = shapes.montage(images=108, overlaps=1890)
TOLD = """INSERT INTO runs_event (run_id, run_day, seq, type, path, attempt, actor, data, at)
    SELECT run_id, run_day, %s + row_number() OVER (ORDER BY id), %s, path, 1, 'test', '{}', now()
    FROM runs_steprun WHERE run_id = %s AND path = ANY(%s)"""


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    """Without a look at the invariants in the end: they are broken here."""
    with World() as world:
        yield world


def told(run: UUID, kind: str, paths: list[str], *, after: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(TOLD, [after, kind, run, paths])


def too_early(*, within: str = "60s") -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_steprun, runs_event, workflows_version")
        cursor.execute(f"SET statement_timeout = '{within}'")
        cursor.execute("SELECT what FROM runs_broken_i4 ORDER BY what")
        found = [what for (what,) in cursor.fetchall()]
        cursor.execute("RESET statement_timeout")
    return found


def test_a_step_that_started_before_what_it_needs_was_settled_is_found(world: World) -> None:
    run = world.start(world.draw("S > A + B > C > O")).run_id
    told(run, "step.succeeded", ["A"], after=1_000)
    told(run, "step.running", ["C"], after=2_000)
    told(run, "step.succeeded", ["B"], after=3_000)
    assert too_early() == ["I4: C started before B was settled"]


def test_in_an_item_it_is_asked_of_the_neighbours_of_that_item(world: World) -> None:
    configs = {"E": {"items": [1, 2], "window": 2}}
    run = world.start(world.draw("S > E[A > B] > O", configs=configs)).run_id
    for _ in range(20):
        world.work()
    assert too_early() == []
    told(run, "step.running", ["E[1].B"], after=-1_000)
    assert too_early() == ["I4: E[1].B started before E[1].A was settled"]


def test_a_join_that_asks_for_fewer_may_start_before_the_others(world: World) -> None:
    run = world.start(world.draw("S > A + B > C > O", policies={"C": Policy(join="any")})).run_id
    told(run, "step.running", ["C"], after=2_000)
    assert too_early() == []


def test_two_thousand_steps_are_looked_at_in_no_time(world: World) -> None:
    """It took minutes when each step run read the whole graph."""
    graph = shapes.graph_of(LARGE, kind="pass_through", config_of={"value": 1})
    run = world.start(world.publish(graph)).run_id
    names = [task.name for task in LARGE]
    told(run, "step.succeeded", ["start", *names], after=10_000)
    told(run, "step.running", names, after=20_000)
    assert too_early(within="10s") == []
