"""Maps: the window, items that end at once, and containers in containers."""

import pytest

from builder.graph.model import Graph, Policy
from runs.core.advance import propagate
from runs.core.outcomes import Error, Failed, Fans, Succeeded
from runs.core.resume import NothingToResume, resume
from runs.core.rows import Stored
from runs.core.settle import settle_attempt
from runs.core.transition import Transition
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))


def graph(drawing: str, **options: object) -> Graph:
    return draw(drawing, plain="pass_through", **options)


def fans(count: int, *, window: int = 32, on_item_failure: str = "fail_at_end") -> Fans:
    return Fans(list(range(count)), window, on_item_failure)


def test_an_empty_map_at_the_end_of_an_item_ends_that_item_once() -> None:
    memory = MemoryRun(graph("S > E[F[X]] > K"))
    memory.finish("E", fans(3, window=1))
    for index in range(3):
        assert memory.statuses()["E"] == "waiting"
        memory.finish(f"E[{index}].F", fans(0))
    assert memory.statuses()["E"] == "succeeded"
    assert memory.statuses()["K"] == "ready"


def test_a_resume_reaches_a_step_that_is_blocked_inside_an_open_item() -> None:
    memory = MemoryRun(graph("S > E[X > Y] > K", policies={"Y": Policy(on_upstream_failure="wait")}))
    memory.finish("E", fans(2))
    memory.finish("E[0].X", BROKEN)
    memory.finish("E[1].X", Succeeded(1))
    memory.finish("E[1].Y", Succeeded(1))
    assert memory.statuses()["E[0].Y"] == "blocked"
    assert memory.run.status == "running"
    assert memory.transact(resume).again == ["E", "E[0].X", "E[0].Y"]
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_a_resume_reaches_a_failure_inside_an_open_item_of_an_inner_map() -> None:
    memory = MemoryRun(graph("S > E[F[X, Y > Z]]"))
    memory.finish("E", fans(2))
    memory.finish("E[0].F", fans(2, window=1))
    memory.finish("E[0].F[0].X", BROKEN)
    memory.claim("E[0].F[0].Y")
    memory.transact(resume)
    assert memory.statuses()["E[0].F[0].X"] == "ready"
    assert memory.statuses()["E[0].F[0].Y"] == "running"
    with pytest.raises(NothingToResume):
        memory.transact(resume)


def test_what_an_item_has_overtaken_stays_skipped_as_at_the_top_level() -> None:
    memory = MemoryRun(graph("S > E[A > B > J]", policies={"J": Policy(on_upstream_failure="default")}))
    memory.finish("E", fans(1))
    memory.finish("E[0].A", BROKEN)
    memory.finish("E[0].J", Succeeded(1))
    memory.transact(resume)
    memory.succeed_all()
    assert memory.statuses()["E[0].B"] == "skipped"
    assert memory.run.status == "succeeded"


def test_an_item_stopped_in_one_instance_leaves_the_others_alone() -> None:
    memory = MemoryRun(graph("S > E[I, I ?true> X]"))
    memory.finish("E", fans(7))
    for index in range(7):
        memory.finish(f"E[{index}].I", Succeeded(None, "true" if index == 6 else "false"))
    memory.finish("E[6].X", Succeeded(6))
    assert [memory.statuses()[f"E[{index}].X"] for index in range(7)] == ["skipped"] * 6 + ["succeeded"]
    assert memory.run.status == "succeeded"


def test_results_of_two_items_may_be_settled_in_one_transaction() -> None:
    memory = MemoryRun(graph("S > E[X] > K"))
    memory.finish("E", fans(2))
    memory.claim("E[0].X")
    memory.claim("E[1].X")

    def act(tx: Transition) -> None:
        for index in (0, 1):
            row = tx.scope((memory.by_path("E").id, index))["n_X"]
            settle_attempt(tx, row, Succeeded(index), output=Stored(text=str(index)))
            propagate(tx, (row.parent_id, row.index))

    memory.transact(act)
    assert memory.statuses()["K"] == "ready"


def test_a_map_that_fails_fast_cancels_the_maps_inside_it_and_a_resume_takes_them_up() -> None:
    memory = MemoryRun(graph("S > E[X, F[Y]] > K"))
    memory.finish("E", fans(2, on_item_failure="fail_fast"))
    memory.finish("E[0].F", fans(2))
    memory.finish("E[0].F[0].Y", Succeeded(1))
    memory.finish("E[1].F", fans(0))
    memory.finish("E[1].X", BROKEN)
    statuses = memory.statuses()
    assert (statuses["E"], statuses["E[0].F"], statuses["E[0].F[1].Y"]) == ("failed", "cancelled", "cancelled")
    memory.transact(resume)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert memory.by_path("E[0].F[0].Y").attempt == 1
