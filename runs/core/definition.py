"""A version's graph, indexed for the engine: built once per version, asked on every finish."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from builder.graph.model import Edge, Graph, Node
from steps.base import Delivery, StepSpec


@dataclass(frozen=True)
class Scope:
    """The nodes that are siblings: the top level (container None), or the body of one container."""

    container: str | None  # node id
    order: tuple[Node, ...]  # topological: a node comes after all its predecessors
    sinks: tuple[Node, ...]  # nothing follows them; their outputs are the item's result
    place: Mapping[str, int] = field(default_factory=dict)  # node id -> where it stands in the order
    has_races: bool = False  # whether a join in it goes on before all that leads there is settled


class Definition:
    """What the engine asks about a graph. Node ids are the keys of every table."""

    def __init__(self, graph: Graph, specs: Mapping[str, StepSpec]) -> None:
        self.graph = graph
        self.specs = specs
        self.nodes: dict[str, Node] = {node.id: node for node in graph.nodes}
        self.by_key: dict[str, Node] = {node.key: node for node in graph.nodes}
        self.incoming: dict[str, tuple[Edge, ...]] = {node.id: () for node in graph.nodes}
        self.outgoing: dict[str, tuple[Edge, ...]] = {node.id: () for node in graph.nodes}
        for edge in graph.edges:
            self.incoming[edge.target] = (*self.incoming[edge.target], edge)
            self.outgoing[edge.source] = (*self.outgoing[edge.source], edge)
        self._only_to: dict[str, tuple[str, ...]] = {}
        containers = {node.parent for node in graph.nodes} | {None}
        self.scopes: dict[str | None, Scope] = {container: self._scope(container) for container in containers}

    def _scope(self, container: str | None) -> Scope:
        members = [node for node in self.graph.nodes if node.parent == container]
        waiting = {node.id: len(self.incoming[node.id]) for node in members}
        order: list[Node] = []
        free = [node for node in members if waiting[node.id] == 0]
        while free:
            node = free.pop(0)
            order.append(node)
            for edge in self.outgoing[node.id]:
                waiting[edge.target] -= 1
                if waiting[edge.target] == 0:
                    free.append(self.nodes[edge.target])
        sinks = tuple(node for node in order if not self.outgoing[node.id])
        place = {node.id: number for number, node in enumerate(order)}
        has_races = any(node.policy.join != "all" for node in order)
        return Scope(container=container, order=tuple(order), sinks=sinks, place=place, has_races=has_races)

    def only_to(self, node_id: str) -> tuple[str, ...]:
        """Ids of the siblings from which every way leads to this node, in order."""
        if node_id not in self._only_to:
            found = {node_id}
            for node in reversed(self.scope_of(self.nodes[node_id].parent).order):
                edges = self.outgoing[node.id]
                if edges and all(edge.target in found for edge in edges):
                    found.add(node.id)
            order = self.scope_of(self.nodes[node_id].parent).order
            self._only_to[node_id] = tuple(node.id for node in order if node.id in found - {node_id})
        return self._only_to[node_id]

    def scope_of(self, container: str | None) -> Scope:
        return self.scopes.get(container) or Scope(container=container, order=(), sinks=())

    def delivery_of(self, node: Node) -> str:
        """What is stored on the step run: at_most_once where the kind or the node says so, else at_least_once."""
        tightened = node.policy.delivery is not None
        if (
            node.kind not in self.specs
        ):  # a newer version's, which only opens here: nobody can say that it may run twice
            return "at_most_once"
        own = self.specs[node.kind].delivery_of(node.config)
        return "at_most_once" if tightened or own is Delivery.AT_MOST_ONCE else "at_least_once"

    def limit_s(self, node: Node) -> float:
        return node.policy.limit_s or self.specs[node.kind].default_limit_s
