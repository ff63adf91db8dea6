"""The problems of a graph here and now: against the step library, and the workspace's connections and workflows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from builder.connections.selectors import kinds_in
from builder.expressions import holds_expression
from builder.graph.model import Graph, Node
from builder.graph.passing import Kinds, passed_through
from builder.graph.walk import index
from builder.validation.check import check
from builder.validation.issues import Problem
from builder.validation.lints import lint
from builder.validation.nodes import named
from steps import registry
from teams.models import Workspace


def problems_of(graph: Graph, workspace: Workspace, *, workflow_id: UUID | None = None) -> list[dict[str, Any]]:
    """As the API shows them: {code, severity, message, node?, field?, edge?, fix?}. `workflow_id`: whose graph.

    Of what would run: what is switched off has no problems of its own.
    """
    graph = runnable(graph)
    specs, walk = registry.all_specs(), index(graph)
    found = check(graph, specs, connections=kinds_in(workspace), walk=walk)
    called = call_problems(graph, workspace, workflow_id)
    return [problem.as_json() for problem in (*found, *called, *lint(graph, specs, walk=walk))]


def runnable(graph: Graph) -> Graph:
    """The graph that a run executes: disabled steps pass through. The same object where none is disabled."""
    return passed_through(graph, Kinds(passing="pass_through", first_port=first_port, gives=gives))


def first_port(node: Node) -> str | None:
    """By which a disabled node is left; None where it cannot be disabled, because the graph begins with it."""
    spec = registry.all_specs().get(node.kind)
    if spec is None:
        return "out"
    ports = spec.ports(node.config)
    return None if not spec.has_input else ports[0].name if ports else ""


def gives(node: Node) -> Sequence[str]:
    """The names that a container gives to the expressions inside."""
    spec = registry.all_specs().get(node.kind)
    return spec.gives if spec else ()


def call_problems(graph: Graph, workspace: Workspace, own: UUID | None) -> Iterator[Problem]:
    """Of steps that run other workflows."""
    calls = [(node, field, called) for node in graph.nodes for field, called in called_by(node)]
    if not calls:
        return
    wanted = [called for _, _, called in calls if is_id(called)]
    known = workspace.workflows.filter(id__in=wanted).prefetch_related("versions")
    workflows = {str(workflow.id): workflow for workflow in known}
    for node, field, called in calls:
        workflow = workflows.get(called.lower())
        if own is not None and called.lower() == str(own):
            message = f"{named(node)} runs this very workflow, which would run itself without end. Choose another one."
            yield Problem("calls_itself", message, node=node.id, field=field)
        elif workflow is None:
            message = f"{named(node)} runs a workflow that is not in this workspace. Choose one that is."
            yield Problem("workflow_unknown", message, node=node.id, field=field)
        elif workflow.archived_at is not None or not workflow.versions.all():
            what = "is archived" if workflow.archived_at else "was never published"
            message = f"{named(node)} runs the workflow '{workflow.name}', which {what}: as things stand it fails."
            yield Problem("workflow_not_live", message, node=node.id, field=field)


def called_by(node: Node) -> Iterator[tuple[str, str]]:
    """Settings of the node that name a workflow, and its id as written. What an expression gives shows in the run."""
    spec = registry.all_specs().get(node.kind)
    properties = registry.schema(node.kind).get("properties", {}) if spec else {}
    for field, schema in properties.items():
        value = node.config.get(field)
        names_workflow = schema.get("x-pawl", {}).get("widget") == "workflow"
        if names_workflow and isinstance(value, str) and value and not holds_expression(value):
            yield field, value


def is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def has_errors(problems: Sequence[Mapping[str, Any]]) -> bool:
    return any(problem["severity"] == "error" for problem in problems)
