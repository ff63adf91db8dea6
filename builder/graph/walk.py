"""A graph, indexed: every question that the engine and the checks ask of it, answered by a look-up.

Build it once for a version (`index(graph)`) and keep it: building is linear in the graph, asking is O(1). A graph
with faults can be indexed too; only *sound* edges count here: both ends exist and are siblings. The first of two
nodes with one id or key wins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from builder.graph.model import Edge, Graph, Node
from builder.graph.order import arrange

Key = TypeVar("Key")
Value = TypeVar("Value")
Scope = str | None  # the id of a container; None is the top of the graph


@dataclass(frozen=True)
class Walk:
    graph: Graph
    by_id: Mapping[str, Node]
    by_key: Mapping[str, Node]
    children: Mapping[Scope, tuple[Node, ...]]  # of a container, in the document's order
    incoming: Mapping[str, tuple[Edge, ...]]  # of every node id
    outgoing: Mapping[str, tuple[Edge, ...]]
    by_port: Mapping[str, Mapping[str, tuple[Edge, ...]]]  # node id -> port -> edges that leave by it
    order: Mapping[
        Scope, tuple[str, ...]
    ]  # ids of a scope, each after its predecessors; what lies on or behind a cycle last
    roots: Mapping[Scope, tuple[str, ...]]  # ids without a predecessor
    sinks: Mapping[Scope, tuple[str, ...]]  # ids without a successor
    cycles: tuple[tuple[str, ...], ...]  # each knot of nodes that lead back to themselves, self-loops included
    _bits: Mapping[str, int] = field(repr=False)  # node id -> its place in a mask
    _upstream: Mapping[str, int] = field(repr=False)  # node id -> mask of its ancestors

    def leaving(self, node_id: str, port: str) -> tuple[Edge, ...]:
        """Edges that leave a node by a port."""
        return self.by_port[node_id].get(port, ())

    def scope_of(self, node_id: str) -> Scope:
        """The container whose body holds the node."""
        return self.by_id[node_id].parent

    def enclosing(self, node_id: str) -> tuple[str, ...]:
        """Ids of the containers around a node, the innermost first."""
        return self._enclosing[node_id]

    def is_upstream(self, ancestor_id: str, node_id: str) -> bool:
        """Whether `ancestor_id` is settled before `node_id` starts, so that its output may be read there."""
        return bool(self._upstream[node_id] >> self._bits[ancestor_id] & 1)

    def ancestors(self, node_id: str) -> frozenset[str]:
        """What expressions of a node may read: all nodes upstream of it in its body, and of each container around
        it."""
        return self._ancestors[node_id]

    def descendants(self, node_id: str) -> frozenset[str]:
        """All nodes that have this one upstream, those in the bodies of later containers too. Not the containers
        around it."""
        return self._descendants[node_id]

    def body(self, node_id: str) -> tuple[str, ...]:
        """Ids of all nodes inside a container, at any depth."""
        return self._bodies.get(node_id, ())

    @cached_property
    def _enclosing(self) -> Mapping[str, tuple[str, ...]]:
        return {node_id: tuple(containers_of(node, self.by_id)) for node_id, node in self.by_id.items()}

    @cached_property
    def _bodies(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for node_id, containers in self._enclosing.items():
            for container in containers:
                found.setdefault(container, []).append(node_id)
        return {container: tuple(ids) for container, ids in found.items()}

    @cached_property
    def _ancestors(self) -> "Unpacked":
        return Unpacked(self._upstream, tuple(self._bits))

    @cached_property
    def _descendants(self) -> "Unpacked":
        """The same relation, read backwards."""
        ids = tuple(self._bits)
        masks = dict.fromkeys(ids, 0)
        for node_id, mask in self._upstream.items():
            for ancestor in unpack(mask, ids):
                masks[ancestor] |= 1 << self._bits[node_id]
        return Unpacked(masks, ids)


class Unpacked(dict[str, frozenset[str]]):
    """Sets made from masks when they are first asked for: 2,000 nodes in a row have two million pairs."""

    def __init__(self, masks: Mapping[str, int], ids: Sequence[str]) -> None:
        super().__init__()
        self.masks = masks
        self.ids = ids

    def __missing__(self, node_id: str) -> frozenset[str]:
        self[node_id] = found = frozenset(unpack(self.masks[node_id], self.ids))
        return found


def unpack(mask: int, ids: Sequence[str]) -> Iterable[str]:
    while mask:
        lowest = mask & -mask
        yield ids[lowest.bit_length() - 1]
        mask ^= lowest


def index(graph: Graph) -> Walk:
    by_id: dict[str, Node] = {}
    by_key: dict[str, Node] = {}
    for node in graph.nodes:
        if node.id not in by_id:
            by_id[node.id] = node
            by_key.setdefault(node.key, node)
    children = grouped((node.parent, node) for node in by_id.values())
    sound = [edge for edge in graph.edges if is_sound(edge, by_id)]
    nothing: dict[str, tuple[Edge, ...]] = dict.fromkeys(by_id, ())
    incoming = nothing | grouped((edge.target, edge) for edge in sound)
    outgoing = nothing | grouped((edge.source, edge) for edge in sound)
    successors = {node_id: [edge.target for edge in edges] for node_id, edges in outgoing.items()}
    groups = {scope: arrange([node.id for node in nodes], successors) for scope, nodes in children.items()}
    bits = {node_id: place for place, node_id in enumerate(by_id)}
    return Walk(
        graph=graph,
        by_id=by_id,
        by_key=by_key,
        children=children,
        incoming=incoming,
        outgoing=outgoing,
        by_port={node_id: grouped((edge.source_port, edge) for edge in edges) for node_id, edges in outgoing.items()},
        order={scope: tuple(node_id for group in found for node_id in group) for scope, found in groups.items()},
        roots={scope: tuple(node.id for node in nodes if not incoming[node.id]) for scope, nodes in children.items()},
        sinks={scope: tuple(node.id for node in nodes if not outgoing[node.id]) for scope, nodes in children.items()},
        cycles=tuple(
            group for found in groups.values() for group in found if len(group) > 1 or group[0] in successors[group[0]]
        ),
        _bits=bits,
        _upstream=upstream_masks(by_id, groups, incoming=incoming, bits=bits),
    )


def upstream_masks(
    by_id: Mapping[str, Node],
    groups: Mapping[Scope, Sequence[tuple[str, ...]]],
    *,
    incoming: Mapping[str, tuple[Edge, ...]],
    bits: Mapping[str, int],
) -> dict[str, int]:
    """Scope by scope from the outside in: a body sees what its container sees, and its own predecessors."""
    masks: dict[str, int] = {}
    outside_in = sorted(groups, key=lambda scope: depth_of(scope, by_id))
    for scope in outside_in:
        seen = 0 if scope is None else masks.get(scope, 0)
        for group in groups[scope]:
            mask = seen
            for node_id in group:
                for edge in incoming[node_id]:
                    mask |= masks.get(edge.source, 0) | 1 << bits[edge.source]
            masks.update(dict.fromkeys(group, mask))
    return masks


def depth_of(scope: Scope, by_id: Mapping[str, Node]) -> int:
    node = by_id.get(scope) if scope is not None else None
    return 0 if node is None else 1 + len(containers_of(node, by_id))


def containers_of(node: Node, by_id: Mapping[str, Node]) -> list[str]:
    """The chain of parents, as far as they exist. A chain that comes back to itself ends there."""
    chain: dict[str, None] = {}
    while node.parent is not None and node.parent in by_id and node.parent not in chain:
        chain[node.parent] = None
        node = by_id[node.parent]
    return list(chain)


def is_sound(edge: Edge, by_id: Mapping[str, Node]) -> bool:
    source, target = by_id.get(edge.source), by_id.get(edge.target)
    return source is not None and target is not None and source.parent == target.parent


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, tuple[Value, ...]]:
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in found.items()}
