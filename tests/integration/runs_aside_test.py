"""What is ready in a paused run lies aside: no claim looks over it, and nothing of it is left behind afterwards."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from builder.graph.model import Policy
from runs.core.breakpoints import Breakpoints
from runs.core.limits import PAUSED
from runs.core.outcomes import Succeeded
from runs.engine.cancel import cancel_run
from runs.engine.control import change_breakpoints, pause_run, unpause_run
from runs.engine.limits import Rounds, let_all_go
from runs.engine.resume import resume_run
from runs.engine.start import Start, start_run
from runs.models import StepRun
from runs.store import claim
from tests.engine import World
from tests.hands import KINDS, Hand
from tests.staging import begun

pytestmark = pytest.mark.django_db(transaction=True)

SLACK = 20  # rows of pages that a claim happens to come by, of hundreds that lie aside


def order(world: World, run_id: UUID, operation: str) -> None:
    act = {"pause": pause_run, "unpause": unpause_run, "cancel": cancel_run, "resume": resume_run}[operation]
    with world.connection.transaction():
        act(world.connection, world.command(run_id, operation))


def ready(run_id: UUID) -> dict[str, str | None]:
    return dict(StepRun.objects.filter(run_id=run_id, status="ready").values_list("path", "held_by"))


def test_all_that_is_ready_lies_aside_until_the_run_goes_on(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B; A > C")
    held = hands[0].take()
    assert held.path == "A"
    order(world, run_id, "pause")
    assert ready(run_id) == {"B": PAUSED}
    assert hands[0].finish(held, Succeeded(1)).result == "committed"
    assert ready(run_id) == {"B": PAUSED, "C": PAUSED}, "and what becomes ready meanwhile"
    assert hands[1].claim().result == "empty"
    order(world, run_id, "unpause")
    assert ready(run_id) == {"B": None, "C": None}
    assert {hands[1].take().path, hands[1].take().path} == {"B", "C"}


def test_a_step_that_is_ready_in_a_paused_run_is_refused_to_a_claim_also_where_it_does_not_lie_aside(
    world: World, hands: list[Hand]
) -> None:
    """A process of the version before pauses a run without putting anything aside."""
    run_id = begun(world, "S > A")
    order(world, run_id, "pause")
    world.connection.execute("UPDATE runs_steprun SET held_by = NULL WHERE run_id = %s AND status = 'ready'", (run_id,))
    assert hands[0].claim().result == "empty"
    order(world, run_id, "unpause")
    assert hands[0].take().path == "A"


def test_what_a_breakpoint_holds_lies_aside_with_the_others(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B; A > C")
    with world.connection.transaction():
        change_breakpoints(world.connection, world.command(run_id, "breakpoints"), Breakpoints(frozenset({"n_C"})))
    hands[0].finish(hands[0].take(), Succeeded(1))
    assert world.run(run_id).status == "paused"
    assert ready(run_id) == {"B": PAUSED, "C": PAUSED}
    order(world, run_id, "unpause")
    assert ready(run_id) == {"B": None, "C": None}


def test_nothing_stays_aside_of_a_run_that_was_cancelled_while_it_was_paused(world: World, hands: list[Hand]) -> None:
    run_id = begun(world, "S > A + B")
    order(world, run_id, "pause")
    order(world, run_id, "cancel")
    assert not StepRun.objects.filter(run_id=run_id).exclude(held_by=None).exists()
    order(world, run_id, "resume")
    assert ready(run_id) == {"A": None, "B": None}
    assert {hands[0].take().path, hands[0].take().path} == {"A", "B"}


def test_what_a_limit_holds_goes_on_by_the_limit_after_a_pause(world: World, hands: list[Hand]) -> None:
    version = world.draw("S > A", policies={"A": Policy(limit_key="erp", limit_at_most=1)})
    first, second = world.start(version).run_id, world.start(version).run_id
    running = hands[0].take()
    assert hands[1].claim().held is None
    name = ready(second)["A"]
    assert name is not None
    order(world, second, "pause")
    assert ready(second) == {"A": name}
    hands[0].finish(running, Succeeded(1))
    assert running.run_id == first
    assert let_all_go(world.connection, Rounds()) == 0, "a paused run starts nothing"
    order(world, second, "unpause")
    assert let_all_go(world.connection, Rounds()) == 1
    assert hands[1].take().run_id == second


def test_a_sweeper_brings_back_what_a_process_of_the_version_before_left_aside(
    world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [begun(world, "S > A + B") for _ in range(3)]
    still_paused = begun(world, "S > A")
    order(world, still_paused, "pause")
    aside = "UPDATE runs_steprun SET held_by = %s WHERE run_id = ANY(%s) AND status = 'ready'"
    world.connection.execute(aside, (PAUSED, runs))
    assert hands[0].claim().result == "empty"
    monkeypatch.setattr("runs.engine.limits.NAMES_AT_ONCE", 4)
    rounds = Rounds()
    assert [let_all_go(world.connection, rounds) for _ in range(3)] == [4, 2, 0], "a part of them each time"
    assert ready(still_paused) == {"A": PAUSED}
    assert sorted(hands[0].take().path for _ in range(6)) == ["A", "A", "A", "B", "B", "B"]


def looked_over(world: World) -> int:
    """Rows of step runs that a claim reads, as PostgreSQL counts them while it executes it."""
    values = {
        "worker": world.process.id, "claim": uuid4(), "queue": "default", "kinds": list(KINDS),
        "after": claim.FIRST, "full": [],
    }  # fmt: skip
    with world.connection.transaction(force_rollback=True):
        row = world.connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {claim.CLAIM}", values).fetchone()
    assert row is not None
    plan: Any = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return read_of_steps(plan[0]["Plan"])


def read_of_steps(node: dict[str, Any]) -> int:
    rows = sum(int(read_of_steps(each)) for each in node.get("Plans", []))
    if node.get("Relation Name") == "runs_steprun" and "Scan" in node["Node Type"]:
        each = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        rows += round(each * node["Actual Loops"])
    return rows


def test_a_claim_reads_no_more_for_hundreds_of_ready_steps_of_paused_runs(world: World) -> None:
    wide = world.draw("S > " + " + ".join(f"A{number}" for number in range(40)))
    plain = world.draw("S > A")
    paused = [world.start(wide).run_id for _ in range(5)]
    world.start(plain)
    before = looked_over(world)
    for run_id in paused:
        order(world, run_id, "pause")
    assert StepRun.objects.filter(status="ready", held_by=PAUSED).count() == 200
    assert looked_over(world) < before + SLACK
    with world.connection.transaction():  # the last look of a claim that finds nothing is one look as well
        wanted = Start(plain.workflow_id, plain.id, None, "Ana", priority=5)
        run_id = start_run(world.connection, wanted).run_id
    order(world, run_id, "pause")
    assert looked_over(world) < before + SLACK


def test_pausing_writes_no_row_twice(world: World, hands: list[Hand]) -> None:
    """A breakpoint pauses in the very transition that makes its step ready, and others with it."""
    run_id = begun(world, "S > A; A > B + C")
    with world.connection.transaction():
        change_breakpoints(world.connection, world.command(run_id, "breakpoints"), Breakpoints(frozenset({"n_B"})))
    try:
        hands[0].finish(hands[0].take(), Succeeded(1))
    except psycopg.Error as error:  # pragma: no cover - what the test is there to see
        pytest.fail(str(error))
    assert ready(run_id) == {"B": PAUSED, "C": PAUSED}
