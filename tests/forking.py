"""Runs in memory to fork, and what a fork's plan says of their nodes."""

from dataclasses import replace
from typing import Any

from builder.graph.model import Graph
from runs.core.fork import Fork
from runs.core.outcomes import Error, Failed
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))


def begun(drawing: str, **options: Any) -> MemoryRun:
    return MemoryRun(draw(drawing, plain="pass_through", **options))


def done(drawing: str, *, items: Any = None, **options: Any) -> MemoryRun:
    memory = begun(drawing, **options)
    memory.succeed_all(items=items)
    return memory


def starts(memory: MemoryRun) -> list[str | None]:
    return sorted(event.path or "" for event in memory.events if event.type == "step.running")


def ended(memory: MemoryRun, *, items: Any = None) -> MemoryRun:
    memory.succeed_all(items=items)
    assert memory.run.status == "succeeded", memory.statuses()
    return memory


def fates(fork: Fork) -> dict[str, str]:
    return {each.key: each.action for each in fork.plan.nodes}


def reason(fork: Fork, key: str) -> str:
    return next(each.reason for each in fork.plan.nodes if each.key == key)


def changed(graph: Graph, key: str, /, **more: Any) -> Graph:
    nodes = tuple(replace(node, **more) if node.key == key else node for node in graph.nodes)
    return replace(graph, nodes=nodes)
