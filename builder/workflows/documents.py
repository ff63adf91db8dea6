"""Graph documents on their way in and out: JSON as it came, a Graph, and the text that a row keeps."""

import json
from typing import Any, cast

from builder.graph.codec import decode, encode
from builder.graph.errors import FieldFault, GraphError
from builder.graph.model import Graph


def read_graph(document: Any) -> Graph:
    """Raises GraphError; its fields are paths in the request: `graph.nodes[2].key`."""
    try:
        return decode(document)
    except GraphError as error:
        raise GraphError(
            [FieldFault(_in_request(fault.field), fault.message, fault.node) for fault in error.faults]
        ) from None


def read_draft(document: Any) -> Graph:
    """A graph that may be kept: each edge has both its ends. Raises GraphError.

    An edge that no canvas shows could neither be mended nor deleted there.
    """
    graph = read_graph(document)
    known = {node.id for node in graph.nodes}
    faults = [
        FieldFault(f"graph.edges[{index}].{end}", f"names the node '{node_id}', which is not in the graph")
        for index, edge in enumerate(graph.edges)
        for end, node_id in (("source", edge.source), ("target", edge.target))
        if node_id not in known
    ]
    if faults:
        raise GraphError(faults)
    return graph


def _in_request(field: str) -> str:
    return field if field == "graph" else f"graph.{field}"


def text_of(graph: Graph) -> str:
    """In ASCII with escapes, so that any JSON value comes back equal from any column or wire."""
    return json.dumps(encode(graph), allow_nan=False, separators=(",", ":"))


def document_of(text: str) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(text))


def graph_of(text: str) -> Graph:
    return decode(document_of(text))
