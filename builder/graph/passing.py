"""The graph that runs, made of the one that was drawn: disabled steps are passed through.

A disabled node keeps its id, key and place, and becomes a step that gives on what came into it: the output of the
first step before it that succeeded, or the item of the container whose body begins with it. It is left by the first
port of what it was; what could only be reached by its other ports, by its error port or inside of its body is left out.

    {"id": "n2", "key": "check", "kind": "pass_through", "config": {"value": "{{ steps.fetch.output }}"}, ...}

Its hash follows from that, so a fork knows that it gives another result than the step that it was.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from builder.graph.model import Edge, Graph, Node, Policy
from builder.graph.walk import Walk, index


@dataclass(frozen=True)
class Kinds:
    """What has to be known of kinds."""

    passing: str  # the kind whose setting `value` is its output
    first_port: Callable[[Node], str | None]  # '' where it has none; None: it cannot be disabled
    gives: Callable[[Node], Sequence[str]]  # of a container: the names that expressions inside it know


def passed_through(graph: Graph, kinds: Kinds) -> Graph:
    """The same graph where nothing in it is disabled. Graphs with faults can be given: they keep them."""
    ports = {node.id: kinds.first_port(node) for node in graph.nodes if node.disabled}
    off = {node_id: port for node_id, port in ports.items() if port is not None}
    if not off:
        return graph
    walk = index(graph)
    inside = {child for node_id in off for child in walk.body(node_id)}
    edges = [leaving(edge, off) for edge in graph.edges if edge.source not in inside and edge.target not in inside]
    kept = [edge for edge in edges if edge is not None]
    gone = inside | cut_off(graph.edges, kept, walk)
    return replace(
        graph,
        nodes=tuple(
            passing(node, walk, kinds) if node.id in off else node for node in graph.nodes if node.id not in gone
        ),
        edges=tuple(edge for edge in kept if edge.source not in gone and edge.target not in gone),
    )


def leaving(edge: Edge, off: dict[str, str]) -> Edge | None:
    """The edge as it leaves in a run; None where it never does."""
    if edge.source not in off:
        return edge
    return replace(edge, source_port="out") if edge.source_port == off[edge.source] else None


def cut_off(drawn: Iterable[Edge], kept: Sequence[Edge], walk: Walk) -> set[str]:
    """Nodes to which something led, and now nothing does; with their bodies, and with what only they led to."""
    led = {edge.target for edge in drawn}
    gone: set[str] = set()
    while True:
        reached = {edge.target for edge in kept if edge.source not in gone}
        fresh = {node_id for node_id in walk.by_id if node_id in led and node_id not in reached} - gone
        if not fresh:
            return gone
        gone |= fresh | {child for node_id in fresh for child in walk.body(node_id)}


def passing(node: Node, walk: Walk, kinds: Kinds) -> Node:
    """What is asked of the steps before it stays; retries, limits and the like have nothing to be applied to."""
    policy = node.policy
    return replace(
        node,
        kind=kinds.passing,
        config={"value": value_of(node, walk, kinds)},
        policy=Policy(
            on_upstream_failure=policy.on_upstream_failure,
            default=policy.default,
            join=policy.join,
            join_count=policy.join_count,
        ),
    )


def value_of(node: Node, walk: Walk, kinds: Kinds) -> str | None:
    """An expression. Null where nothing comes in."""
    keys = list(dict.fromkeys(walk.by_id[edge.source].key for edge in walk.incoming[node.id]))
    if keys:
        return f"{{{{ {first_of(keys)} }}}}"
    container = walk.by_id.get(node.parent) if node.parent is not None else None
    names: Collection[str] = kinds.gives(container) if container else ()
    return next((f"{{{{ {name} }}}}" for name in ("item", "previous") if name in names), None)


def first_of(keys: Sequence[str]) -> str:
    """The output of the first of these steps that succeeded; of the last where none did."""
    *before, last = keys
    chosen = [f"steps.{key}.output if steps.{key}.status == 'succeeded' else " for key in before]
    return "".join(chosen) + f"steps.{last}.output"
