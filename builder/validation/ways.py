"""Ports, and where a step could be connected that nothing leads to."""

from collections.abc import Collection, Iterator, Mapping
from math import hypot

from pydantic import ValidationError

from builder.graph.model import Node
from builder.graph.walk import Walk
from builder.validation.fixes import Fix, one
from steps.base import ERROR_PORT, StepSpec

Specs = Mapping[str, StepSpec]
PORTS_UNKNOWN = (TypeError, ValueError, LookupError, AttributeError, ValidationError)  # of settings that are wrong


def port_names(node: Node, specs: Specs) -> list[str] | None:
    """None where they cannot be known: an unknown kind, or settings too wrong to tell."""
    spec = specs.get(node.kind)
    if spec is None:
        return None
    try:
        names = [port.name for port in spec.ports(node.config)]
    except PORTS_UNKNOWN:
        return None
    return [*names, ERROR_PORT] if node.policy.on_error == "port" else names


def has_input(node: Node, specs: Specs) -> bool:
    return node.kind not in specs or specs[node.kind].has_input


def connection_from(source: Node, node: Node, walk: Walk, *, specs: Specs) -> Fix | None:
    """An edge from there to here, where one may be drawn: by a port that nothing leaves by yet, else by the first."""
    if source.parent != node.parent or source is node or walk.is_upstream(node.id, source.id):
        return None
    ports = list(ways_out(source, specs))
    if not ports or not has_input(node, specs):
        return None
    free = [port for port in ports if not walk.leaving(source.id, port)]
    title = f'Connect it after "{source.name or source.key}"'
    return one(title, "connect", node=source.id, port=[*free, *ports][0], target=node.id)


def ways_out(node: Node, specs: Specs) -> Iterator[str]:
    for port in port_names(node, specs) or ():
        if port != ERROR_PORT:
            yield port


def nearest_connection(node: Node, walk: Walk, specs: Specs, *, among: Collection[str]) -> Fix | None:
    """From the step that stands nearest on its left, one that leads nowhere yet before one that does."""
    sources = [each for each in walk.children[node.parent] if each.id in among]
    for source in sorted(sources, key=lambda each: remoteness(each, node, walk)):
        if fix := connection_from(source, node, walk, specs=specs):
            return fix
    return None


def remoteness(source: Node, node: Node, walk: Walk) -> tuple[bool, bool, float]:
    over, down = node.position[0] - source.position[0], node.position[1] - source.position[1]
    return (bool(walk.outgoing[source.id]), over < 0, hypot(over, down))
