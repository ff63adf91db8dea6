"""Forks inside containers: items, rounds and tries that are kept, go on, or begin anew."""

from dataclasses import replace
from typing import Any

from builder.graph.model import Node
from runs.core.commands import cancel
from runs.core.outcomes import Again, Fans, Succeeded
from runs.core.resume import resume
from tests.forking import BROKEN, begun, changed, ended, fates, reason, starts
from tests.memory import MemoryRun

# ---------------------------------------------------------------------- containers

TWO_STEPS = "S > E[A > B > C] > O"


def worked(total: int = 4, window: int = 2, policy: Any = "fail_at_end", drawing: str = TWO_STEPS) -> MemoryRun:
    memory = begun(drawing)
    memory.finish("E", Fans([*range(total)], window, policy))
    memory.succeed_all()
    return memory


def test_from_inside_an_item_only_that_item_goes_on_and_what_follows_the_container() -> None:
    memory = worked()
    other, fork = memory.fork("E[2].B")
    assert fork.plan.again == ["E", "E[2].B", "E[2].C", "O"]
    assert "E[2].A" in fork.plan.kept
    container = other.by_path("E").items
    assert container is not None
    assert (container.total, container.cursor, container.open, container.reopen) == (4, 4, 1, [])
    assert starts(ended(other)) == ["E[2].B", "E[2].C", "O"]


def test_an_item_in_the_middle_of_a_loop_is_a_place_to_go_on_from() -> None:
    """activepieces/activepieces PR 8908: a step inside a loop was no place to restart from."""
    memory = begun("S > E[X > Y] > O")
    memory.finish("E", Fans(["a", "b", "c", "d"], 1, "fail_fast"))
    for index in (0, 1):
        memory.finish(f"E[{index}].X", Succeeded(1))
        memory.finish(f"E[{index}].Y", Succeeded(1))
    memory.finish("E[2].X", Succeeded(1))
    memory.finish("E[2].Y", BROKEN)
    other, fork = memory.fork("E[2].Y")
    assert fork.plan.again == ["E", "E[2].Y", "O"]
    assert starts(ended(other)) == ["E[2].Y", "E[3].X", "E[3].Y", "O"]
    memory.transact(resume)
    assert starts(ended(memory)).count("E[2].X") == 1


def test_from_a_container_all_of_it_begins_anew() -> None:
    other, fork = worked().fork("E")
    assert fork.plan.again == ["E", "O"]
    assert reason(fork, "A") == "'E' around it runs again."
    assert "E[0].A" not in other.statuses()
    assert starts(ended(other, items={"E": [1]})) == ["E", "E[0].A", "E[0].B", "E[0].C", "O"]


def test_unfinished_items_of_a_container_run_and_finished_ones_are_copied() -> None:
    memory = begun("S > E[A > B] > O, S > Z")
    memory.finish("Z", Succeeded(1))
    memory.finish("E", Fans([*range(5)], 2, "fail_at_end"))
    memory.finish("E[0].A", Succeeded(1))
    memory.finish("E[0].B", Succeeded(1))
    memory.finish("E[1].A", BROKEN)
    memory.finish("E[2].A", Succeeded(1))
    memory.claim("E[2].B")
    other, fork = memory.fork("Z")
    assert fork.plan.again == ["E", "E[1].A", "E[1].B", "E[2].B", "E[3].A", "E[3].B", "Z", "O"]
    assert starts(ended(other)) == sorted(
        ["E[1].A", "E[1].B", "E[2].B", "E[3].A", "E[3].B", "E[4].A", "E[4].B", "O", "Z"]
    )


def test_a_fork_keeps_the_window() -> None:
    memory = worked(total=6, window=2)
    graph = changed(memory.graph, "B", config={"value": 2})
    other, fork = memory.fork(graph=graph)
    items = other.by_path("E").items
    assert items is not None
    assert (items.open, items.reopen) == (2, [2, 3, 4, 5])
    assert fates(fork) == {"S": "kept", "E": "again", "A": "kept", "B": "again", "C": "again", "O": "again"}
    assert starts(ended(other)) == sorted([f"E[{at}].{key}" for at in range(6) for key in "BC"] + ["O"])


def test_a_cancelled_fork_is_resumed_with_all_of_its_items() -> None:
    memory = worked(total=6, window=2)
    other, _ = memory.fork(graph=changed(memory.graph, "B", config={"value": 2}))
    other.finish("E[0].B", Succeeded(1))
    other.transact(cancel)
    other.transact(resume)
    assert starts(ended(other)).count("E[0].B") == 1
    assert {f"E[{at}].C" for at in range(6)} <= set(starts(other))


def test_a_container_within_an_item_goes_on_too() -> None:
    memory = begun("S > E[F[A > B] > C] > O")
    memory.finish("E", Fans([1, 2, 3], 1, "fail_at_end"))
    memory.succeed_all(items={"F": [1, 2]})
    other, fork = memory.fork(graph=changed(memory.graph, "B", config={"value": 2}))
    assert starts(ended(other)) == sorted(
        [f"E[{at}].F[{inner}].B" for at in range(3) for inner in range(2)] + [f"E[{at}].C" for at in range(3)] + ["O"]
    )
    assert fates(fork)["A"] == "kept"
    other, fork = memory.fork("E[1].F[1].B")
    assert fork.plan.again == ["E", "E[1].F", "E[1].F[1].B", "E[1].C", "O"]
    assert starts(ended(other)) == ["E[1].C", "E[1].F[1].B", "O"]


def test_failures_that_a_container_tolerated_are_copied_as_they_are() -> None:
    memory = begun(TWO_STEPS)
    memory.finish("E", Fans([1, 2], 2, "continue"))
    memory.finish("E[0].A", BROKEN)
    memory.succeed_all()
    other, _ = memory.fork("O")
    assert (other.statuses()["E[0].A"], other.statuses()["E[0].B"]) == ("failed", "skipped")
    assert starts(ended(other)) == ["O"]


def test_a_container_of_which_a_step_was_taken_away_ends_with_what_its_items_have_left() -> None:
    memory = worked(drawing="S > E[A > B] > O")
    graph = replace(memory.graph, nodes=tuple(n for n in memory.graph.nodes if n.key != "B"), edges=tuple(
        edge for edge in memory.graph.edges if edge.target != "n_B"
    ))  # fmt: skip
    other, fork = memory.fork(graph=graph)
    assert fates(fork) == {"S": "kept", "E": "again", "A": "kept", "O": "again", "B": "removed"}
    assert reason(fork, "E") == "The steps inside it are different in this version."
    assert starts(ended(other)) == ["O"]


def test_a_renamed_step_is_copied_to_its_new_path() -> None:
    memory = worked(total=1)
    other, fork = memory.fork("O", graph=changed(memory.graph, "E", key="each"))
    assert "each[0].A" in other.statuses()
    assert starts(ended(other)) == ["O"]
    assert fates(fork)["each"] == "kept"


def test_a_step_that_moved_into_a_container_runs_again() -> None:
    memory = worked(total=2, drawing="S > E[A] > O, S > B")
    nodes = tuple(replace(n, parent="n_E") if n.key == "B" else n for n in memory.graph.nodes)
    edges = tuple(edge for edge in memory.graph.edges if edge.target != "n_B")
    other, fork = memory.fork(graph=replace(memory.graph, nodes=nodes, edges=edges))
    assert (fates(fork)["A"], fates(fork)["B"], fates(fork)["E"]) == ("kept", "again", "again")
    assert starts(ended(other)) == ["E[0].B", "E[1].B", "O"]


def test_a_new_step_in_a_body_runs_in_each_item_that_there_was() -> None:
    memory = worked(total=2, drawing="S > E[A] > O")
    node = Node("n_N", "N", "pass_through", parent="n_E")
    other, fork = memory.fork(graph=replace(memory.graph, nodes=(*memory.graph.nodes, node)))
    assert fates(fork)["N"] == "new"
    assert starts(ended(other)) == ["E[0].N", "E[1].N", "O"]


# ---------------------------------------------------------------------- rounds, tries

LOOPS = {"L": "loop", "T": "try_block"}


def looped(count: int = 4, drawing: str = "S > L[A > B] > O") -> MemoryRun:
    memory = begun(drawing, kinds=LOOPS)
    memory.finish("L", Fans([None], 1, "fail_at_end", mode="rounds", most=10, gather="last"))
    for index in range(count):
        for path in memory.ready():
            memory.finish(path, Succeeded(index))
        memory.finish(f"L[{index}].B", Succeeded(index))
        memory.finish("L", Again(wanted=index < count - 1))
    memory.succeed_all()
    return memory


def test_from_a_round_of_a_loop_later_rounds_are_made_anew() -> None:
    memory = looped()
    other, fork = memory.fork("L[1].B")
    assert fork.plan.again == ["L", "L[1].B", "O"]
    assert set(other.statuses()) == {"S", "L", "L[0].A", "L[0].B", "L[1].A", "L[1].B", "O"}
    other.finish("L[1].B", Succeeded("again"))
    other.finish("L", Again(wanted=True))
    other.finish("L[2].A", Succeeded(1))
    other.finish("L[2].B", Succeeded(1))
    other.finish("L", Again(wanted=False))
    ended(other)
    assert starts(other) == ["L", "L", "L[1].B", "L[2].A", "L[2].B", "O"]


def test_a_loop_whose_rounds_are_all_done_is_asked_again() -> None:
    memory = begun("S > L[A > B] > O, S > Z", kinds=LOOPS)
    memory.finish("Z", Succeeded(1))
    memory.finish("L", Fans([None], 1, "fail_at_end", mode="rounds", most=10, gather="last"))
    memory.finish("L[0].A", Succeeded(1))
    memory.finish("L[0].B", Succeeded(1))
    assert memory.statuses()["L"] == "ready"
    other, _ = memory.fork("Z")
    assert sorted(other.ready()) == ["L", "Z"]
    other.finish("L", Again(wanted=False))
    assert starts(ended(other)) == ["L", "O", "Z"]


def test_a_loop_that_is_kept_is_copied_with_its_rounds() -> None:
    other, fork = looped().fork("O")
    assert fork.plan.again == ["O"]
    assert "L[3].B" in other.statuses()
    assert starts(ended(other)) == ["O"]


def test_a_try_that_caught_a_failure_is_kept_unless_something_inside_it_is_chosen() -> None:
    memory = begun("S > T[A > B], T ?failed> F > C, T ?out> D", kinds=LOOPS)
    memory.finish("T", Fans([None], 1, "fail_at_end", mode="once", gather="last"))
    memory.finish("T[0].A", BROKEN)
    memory.succeed_all()
    other, fork = memory.fork("C")
    assert fork.plan.again == ["C"]
    assert starts(ended(other)) == ["C"]
    other, fork = memory.fork("T[0].A")
    assert starts(ended(other)) == ["D", "T[0].A", "T[0].B"]
