"""What comes after a step on each of its ports, by the graph of the run's version: for whoever decides which way it
goes. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from runs.selectors.values import decoded

PORTS_OF = {"approval": ("approved", "rejected")}  # the others leave by `out`
SHOWN = 20  # steps of one port


def following(graph: Mapping[str, Any], node_id: str, kind: str) -> dict[str, Any]:
    """`{"ports": [{port, steps: [{key, name, kind}], more}], "inside": name|null}`.

    `inside` names the container whose item goes on, or ends, with the answer. A node that left the graph's document has
    no ports at all.
    """
    nodes = {node["id"]: node for node in graph.get("nodes", ())}
    node = nodes.get(node_id)
    if node is None:
        return {"ports": [], "inside": None}
    edges = [edge for edge in graph.get("edges", ()) if edge["source"] == node_id]
    ports = [_port(port, edges, nodes) for port in PORTS_OF.get(kind, ("out",))]
    parent = nodes.get(node.get("parent") or "")
    return {"ports": ports, "inside": _name(parent) if parent else None}


def _port(port: str, edges: Sequence[Mapping[str, Any]], nodes: Mapping[str, Any]) -> dict[str, Any]:
    targets = [edge["target"] for edge in edges if edge.get("source_port", "out") == port]
    found = [nodes[target] for target in dict.fromkeys(targets) if target in nodes]
    steps = [{"key": node["key"], "name": _name(node), "kind": node["kind"]} for node in found[:SHOWN]]
    return {"port": port, "steps": steps, "more": max(0, len(found) - SHOWN)}


def _name(node: Mapping[str, Any]) -> str:
    return str(node.get("name") or node["key"])


class Graphs:
    """The graphs of a page's versions, each read once."""

    def __init__(self) -> None:
        self._read: dict[Any, Mapping[str, Any]] = {}

    def of(self, version: Any) -> Mapping[str, Any]:
        if version.id not in self._read:
            self._read[version.id] = decoded(version.graph) or {}
        return self._read[version.id]
