"""Loops, tries, and maps that tolerate: rounds one after the other, and failures that stay inside."""

import json

import pytest

from builder.graph.model import Graph, Policy
from runs.core.commands import cancel
from runs.core.outcomes import Again, Crashed, Error, Failed, Fans, Succeeded
from runs.core.resume import resume
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))
KINDS = {"L": "loop", "T": "try_block", "E": "map"}
TRY = Fans([None], 1, "fail_at_end", mode="once", gather="last")


def graph(drawing: str, **options: object) -> Graph:
    return draw(drawing, plain="pass_through", kinds=KINDS, **options)


def rounds(most: int) -> Fans:
    return Fans([None], 1, "fail_at_end", mode="rounds", most=most, gather="last")


def starts(memory: MemoryRun, key: str) -> list[str]:
    found = [event.path for event in memory.events if event.type == "step.running" and event.path]
    return [path for path in found if path.endswith(f".{key}")]


# ---------------------------------------------------------------------- loops


def test_a_loop_runs_one_round_after_the_other_and_asks_after_each() -> None:
    memory = MemoryRun(graph("S > L[X] > K"))
    memory.finish("L", rounds(5))
    for index in range(3):
        assert memory.ready() == [f"L[{index}].X"]
        memory.finish(f"L[{index}].X", Succeeded(index))
        assert memory.ready() == ["L"]
        memory.finish("L", Again(wanted=index < 2))
    assert memory.statuses()["L"] == "succeeded"
    assert memory.events[-2].data == {"port": "out", "origin": "executed", "total": 3, "failed": 0}
    assert memory.ready() == ["K"]


def at_its_maximum(at_most: str) -> MemoryRun:
    memory = MemoryRun(graph("S > L[X]"))
    memory.finish("L", rounds(2))
    for index in range(2):
        memory.finish(f"L[{index}].X", Succeeded(index))
        memory.finish("L", Again(wanted=True, at_most=at_most))
    return memory


def test_a_loop_never_has_a_round_beyond_its_maximum() -> None:
    memory = at_its_maximum("fail")
    assert memory.statuses() == {**memory.statuses(), "L": "failed", "L[1].X": "succeeded"}
    assert "L[2].X" not in memory.statuses()
    assert (memory.by_path("L").error or {})["code"] == "maximum_reached"


def test_a_loop_may_end_well_at_its_maximum() -> None:
    assert at_its_maximum("end").statuses()["L"] == "succeeded"


def test_a_failed_round_fails_the_loop_and_a_resume_goes_on_in_it() -> None:
    memory = MemoryRun(graph("S > L[X > Y]"))
    memory.finish("L", rounds(4))
    for index in range(4):
        memory.finish(f"L[{index}].X", Succeeded(index))
        if index == 2:
            memory.finish("L[2].Y", BROKEN)
            error = memory.by_path("L").error
            assert error is not None
            assert (error["code"], error["message"]) == ("round_failed", "Round 3 failed: It broke.")
            assert memory.transact(resume).again == ["L", "L[2].Y"]
        memory.finish(f"L[{index}].Y", Succeeded(index))
        memory.finish("L", Again(wanted=index < 3))
    assert memory.run.status == "succeeded"
    assert starts(memory, "X") == [f"L[{index}].X" for index in range(4)]
    assert starts(memory, "Y") == ["L[0].Y", "L[1].Y", "L[2].Y", "L[2].Y", "L[3].Y"]


def test_a_loop_whose_question_failed_is_asked_again_on_a_resume_and_repeats_no_round() -> None:
    memory = MemoryRun(graph("S > L[X]"))
    memory.finish("L", rounds(3))
    memory.finish("L[0].X", Succeeded(1))
    memory.finish("L", BROKEN)
    assert memory.run.status == "failed"
    memory.transact(resume)
    assert memory.ready() == ["L"]
    memory.finish("L", Again(wanted=False))
    assert memory.run.status == "succeeded"


def test_a_crash_while_a_loop_is_asked_costs_no_round() -> None:
    memory = MemoryRun(graph("S > L[X]"))
    memory.finish("L", rounds(3))
    memory.finish("L[0].X", Succeeded(1))
    memory.finish("L", Crashed("killed"))
    assert memory.ready() == ["L"]
    memory.finish("L", Again(wanted=True))
    assert memory.ready() == ["L[1].X"]


@pytest.mark.parametrize("when", ["in a round", "while it is asked"])
def test_a_cancelled_loop_goes_on_where_it_was(when: str) -> None:
    memory = MemoryRun(graph("S > L[X]"))
    memory.finish("L", rounds(3))
    if when == "while it is asked":
        memory.finish("L[0].X", Succeeded(1))
    memory.transact(cancel)
    assert memory.run.status == "cancelled"
    memory.transact(resume)
    assert memory.ready() == (["L[0].X"] if when == "in a round" else ["L"])


def test_a_loop_in_a_map_in_a_loop_keeps_its_rounds_apart() -> None:
    memory = MemoryRun(graph("S > L1:loop[E[L2:loop[X]]]"))
    memory.finish("L1", rounds(1))
    memory.finish("L1[0].E", Fans([1, 2], 2, "fail_at_end"))
    memory.finish("L1[0].E[1].L2", rounds(2))
    memory.finish("L1[0].E[1].L2[0].X", BROKEN)
    memory.finish("L1[0].E[0].L2", rounds(2))
    memory.finish("L1[0].E[0].L2[0].X", Succeeded(1))
    memory.finish("L1[0].E[0].L2", Again(wanted=False))
    assert memory.run.status == "failed"
    memory.transact(resume)
    assert memory.ready() == ["L1[0].E[1].L2[0].X"]
    memory.finish("L1[0].E[1].L2[0].X", Succeeded(1))
    memory.finish("L1[0].E[1].L2", Again(wanted=False))
    memory.finish("L1", Again(wanted=False))
    assert memory.run.status == "succeeded"


# ---------------------------------------------------------------------- tries


def test_a_try_whose_steps_are_fine_leaves_by_out() -> None:
    memory = MemoryRun(graph("S > T[A > B] > K, T ?failed> H"))
    memory.finish("T", TRY)
    memory.finish("T[0].A", Succeeded(1))
    memory.finish("T[0].B", Succeeded(1))
    assert memory.ready() == ["K"]
    assert memory.statuses()["H"] == "skipped"


def test_a_failure_inside_a_try_leaves_by_its_port_and_fails_nothing() -> None:
    memory = MemoryRun(graph("S > T[A > B, C] > K, T ?failed> H"))
    memory.finish("T", TRY)
    memory.finish("T[0].A", BROKEN)
    assert memory.statuses()["T"] == "waiting"
    output = None

    def watch(path: str) -> None:
        nonlocal output
        memory.finish(path, Succeeded(1))
        output = memory.by_path("T").output

    watch("T[0].C")
    assert output is not None
    assert json.loads(output.text or "") == {"code": "broken", "message": "It broke.", "path": "T[0].A"}
    assert memory.ready() == ["H"]
    memory.finish("H", Succeeded(1))
    assert memory.run.status == "succeeded"


def test_a_resume_after_a_handled_failure_repeats_only_what_failed_after_it() -> None:
    memory = MemoryRun(graph("S > T[A] > K, T ?failed> H"))
    memory.finish("T", TRY)
    memory.finish("T[0].A", BROKEN)
    memory.finish("H", BROKEN)
    assert memory.run.status == "failed"
    assert memory.transact(resume).again == ["H"]
    memory.finish("H", BROKEN)
    assert memory.run.status == "failed"
    memory.transact(resume)
    memory.finish("H", Succeeded(1))
    assert memory.run.status == "succeeded"
    assert starts(memory, "A") == ["T[0].A"]


def test_a_try_catches_what_a_loop_inside_it_could_not_finish() -> None:
    memory = MemoryRun(graph("S > T[L[X]] ?failed> H"))
    memory.finish("T", TRY)
    memory.finish("T[0].L", rounds(3))
    memory.finish("T[0].L[0].X", BROKEN)
    output = memory.by_path("T").output
    assert output is not None
    assert json.loads(output.text or "")["code"] == "round_failed"
    assert memory.ready() == ["H"]


# ---------------------------------------------------------------------- tolerance


@pytest.mark.parametrize(("tolerated", "status"), [(0, "failed"), (1, "failed"), (2, "succeeded")])
def test_a_map_tolerates_so_many_failed_items(tolerated: int, status: str) -> None:
    memory = MemoryRun(graph("S > E[X] > K"))
    memory.finish("E", Fans([1, 2, 3], 3, "fail_at_end", tolerated=tolerated))
    for index, outcome in enumerate([BROKEN, Succeeded(1), BROKEN]):
        memory.finish(f"E[{index}].X", outcome)
    assert memory.statuses()["E"] == status


def test_a_map_that_fails_fast_stops_at_the_first_failure_that_it_does_not_tolerate() -> None:
    memory = MemoryRun(graph("S > E[X] > K"))
    memory.finish("E", Fans([1, 2, 3], 3, "fail_fast", tolerated=1))
    memory.finish("E[0].X", BROKEN)
    assert memory.statuses()["E"] == "waiting"
    memory.finish("E[1].X", BROKEN)
    assert (memory.statuses()["E"], memory.statuses()["E[2].X"]) == ("failed", "cancelled")
    assert set(memory.transact(resume).again) == {"E", "K", "E[0].X", "E[1].X", "E[2].X"}


def test_a_failed_map_of_nothing_does_not_exist_and_a_resume_leaves_it_alone() -> None:
    memory = MemoryRun(graph("S > E[X] > K", policies={"K": Policy()}))
    memory.finish("E", Fans([], 3, "fail_at_end"))
    memory.finish("K", BROKEN)
    assert memory.transact(resume).again == ["K"]
