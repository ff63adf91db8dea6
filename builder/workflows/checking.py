"""The problems of a graph here and now: against the step library, and the connections that the workspace has."""

from collections.abc import Mapping, Sequence
from typing import Any

from builder.connections.selectors import kinds_in
from builder.graph.model import Graph
from builder.validation.check import check
from steps import registry
from teams.models import Workspace


def problems_of(graph: Graph, workspace: Workspace) -> list[dict[str, str]]:
    """As the API shows them: {code, severity, message, node?, field?, edge?}."""
    found = check(graph, registry.all_specs(), connections=kinds_in(workspace))
    return [problem.as_json() for problem in found]


def has_errors(problems: Sequence[Mapping[str, Any]]) -> bool:
    return any(problem["severity"] == "error" for problem in problems)
