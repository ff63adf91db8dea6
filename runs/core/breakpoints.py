"""Breakpoints: a run pauses before it starts a step that one of them names.

A breakpoint holds a step each time that the flow reaches it: when it becomes ready out of a status in which it had not
begun. Unpausing goes past every step that is held just then, once: another item of a container, another round, and the
same step after a resume are held anew. What has begun is never held again: a retry, a step that its worker lost or gave
back, a decision of a person.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runs.core.definition import Definition
from runs.core.states import StepStatus

SEGMENT = re.compile(r"(?P<key>[^\[\]#.]+)(\[\d+\])?")  # of a path: a key, and which item or round of it

# A step run that becomes ready out of one of these has begun in this go already.
BEGUN = frozenset({StepStatus.RUNNING, StepStatus.RETRY_WAIT, StepStatus.WAITING, StepStatus.NEEDS_DECISION})


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """Nodes by their ids (each step run of such a node is held), and single step runs by their paths."""

    nodes: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()

    def hold(self, node_id: str, path: str) -> bool:
        return node_id in self.nodes or path in self.paths


NO_BREAKPOINTS = Breakpoints()


def from_json(named: Iterable[Mapping[str, str]]) -> Breakpoints:
    """Of `[{"node": "n3"}, {"path": "each[17].ocr"}]`."""
    points = list(named)
    return Breakpoints(
        nodes=frozenset(point["node"] for point in points if "node" in point),
        paths=frozenset(point["path"] for point in points if "path" in point),
    )


def as_json(breakpoints: Breakpoints) -> list[dict[str, Any]]:
    """In one order, so that equal sets are told and kept as equal texts."""
    return [
        *({"node": node_id} for node_id in sorted(breakpoints.nodes)),
        *({"path": path} for path in sorted(breakpoints.paths)),
    ]


def what_is_wrong(definition: Definition, breakpoints: Breakpoints) -> str | None:
    """Why one of them could never hold anything in a run of this graph; None where each can."""
    for node_id in sorted(breakpoints.nodes):
        if node_id not in definition.nodes:
            return f"This run's version has no node '{node_id}'."
        if not definition.specs[definition.nodes[node_id].kind].has_input:
            return f"The run begins with '{definition.nodes[node_id].key}': nothing can stop before it."
    for path in sorted(breakpoints.paths):
        if not _leads_somewhere(definition, path):
            return f"No step of this run can have the path '{path}'."
    return None


def _leads_somewhere(definition: Definition, path: str) -> bool:
    container: str | None = None
    *around, last = path.split(".")
    for segment in around:
        found = SEGMENT.fullmatch(segment)
        node = definition.by_key.get(found["key"]) if found else None
        if found is None or found[2] is None or node is None or node.parent != container:
            return False
        container = node.id
    node = definition.by_key.get(last)
    return node is not None and node.parent == container and definition.specs[node.kind].has_input
