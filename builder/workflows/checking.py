"""The problems of a graph here and now: those of the document itself, and connections that the workspace does not have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from builder.connections.models import Connection
from builder.graph.model import Graph, Node
from steps import registry
from steps.base import StepSpec

Problems = Sequence[Mapping[str, Any]]


def problems_of(graph: Graph, workspace_id: UUID) -> list[dict[str, Any]]:
    """As the API shows them: {code, severity, message, node?, field?, edge?}."""
    specs = registry.all_specs()
    return list(_connection_problems(graph, specs, workspace_id))


def has_errors(problems: Problems) -> bool:
    return any(problem["severity"] == "error" for problem in problems)


def _connection_problems(graph: Graph, specs: Mapping[str, StepSpec], workspace_id: UUID) -> Iterator[dict[str, Any]]:
    """A name that is an expression is only known in a run."""
    naming = [node for node in graph.nodes if node.kind in specs and _names_connection(node, specs[node.kind])]
    kinds = _kinds(workspace_id, (node.config["connection"] for node in naming)) if naming else {}
    for node in naming:
        name, accepted = node.config["connection"], specs[node.kind].connection_kinds
        if name not in kinds:
            yield _problem(node, "connection_missing", f"There is no connection '{name}' in this workspace.")
        elif kinds[name] not in accepted:
            message = f"The connection '{name}' is of kind '{kinds[name]}'; this step needs: {', '.join(accepted)}."
            yield _problem(node, "connection_unfit", message)


def _names_connection(node: Node, spec: StepSpec) -> bool:
    name = node.config.get("connection")
    return bool(spec.connection_kinds) and isinstance(name, str) and bool(name) and "{{" not in name


def _kinds(workspace_id: UUID, names: Iterable[str]) -> dict[str, str]:
    rows = Connection.objects.filter(workspace_id=workspace_id, name__in=set(names))
    return dict(rows.values_list("name", "kind"))


def _problem(node: Node, code: str, message: str) -> dict[str, Any]:
    return {"code": code, "severity": "error", "message": message, "node": node.id, "field": "connection"}
