"""Runs inside runs that are paused: with the run that waits for them, by themselves, or both."""

from uuid import uuid4

import pytest

from runs.core.breakpoints import Breakpoints
from runs.core.children import ChildEnd, child_ended
from runs.core.commands import NotPossibleNow, cancel
from runs.core.control import pause, pause_with_parent, unpause
from runs.core.outcomes import Error, Failed, Fans, Succeeded, Waits
from runs.core.resume import resume
from runs.core.rows import BOTH, PARENT, RunRow, Stored
from runs.core.states import RunStatus
from tests.graphs import draw
from tests.memory import MemoryRun

CALL = Waits("child", None, {"workflow": "w", "version": None, "input": {"n": 1}})
BROKEN = Failed(Error("broken", "It broke."))
Told = list[tuple[str, int]]


def child(drawing: str = "S > A > B", *, stops_before: str = "") -> MemoryRun:
    run = RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, parent_step_id=5, depth=1)
    run.breakpoints = Breakpoints(nodes=frozenset({f"n_{stops_before}"} if stops_before else ()))
    return MemoryRun(draw(drawing, plain="pass_through"), run=run)


def parent_is(memory: MemoryRun, *, paused: bool) -> bool:
    return bool(memory.transact(lambda tx: pause_with_parent(tx, is_paused=paused)))


def how(memory: MemoryRun) -> tuple[str, str | None]:
    return memory.run.status.value, memory.run.paused_by


def told(memory: MemoryRun) -> list[str]:
    return [sent.kind for sent in memory.outbox]


# ---------------------------------------------------------------------- the child


def test_a_child_is_paused_with_its_parent_and_goes_on_with_it() -> None:
    memory = child()
    assert parent_is(memory, paused=True)
    assert how(memory) == ("paused", PARENT)
    assert memory.events[-1].data == {"by": "parent"}
    assert parent_is(memory, paused=False)
    assert how(memory) == ("running", None)


@pytest.mark.parametrize("paused", [True, False])
def test_a_word_that_comes_twice_changes_nothing(paused: bool) -> None:
    memory = child()
    parent_is(memory, paused=True)
    if not paused:
        parent_is(memory, paused=False)
    before = (memory.run.event_seq, how(memory))
    assert not parent_is(memory, paused=paused)
    assert (memory.run.event_seq, how(memory)) == before


def test_a_child_that_a_person_has_paused_stays_so_when_its_parent_goes_on() -> None:
    memory = child()
    memory.transact(pause)
    assert parent_is(memory, paused=True)
    assert how(memory) == ("paused", BOTH)
    assert parent_is(memory, paused=False)
    assert how(memory) == ("paused", None)
    memory.transact(unpause)
    assert how(memory) == ("running", None)


def test_a_person_may_pause_what_is_paused_with_its_parent_and_it_then_stays_so() -> None:
    memory = child()
    parent_is(memory, paused=True)
    memory.transact(pause)
    assert how(memory) == ("paused", BOTH)
    with pytest.raises(NotPossibleNow):
        memory.transact(pause)
    parent_is(memory, paused=False)
    assert how(memory) == ("paused", None)


def test_a_person_cannot_let_go_what_its_parent_holds_and_takes_back_only_their_own_pause() -> None:
    memory = child()
    parent_is(memory, paused=True)
    with pytest.raises(NotPossibleNow, match="unpause that one"):
        memory.transact(unpause)
    memory.transact(pause)
    memory.transact(unpause)
    assert how(memory) == ("paused", PARENT)
    assert parent_is(memory, paused=False)
    assert how(memory) == ("running", None)


def test_a_breakpoint_that_is_reached_in_a_paused_child_holds_it_when_the_parent_goes_on() -> None:
    memory = child("S > A > B", stops_before="B")
    memory.claim("A")
    parent_is(memory, paused=True)
    memory.finish("A", Succeeded(1))
    assert (how(memory), memory.run.paused_at) == (("paused", BOTH), ("B",))
    parent_is(memory, paused=False)
    assert (how(memory), memory.run.paused_at) == (("paused", None), ("B",))
    memory.transact(unpause)
    assert (how(memory), memory.run.paused_at) == (("running", None), ())


def test_unpausing_one_of_both_goes_past_what_a_breakpoint_holds() -> None:
    memory = child("S > A > B", stops_before="A")
    parent_is(memory, paused=True)
    memory.transact(unpause)
    assert (how(memory), memory.run.paused_at) == (("paused", PARENT), ())
    parent_is(memory, paused=False)
    memory.finish("A", Succeeded(1))


def test_a_child_that_ends_while_it_is_paused_with_its_parent_has_ended() -> None:
    memory = child("S > A")
    memory.claim("A")
    parent_is(memory, paused=True)
    memory.finish("A", Succeeded(1))
    assert how(memory) == ("succeeded", None)
    assert told(memory) == ["child_done"]
    assert not parent_is(memory, paused=True)


def test_a_child_that_is_paused_with_its_parent_can_be_cancelled() -> None:
    memory = child()
    parent_is(memory, paused=True)
    memory.transact(cancel)
    assert how(memory) == ("cancelled", None)
    assert not parent_is(memory, paused=False)


def test_a_child_that_is_resumed_looks_whether_its_parent_is_paused() -> None:
    memory = child()
    memory.finish("A", BROKEN)
    memory.transact(resume)
    assert told(memory) == ["child_done", "pause_child"]


# ---------------------------------------------------------------------- the parent


def family() -> MemoryRun:
    """Two steps wait for runs, one of them in an item of a map; D waits for its time."""
    memory = MemoryRun(draw("S > C + D + E[F] + G", plain="pass_through", kinds={"E": "map"}))
    memory.finish("C", CALL)
    memory.finish("D", Waits("timer", 60.0, {}))
    memory.finish("E", Fans([1], 1, "fail_at_end"))
    memory.finish("E[0].F", CALL)
    return memory


def posts(memory: MemoryRun) -> Told:
    return [(sent.kind, sent.step_run_id) for sent in memory.outbox]


def test_pausing_and_unpausing_tell_each_run_that_a_step_waits_for_in_items_too() -> None:
    memory = family()
    waiting = [memory.by_path(path).id for path in ("C", "E[0].F")]
    memory.transact(pause)
    assert posts(memory)[2:] == [("pause_child", id_) for id_ in waiting]
    memory.transact(unpause)
    assert posts(memory)[2:] == [("pause_child", id_) for id_ in waiting * 2]


def test_a_breakpoint_pauses_the_runs_inside_too() -> None:
    run = RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, breakpoints=Breakpoints(nodes=frozenset({"n_B"})))
    memory = MemoryRun(draw("S > C + A, A > B", plain="pass_through"), run=run)
    memory.finish("C", CALL)
    memory.finish("A", Succeeded(1))
    assert how(memory) == ("paused", None)
    assert told(memory) == ["call_child", "pause_child"]


def test_a_child_that_is_paused_with_its_parent_pauses_its_own() -> None:
    memory = child("S > C")
    memory.finish("C", CALL)
    parent_is(memory, paused=True)
    parent_is(memory, paused=False)
    assert told(memory) == ["call_child", "pause_child", "pause_child"]


def test_a_paused_run_that_is_cancelled_stops_its_children_and_tells_them_nothing_else() -> None:
    memory = family()
    memory.transact(pause)
    memory.transact(cancel)
    assert told(memory)[4:] == ["stop_child", "stop_child"]


def test_a_paused_run_of_which_the_last_child_ends_is_over() -> None:
    memory = MemoryRun(draw("S > C", plain="pass_through"))
    memory.finish("C", CALL)
    memory.transact(pause)
    memory.on("C", lambda tx, row: child_ended(tx, row, ChildEnd(RunStatus.SUCCEEDED, output=Stored(text="1"))))
    assert how(memory) == ("succeeded", None)
    assert told(memory) == ["call_child", "pause_child"]
