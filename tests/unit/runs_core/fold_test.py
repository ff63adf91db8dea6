"""A run from its events alone."""

from runs.core.fold import fold
from runs.core.outcomes import Fans, Succeeded
from runs.core.rows import Event
from tests.graphs import draw
from tests.memory import MemoryRun


def finished() -> MemoryRun:
    memory = MemoryRun(draw("S > E[X > Y] > K", plain="pass_through"))
    memory.finish("E", Fans([1, 2], 32, "fail_at_end"))
    memory.finish("E[1].X", Succeeded(1))
    memory.succeed_all()
    return memory


def test_it_tells_the_statuses_after_any_event() -> None:
    memory = finished()
    at = next(event.seq for event in memory.events if event.type == "step.succeeded" and event.path == "E[1].X")
    folded = fold(memory.definition, memory.events[:at])
    assert folded.run == "running"
    assert folded.steps == {
        "S": "succeeded", "E": "waiting", "K": "pending",
        "E[0].X": "ready", "E[0].Y": "pending", "E[1].X": "succeeded", "E[1].Y": "pending",
    }  # fmt: skip


def test_what_tells_of_no_status_changes_none() -> None:
    memory = finished()
    others = [Event(98, "command", None, None, {}), Event(99, "map.progress", "E", 1, {})]
    assert fold(memory.definition, [*memory.events, *others]) == fold(memory.definition, memory.events)
