"""Properties of the checks: they judge any graph without breaking, and agree with what the index says."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from builder.expressions import ExpressionError, resolve
from builder.graph.hashing import node_hashes
from builder.graph.model import Edge, Graph, Node, Policy
from builder.graph.walk import index
from builder.validation import CODES, check, error_problems
from steps.base import Delivery, Execution, StepConfig, StepSpec


class Start(StepConfig):
    pass


class Fields(StepConfig):
    fields: dict[str, Any] = {}


def spec(kind: str, config: type[StepConfig] = Fields, **more: Any) -> StepSpec:
    return StepSpec(kind, kind, "Data", "box", "", config, Delivery.PURE, f"steps.{kind}.run:run", **more)


SPECS = {
    "start": spec("start", Start, has_input=False),
    "set": spec("set"),
    "map": spec("map", execution=Execution.CONTAINER),
}
ids: SearchStrategy[str] = st.sampled_from(["a", "b", "c", "d", "é", "1"])
texts: SearchStrategy[str] = st.sampled_from(
    ["x", "{{ steps.a.output }}", "{{ steps[item] }}", "{{ item.x }}", "{{ b", "{{ nobody }}", "{{ steps.d.zz }}"]
)
nodes: SearchStrategy[Node] = st.builds(
    Node,
    id=ids,
    key=ids,
    kind=st.sampled_from(["start", "set", "map", "gone"]),
    config=st.dictionaries(
        st.sampled_from(["fields", "x"]), st.dictionaries(ids, texts, max_size=2) | texts, max_size=2
    ),
    policy=st.builds(Policy, on_error=st.sampled_from(["fail", "port", "fallback"])),
    parent=st.none() | ids,
)
edges: SearchStrategy[Edge] = st.builds(Edge, ids, ids, ids, st.sampled_from(["out", "error", "true"]))
any_graph: SearchStrategy[Graph] = st.builds(
    Graph, st.lists(nodes, max_size=7).map(tuple), st.lists(edges, max_size=8).map(tuple)
)


@given(any_graph)
def test_any_graph_is_judged_in_known_words(graph: Graph) -> None:
    problems = check(graph, SPECS)
    places = {node.id for node in graph.nodes} | {None}
    assert len(set(problems)) == len(problems)
    for problem in problems:
        assert problem.code in CODES
        assert problem.node in places
        assert problem.message.endswith((".", "?"))
    assert check(graph, SPECS) == problems


@given(any_graph)
def test_a_graph_without_errors_has_an_order_and_hashes(graph: Graph) -> None:
    if error_problems(check(graph, SPECS)):
        return
    walk = index(graph)
    assert walk.cycles == ()
    assert set(node_hashes(walk)) == {node.id for node in graph.nodes}
    assert all(node.parent in {None, *walk.by_id} for node in graph.nodes)


@st.composite
def sound_graphs(draw: st.DrawFn) -> Graph:
    """A start, then up to nine steps, each behind an earlier sibling; each reads one other step."""
    count = draw(st.integers(1, 9))
    found = [Node("n_s", "s", "start")]
    arrows = []
    for number in range(count):
        parent = draw(st.sampled_from([None, *(node.id for node in found if node.kind == "map")]))
        read = f"k{draw(st.integers(0, count - 1))}"
        config = {"fields": {"x": f"{{{{ steps.{read}.output }}}}"}}
        kind = draw(st.sampled_from(["set", "set", "map"]))
        node = Node(f"n_{number}", f"k{number}", kind, config=config, parent=parent)
        siblings = [other.id for other in found if other.parent == parent]
        if siblings:
            source = draw(st.sampled_from(siblings))
            arrows.append(Edge(f"e{number}", source, node.id))
        found.append(node)
    return Graph(tuple(found), tuple(arrows))


@given(sound_graphs())
def test_a_reference_is_accepted_exactly_if_it_is_upstream(graph: Graph) -> None:
    walk = index(graph)
    refused = {problem.node for problem in check(graph, SPECS) if problem.code == "reference_not_upstream"}
    others = {problem.code for problem in check(graph, SPECS)} - {"reference_not_upstream", "container_empty"}
    assert others == set()
    for node in graph.nodes[1:]:
        key = node.config["fields"]["x"].split(".")[1]
        assert (node.id in refused) == (walk.by_key[key].id not in walk.ancestors(node.id))


@given(sound_graphs())
def test_accepted_expressions_find_what_they_name_in_the_run(graph: Graph) -> None:
    """With the outputs of a node's ancestors in the scope, and no others."""
    walk = index(graph)
    refused = {problem.node for problem in error_problems(check(graph, SPECS))}
    for node in graph.nodes:
        steps = {walk.by_id[ancestor].key: {"output": ancestor} for ancestor in walk.ancestors(node.id)}
        try:
            resolve(node.config, {"run": {}, "steps": steps})
        except ExpressionError:
            assert node.id in refused
