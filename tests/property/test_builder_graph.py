"""Properties of the graph document and its index, on graphs that Hypothesis draws."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from builder.graph.codec import decode, encode
from builder.graph.hashing import node_hashes
from builder.graph.model import Edge, Graph, Node
from builder.graph.walk import index
from tests.graphs import draw, show

texts: SearchStrategy[Any] = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
scalars: SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values: SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
objects: SearchStrategy[Any] = st.dictionaries(texts, json_values, max_size=3)
numbers: SearchStrategy[Any] = st.integers(0, 100) | st.floats(0, 100)
retries: SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "attempts": st.integers(1, 100),
        "first_delay_s": numbers,
        "factor": st.floats(1, 100),
        "max_delay_s": numbers,
        "jitter": st.floats(0, 1),
        "on": st.none() | st.lists(st.sampled_from(["*", "timed_out", "http_503"]), min_size=1, max_size=3),
        "wobble": json_values,
    },
)
policies: SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "retry": retries,
        "limit_s": st.none() | st.integers(1, 1000),
        "on_error": st.sampled_from(["fail", "fallback", "port"]),
        "fallback": json_values,
        "on_upstream_failure": st.sampled_from(["skip", "wait", "default", "fail"]),
        "default": json_values,
        "queue": st.sampled_from(["default", "heavy"]),
        "delivery": st.sampled_from([None, "at_most_once"]),
        "idle_limit_s": st.none() | st.integers(1, 1000),
        "queue_limit_s": st.none() | st.integers(1, 1000),
        "total_limit_s": st.none() | st.integers(1, 1000),
        "skip_if": st.none() | st.just("{{ run.input.dry }}"),
        "sparkle": json_values,
    },
)
names: SearchStrategy[Any] = st.text("abcü_1", min_size=1, max_size=5)
nodes: SearchStrategy[Any] = st.fixed_dictionaries(
    {
        "id": names,
        "key": texts,
        "name": texts,
        "kind": names,
        "config": objects,
        "policy": policies,
        "parent": st.none() | names,
        "position": st.fixed_dictionaries(
            {"x": st.integers(-(2**63), 2**63), "y": st.floats(-1e6, 1e6)}, optional={"z": json_values}
        ),
    },
    optional={"colour": json_values},
)
edges: SearchStrategy[Any] = st.fixed_dictionaries(
    {"id": names, "source": names, "target": names, "source_port": names}, optional={"bend": json_values}
)
documents: SearchStrategy[Any] = st.fixed_dictionaries(
    {"schema": st.just(1), "nodes": st.lists(nodes, max_size=4), "edges": st.lists(edges, max_size=4)},
    optional={"comments": json_values},
)


def exactly(value: Any) -> str:
    """Tells 1, 1.0 and true apart, as == does not; forgets the order of fields."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{exactly(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(exactly, value)) + "]"
    return repr(value)


@given(documents)
def test_a_document_comes_back_exactly(document: dict[str, Any]) -> None:
    assert exactly(encode(decode(document))) == exactly(document)


@given(documents)
def test_reading_what_was_written_gives_the_same_graph(document: dict[str, Any]) -> None:
    graph = decode(document)
    assert decode(encode(graph)) == graph


@given(documents)
def test_any_graph_can_be_indexed(document: dict[str, Any]) -> None:
    walk = index(decode(document))
    assert sum(len(order) for order in walk.order.values()) == len(walk.by_id)


@st.composite
def graphs(draw_: st.DrawFn, *, cyclic: bool = True) -> Graph:
    """Up to ten nodes, some of them in containers (a parent comes before its children), edges among siblings."""
    count = draw_(st.integers(0, 10))
    parents: list[int | None] = []
    for number in range(count):
        before = list(range(number))
        parents.append(draw_(st.none() | st.sampled_from(before)) if before else None)
    siblings = [(a, b) for a in range(count) for b in range(count) if parents[a] == parents[b] and (cyclic or a < b)]
    chosen = draw_(st.lists(st.sampled_from(siblings), max_size=14, unique=True)) if siblings else []
    nodes = tuple(
        Node(f"n_N{i}", f"N{i}", "k", f"N{i}", parent=None if p is None else f"n_N{p}") for i, p in enumerate(parents)
    )
    return Graph(nodes, tuple(Edge(f"e_N{a}_out_N{b}", f"n_N{a}", f"n_N{b}") for a, b in chosen))


def slow_ancestors(graph: Graph, node_id: str) -> set[str]:
    """The definition, word for word: siblings upstream, and what lies upstream of each container."""
    parent = {node.id: node.parent for node in graph.nodes}
    found: set[str] = set()
    fresh = {edge.source for edge in graph.edges if edge.target == node_id}
    while fresh - found:
        found |= fresh
        fresh = {edge.source for edge in graph.edges if edge.target in found}
    container = parent[node_id]
    return found if container is None else found | slow_ancestors(graph, container)


@given(graphs())
def test_ancestors_agree_with_their_definition(graph: Graph) -> None:
    walk = index(graph)
    for node in graph.nodes:
        expected = slow_ancestors(graph, node.id)
        assert walk.ancestors(node.id) == expected
        assert {other.id for other in graph.nodes if walk.is_upstream(other.id, node.id)} == expected
        assert {other.id for other in graph.nodes if node.id in walk.ancestors(other.id)} == walk.descendants(node.id)


@given(graphs(cyclic=False))
def test_the_order_puts_every_node_behind_its_predecessors(graph: Graph) -> None:
    walk = index(graph)
    assert walk.cycles == ()
    for order in walk.order.values():
        place = {node_id: number for number, node_id in enumerate(order)}
        assert all(place[edge.source] < place[edge.target] for edge in graph.edges if edge.source in place)


@given(graphs())
def test_cycles_are_exactly_the_nodes_that_lead_back_to_themselves(graph: Graph) -> None:
    walk = index(graph)
    assert {node_id for cycle in walk.cycles for node_id in cycle} == {
        node.id for node in graph.nodes if node.id in slow_ancestors(graph, node.id)
    }


@given(graphs(cyclic=False), st.data())
def test_a_changed_config_changes_the_hashes_of_those_that_depend_on_it_only(graph: Graph, data: st.DataObject) -> None:
    if not graph.nodes:
        return
    walk = index(graph)
    target = data.draw(st.sampled_from(graph.nodes))
    after = Graph(
        tuple(Node(n.id, n.key, n.kind, config={"x": n is target}, parent=n.parent) for n in graph.nodes), graph.edges
    )
    before = Graph(
        tuple(Node(n.id, n.key, n.kind, config={"x": False}, parent=n.parent) for n in graph.nodes), graph.edges
    )
    one, other = node_hashes(index(before)), node_hashes(index(after))
    containers = set(walk.enclosing(target.id))
    beyond = {reader for container in containers for reader in walk.descendants(container)}
    expected = {target.id} | set(walk.body(target.id)) | walk.descendants(target.id) | containers | beyond
    assert {node_id for node_id in one if one[node_id] != other[node_id]} == expected


@given(graphs())
def test_a_shown_graph_draws_the_same(graph: Graph) -> None:
    again = draw(show(graph))
    assert {(n.id, n.key, n.kind, n.parent) for n in again.nodes} == {
        (n.id, n.key, n.kind, n.parent) for n in graph.nodes
    }
    assert again.edges == graph.edges
