"""What a run must come to, by naive recursion over the graph: the rules once more, in other words than runs/core.

Each rule of the product (joins, failures, maps) is told here as a definition of how a step ends, given how those before
it ended; nothing here knows of orders, rows, events or counters. Property tests compare the engine with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from builder.graph.model import Graph, Node

CONTAINERS = ("map", "loop", "try_block")


@dataclass(frozen=True)
class Ending:
    """How a step run ended, or that it did not. `port` is the way out that lives."""

    status: str
    port: str | None = None
    is_broken: bool = False  # what needs it cannot have it: it failed, or was kept from running by a failure
    is_open: bool = False  # it goes no further without a person, and so nothing after it does
    has_run: bool = False

    @property
    def is_failure(self) -> bool:
        return self.status == "failed" and self.port is None


@dataclass(frozen=True)
class Result:
    """What a body does in the end: leave by a port (None: fail for good), or give a container its items."""

    port: str | None = "out"
    items: int | None = None  # of a loop: after how many rounds its condition is met
    window: int = 32
    on_item_failure: str = "fail_at_end"


class Reference:
    """`results` answers what the body at a path does; `kept` are final endings of an earlier part of the run."""

    def __init__(
        self, graph: Graph, results: Callable[[str], Result], kept: Mapping[str, Ending] | None = None
    ) -> None:
        self.graph, self.results, self.kept = graph, results, kept or {}
        self.endings: dict[str, Ending] = {}
        self.opened: set[str] = set()

    @classmethod
    def after(cls, earlier: "Reference", results: Callable[[str], Result]) -> "Reference":
        """The end of a run that came to rest as `earlier` says, was resumed, and came to rest again."""
        done = [path for path in earlier.statuses if earlier.is_kept(path)]
        inside = [path for path in earlier.statuses if any(path.startswith(f"{each}[") for each in done)]
        reference = cls(earlier.graph, results, {path: earlier.endings[path] for path in (*done, *inside)})
        reference.opened = {path[: path.rindex("[")] for path in earlier.statuses if "[" in path}
        return reference

    def is_kept(self, path: str) -> bool:
        """Successes, failures that were handled, and what was skipped where the flow has gone on without it."""
        ending = self.endings[path]
        if ending.is_broken and ending.status == "skipped":
            needed = [after for after in self.followers(path) if self.node_at(after).policy.join == "all"]
            return any(self.has_begun(after) for after in needed)
        return not (ending.is_broken or ending.is_open)

    def is_made_up_for(self, path: str) -> bool:
        """Every way from there leads to a join that went on without it."""
        followers = self.followers(path)
        return bool(followers) and all(self.goes_on(after) or self.is_made_up_for(after) for after in followers)

    def goes_on(self, path: str) -> bool:
        return self.node_at(path).policy.join != "all" and self.endings[path].has_run

    def counts_as_failed(self, path: str) -> bool:
        return self.endings[path].is_failure and not self.is_made_up_for(path)

    def node_at(self, path: str) -> Node:
        return next(node for node in self.graph.nodes if node.key == path.rpartition(".")[2])

    def has_begun(self, path: str) -> bool:
        ending = self.endings[path]
        return ending.port is not None or any(inner.startswith(f"{path}[") for inner in self.endings)

    def followers(self, path: str) -> list[str]:
        prefix, _, key = path.rpartition(".")
        ids = [edge.target for edge in self.graph.edges if self.node(edge.source).key == key]
        return [f"{prefix}.{self.node(id_).key}".lstrip(".") for id_ in ids]

    @cached_property
    def statuses(self) -> dict[str, str]:
        self.settle(None, "")
        return {path: ending.status for path, ending in self.endings.items()}

    @cached_property
    def run_status(self) -> str:
        assert self.statuses
        if any(ending.is_open for ending in self.endings.values()):
            return "running"
        return "failed" if any(self.counts_as_failed(node.key) for node in self.body(None)) else "succeeded"

    def body(self, container: str | None) -> list[Node]:
        return [node for node in self.graph.nodes if node.parent == container]

    def settle(self, container: str | None, prefix: str) -> list[Ending]:
        return [self.ending(node, prefix) for node in self.body(container)]

    def ending(self, node: Node, prefix: str) -> Ending:
        path = prefix + node.key
        if path not in self.endings:
            self.endings[path] = self.kept.get(path) or self.follow(node, prefix)
        if path in self.kept and node.kind in CONTAINERS:
            self.keep_below(path)
        return self.endings[path]

    def keep_below(self, path: str) -> None:
        self.endings |= {inner: ending for inner, ending in self.kept.items() if inner.startswith(f"{path}[")}

    def follow(self, node: Node, prefix: str) -> Ending:
        """The join rule and the failure rule. A container that has opened items goes on with them whatever changes."""
        if prefix + node.key in self.opened:
            return self.execute(node, prefix + node.key)
        edges = [edge for edge in self.graph.edges if edge.target == node.id]
        sources = [(edge, self.ending(self.node(edge.source), prefix)) for edge in edges]
        is_open = any(ending.is_open for _, ending in sources)
        live = sum(ending.port == edge.source_port for edge, ending in sources)
        if node.policy.join != "all" and sources:
            needed = (node.policy.join_count or 1) if node.policy.join == "count" else 1
            if live >= needed:
                return self.execute(node, prefix + node.key)
        if is_open:
            return Ending("pending", is_open=True)
        if any(ending.is_broken for _, ending in sources):
            policy = node.policy.on_upstream_failure
            if policy == "skip":
                return Ending("skipped", is_broken=True)
            if policy == "wait":
                return Ending("blocked", is_open=True)
            if policy == "fail":
                return self.failure(node)
        elif sources and (not live or node.policy.join != "all"):
            return Ending("skipped")
        return self.execute(node, prefix + node.key)

    def execute(self, node: Node, path: str) -> Ending:
        if node.kind == "start":
            return Ending("succeeded", "out")
        result = self.results(path)
        if result.port is None:
            return self.failure(node, has_run=True)
        if result.items is None:
            return Ending("succeeded", result.port, has_run=True)
        work = {"map": self.work_through, "loop": self.go_round, "try_block": self.try_once}[node.kind]
        return replace(work(node, path, result), has_run=True)

    def go_round(self, node: Node, path: str, result: Result) -> Ending:
        for index in range(result.items or 0):
            if (ending := self.one_item(node, f"{path}[{index}].")) is not None:
                return self.failure(node) if ending.is_failure else ending
        return Ending("succeeded", "out")

    def try_once(self, node: Node, path: str, result: Result) -> Ending:
        ending = self.one_item(node, f"{path}[0].")
        if ending is None:
            return Ending("succeeded", "out")
        return Ending("succeeded", "failed") if ending.is_failure else ending

    def one_item(self, node: Node, inside: str) -> Ending | None:
        """None where it is well done; else that it waits for a person, or failed."""
        if any(ending.is_open for ending in self.settle(node.id, inside)):
            return Ending("waiting", is_open=True)
        is_failed = any(self.counts_as_failed(inside + each.key) for each in self.body(node.id))
        return Ending("failed") if is_failed else None

    def work_through(self, node: Node, path: str, result: Result) -> Ending:
        """Items open in order while fewer than the window stand open; those that wait for a person hold their place."""
        failed = stuck = 0
        for index in range(result.items or 0):
            if stuck == result.window:
                break
            inside = f"{path}[{index}]."
            is_stuck = any(ending.is_open for ending in self.settle(node.id, inside))
            stuck += is_stuck
            failed += not is_stuck and any(self.counts_as_failed(inside + each.key) for each in self.body(node.id))
        if failed and result.on_item_failure == "fail_fast":
            return self.failure(node)
        if stuck:
            return Ending("waiting", is_open=True)
        return self.failure(node) if failed and result.on_item_failure != "continue" else Ending("succeeded", "out")

    def failure(self, node: Node, *, has_run: bool = False) -> Ending:
        match node.policy.on_error:
            case "fallback":
                return Ending("failed", "out", has_run=has_run)
            case "port":
                return Ending("failed", "error", has_run=has_run)
            case _:
                return Ending("failed", is_broken=True, has_run=has_run)

    def node(self, node_id: str) -> Node:
        return next(node for node in self.graph.nodes if node.id == node_id)
