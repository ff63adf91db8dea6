"""Acts of a person on one step of a run in memory, each after its preview."""

from collections.abc import Callable
from typing import Any

from runs.core.outcomes import Error, Failed, Succeeded
from runs.core.plan import Plan
from runs.core.repair import supply_output
from runs.core.rows import Row, Stored
from runs.core.transition import Transition
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))
Act = Callable[[Transition, Row], Plan]


def begun(drawing: str, **options: Any) -> MemoryRun:
    return MemoryRun(draw(drawing, plain="pass_through", **options))


def supply(port: str | None = None) -> Act:
    return lambda tx, row: supply_output(tx, row, output=Stored(text="7"), port=port)


def do(memory: MemoryRun, path: str, act: Act) -> Plan:
    """The act, after a preview that must say the same and change nothing."""
    before = (memory.statuses(), memory.run, len(memory.events))
    shown = memory.preview(lambda tx: act(tx, memory._in(tx, path)))
    assert (memory.statuses(), memory.run, len(memory.events)) == before
    plan = memory.on(path, act)
    assert plan == shown
    plan.must_be(shown.token)
    return plan


def starts(memory: MemoryRun) -> list[str | None]:
    return [event.path for event in memory.events if event.type == "step.running"]


def failed_at_b() -> MemoryRun:
    memory = begun("S > A > B > C > D")
    memory.finish("A", Succeeded(1))
    memory.finish("B", BROKEN)
    assert memory.run.status == "failed"
    return memory
