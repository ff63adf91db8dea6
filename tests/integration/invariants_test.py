"""What looks for steps that started too early: it finds them, and is done with a large run in no time."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from django.db import connection, transaction

from builder.graph.model import Policy
from tests import shapes
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)

LARGE = shapes.montage(images=108, overlaps=1890)
TOLD = """INSERT INTO runs_event (run_id, run_day, seq, type, path, attempt, actor, data, at)
    SELECT run_id, run_day, %s + row_number() OVER (ORDER BY id), %s, path, 1, 'test', '{}', now()
    FROM runs_steprun WHERE run_id = %s AND path = ANY(%s)"""


Told = tuple[UUID, str, Sequence[str], int]  # a run, the type of the event, paths, and the number that comes before


def too_early(*told: Told, within: str = "60s") -> list[str]:
    """What is found once these events are told as well. They are taken back: the event log is append-only."""
    with transaction.atomic(), connection.cursor() as cursor:
        for run, kind, paths, after in told:
            cursor.execute(TOLD, [after, kind, run, list(paths)])
        cursor.execute("ANALYZE runs_steprun, runs_event, workflows_version")
        cursor.execute(f"SET LOCAL statement_timeout = '{within}'")
        cursor.execute("SELECT what FROM runs_broken_i4 ORDER BY what")
        transaction.set_rollback(True)
        return [what for (what,) in cursor.fetchall()]


def test_a_step_that_started_before_what_it_needs_was_settled_is_found(world: World) -> None:
    run = world.start(world.draw("S > A + B > C > O")).run_id
    told: list[Told] = [
        (run, "step.succeeded", ["A"], 1_000),
        (run, "step.running", ["C"], 2_000),
        (run, "step.succeeded", ["B"], 3_000),
    ]
    assert too_early(*told) == ["I4: C started before B was settled"]


def test_in_an_item_it_is_asked_of_the_neighbours_of_that_item(world: World) -> None:
    configs = {"E": {"items": [1, 2], "window": 2}}
    run = world.start(world.draw("S > E[A > B] > O", configs=configs)).run_id
    for _ in range(20):
        world.work()
    assert too_early() == []
    assert too_early((run, "step.running", ["E[1].B"], -1_000)) == ["I4: E[1].B started before E[1].A was settled"]


def test_a_join_that_asks_for_fewer_may_start_before_the_others(world: World) -> None:
    run = world.start(world.draw("S > A + B > C > O", policies={"C": Policy(join="any")})).run_id
    assert too_early((run, "step.running", ["C"], 2_000)) == []


def test_two_thousand_steps_are_looked_at_in_no_time(world: World) -> None:
    """It took minutes when each step run read the whole graph."""
    graph = shapes.graph_of(LARGE, kind="pass_through", config_of={"value": 1})
    run = world.start(world.publish(graph)).run_id
    names = [task.name for task in LARGE]
    settled: Told = (run, "step.succeeded", ["start", *names], 10_000)
    assert too_early(settled, (run, "step.running", names, 20_000), within="10s") == []
