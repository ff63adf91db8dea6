"""All checks of a graph against the step library."""

from collections.abc import Iterator, Mapping

from builder.graph.model import Graph
from builder.graph.walk import Walk, index
from builder.validation.expressions import expression_problems
from builder.validation.issues import Problem
from builder.validation.nodes import node_problems
from builder.validation.policies import policy_problems
from builder.validation.settings import settings_problems
from builder.validation.shape import shape_problems
from steps.base import StepSpec

Specs = Mapping[str, StepSpec]


def check(
    graph: Graph, specs: Specs, *, connections: Mapping[str, str] | None = None, walk: Walk | None = None
) -> tuple[Problem, ...]:
    """Every problem of the graph, in the order of its nodes, each once; edges and the graph's own come last.

    `connections` maps the names of the workspace's connections to their kinds; without it they are not checked. `walk`
    is the graph's index, where the caller has it already.
    """
    found = dict.fromkeys(problems(walk or index(graph), specs, connections))
    place = {node.id: number for number, node in enumerate(graph.nodes)}
    return tuple(sorted(found, key=lambda problem: place.get(problem.node or "", len(place))))


def problems(walk: Walk, specs: Specs, connections: Mapping[str, str] | None) -> Iterator[Problem]:
    yield from node_problems(walk, specs)
    yield from shape_problems(walk, specs)
    for node in walk.by_id.values():
        if spec := specs.get(node.kind):
            yield from settings_problems(node, spec, connections)
            yield from expression_problems(node, spec, walk, specs=specs)
        yield from policy_problems(node, walk, specs)


def error_problems(found: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Those that keep a draft from being published."""
    return tuple(problem for problem in found if problem.severity == "error")
