"""Edges, and whether there is a way through the graph."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from builder.graph.model import Edge, Node
from builder.graph.order import way_round
from builder.graph.walk import Walk
from builder.validation.fixes import Fix, one
from builder.validation.issues import Problem
from builder.validation.nodes import named
from builder.validation.ways import Specs, nearest_connection, port_names
from steps.base import ERROR_PORT


def shape_problems(walk: Walk, specs: Specs) -> Iterator[Problem]:
    yield from doubled_edges(walk)
    for edge in walk.graph.edges:
        yield from edge_problems(edge, walk, specs)
    yield from cycle_problems(walk)
    yield from start_problems(walk, specs)


def doubled_edges(walk: Walk) -> Iterator[Problem]:
    ids = Counter(edge.id for edge in walk.graph.edges)
    seen: set[tuple[str, str, str]] = set()
    for edge in walk.graph.edges:
        ends = (edge.source, edge.source_port, edge.target)
        if ends in seen:
            message = f"Two edges lead from {told(walk, edge)}. Delete one."
            yield Problem("duplicate_edge", message, edge=edge.id, fix=without(edge))
        elif ids[edge.id] > 1:
            yield Problem(
                "duplicate_id", f'{ids[edge.id]} edges have the id "{edge.id}". Draw one of them again.', edge=edge.id
            )
        seen.add(ends)


def without(edge: Edge, title: str = "Delete the edge") -> Fix:
    return one(title, "delete_edge", edge=edge.id)


def told(walk: Walk, edge: Edge) -> str:
    ends = (walk.by_id.get(edge.source), walk.by_id.get(edge.target))
    source, target = (f'"{node.key}"' if node else "nowhere" for node in ends)
    return f"{source} to {target}"


def edge_problems(edge: Edge, walk: Walk, specs: Specs) -> Iterator[Problem]:
    source, target = walk.by_id.get(edge.source), walk.by_id.get(edge.target)
    if source is None or target is None:
        gone = edge.source if source is None else edge.target
        message = f'An edge from {told(walk, edge)} names a step "{gone}" that does not exist. Delete the edge.'
        yield Problem("edge_unknown_node", message, edge=edge.id, fix=without(edge))
        return
    if source is target:
        message = f"{named(source)} leads to itself. Delete the edge; to repeat steps, put them into a container."
        yield Problem("self_loop", message, node=source.id, edge=edge.id, fix=without(edge))
    elif source.parent != target.parent:
        message = (
            f"The edge from {told(walk, edge)} crosses the border of a container. Connect steps of the same body; the "
            "container itself leads on when all its items are done."
        )
        yield Problem("edge_crosses_container", message, edge=edge.id, fix=without(edge))
    yield from port_problems(edge, source, specs)


def port_problems(edge: Edge, source: Node, specs: Specs) -> Iterator[Problem]:
    names = port_names(source, specs)
    if names is None or edge.source_port in names:
        return
    if edge.source_port == ERROR_PORT:
        hint = 'Set its policy "on error" to "port", or delete the edge.'
        fix = one("Leave by the error port on failure", "set", node=source.id, field="policy.on_error", value="port")
    else:
        hint = f"It has: {', '.join(names)}. Draw the edge from one of them."
        fix = another_port(edge, names)
    message = f'An edge leaves {named(source)} by the port "{edge.source_port}", which it does not have. {hint}'
    yield Problem("edge_unknown_port", message, node=source.id, edge=edge.id, fix=fix)


def another_port(edge: Edge, names: Sequence[str]) -> Fix:
    """The only one that there is, or one of nearly the same name."""
    near = names if len(names) == 1 else get_close_matches(edge.source_port, names, n=1)
    return one(f'Leave by "{near[0]}"', "move_edge", edge=edge.id, port=near[0]) if near else without(edge)


def cycle_problems(walk: Walk) -> Iterator[Problem]:
    for knot in walk.cycles:
        if len(knot) == 1:
            continue  # told as self_loop
        successors = {node_id: [edge.target for edge in walk.outgoing[node_id]] for node_id in knot}
        way = " > ".join(walk.by_id[node_id].key for node_id in way_round(knot, successors))
        message = f"These steps wait for each other for ever: {way}. Delete one of the edges between them."
        yield Problem("cycle", message, node=knot[0])


def start_problems(walk: Walk, specs: Specs) -> Iterator[Problem]:
    starts = [node for node in walk.by_id.values() if is_start(node, specs)]
    for node in starts:
        if node.parent is not None:
            message = (
                f"{named(node)} starts a workflow and cannot lie in a container. Delete it: each item starts by itself."
            )
            yield Problem("start_in_container", message, node=node.id, fix=without_step(node))
        if node.disabled:
            message = f"{named(node)} starts the workflow and cannot be disabled: nothing would run. Enable it."
            yield Problem("start_disabled", message, node=node.id)
        if walk.incoming[node.id]:
            message = f"{named(node)} starts the workflow, and nothing can lead to it. Delete the edges into it."
            yield Problem("start_has_input", message, node=node.id)
    top = [node for node in starts if node.parent is None]
    if not top:
        message = "The workflow has no start. Add a Start step and draw an edge from it to the first step."
        yield Problem("no_start", message, fix=a_start(walk, specs))
        return
    for node in top[1:]:
        message = f"{named(node)} is a second start besides {named(top[0])}. Delete one: a run has one input."
        yield Problem("several_starts", message, node=node.id, fix=without_step(node))
    yield from unreachable(walk, top, specs=specs)


def is_start(node: Node, specs: Specs) -> bool:
    return node.kind in specs and not specs[node.kind].has_input


def without_step(node: Node) -> Fix:
    return one("Delete the step", "delete_step", node=node.id)


def a_start(walk: Walk, specs: Specs) -> Fix | None:
    """Before the step that stands furthest to the left of those that nothing leads to."""
    first = sorted(walk.roots.get(None, ()), key=lambda node_id: walk.by_id[node_id].position)
    kind = next((spec.kind for spec in specs.values() if not spec.has_input), None)
    return one("Add a start", "add_start", value=kind, target=first[0]) if first and kind else None


def unreachable(walk: Walk, starts: Sequence[Node], *, specs: Specs) -> Iterator[Problem]:
    """Only at the top: in a body, every step without a predecessor starts with the item."""
    reached = {start.id for start in starts}
    fresh = list(reached)
    while fresh:
        targets = {edge.target for node_id in fresh for edge in walk.outgoing[node_id]}
        fresh = list(targets - reached)
        reached |= targets
    for node in walk.children[None]:
        if node.id not in reached:
            message = f"No way leads from the start to {named(node)}. Draw an edge to it, or delete it."
            fix = None if walk.incoming[node.id] else nearest_connection(node, walk, specs, among=reached)
            yield Problem("unreachable", message, node=node.id, fix=fix)
