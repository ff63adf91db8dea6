"""Maps: the window, items that end at once, and containers in containers."""

from builder.graph.model import Graph
from runs.core.outcomes import Error, Failed, Fans
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
