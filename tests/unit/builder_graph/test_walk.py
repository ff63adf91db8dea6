"""What the index of a graph answers."""

import time
from dataclasses import replace

import pytest

from builder.graph.model import Edge, Graph, Node
from builder.graph.order import way_round
from builder.graph.walk import Walk, index
from tests.graphs import draw


def keys(ids: object) -> str:
    return " ".join(str(node_id)[2:] for node_id in ids)  # type: ignore[attr-defined]


def ancestors(walk: Walk, key: str) -> str:
    return keys(sorted(walk.ancestors(f"n_{key}")))


NESTED = """
    S > A > E[B > F[C > D]] > G
    A > H
"""


def test_nodes_are_found_by_id_and_key() -> None:
    walk = index(draw("S > A"))
    assert walk.by_id["n_A"] is walk.by_key["A"] is walk.graph.nodes[1]


def test_the_order_is_topological_and_prefers_the_document() -> None:
    walk = index(
        draw("""
        Z > M
        S > A > M
        S > B > M
    """)
    )
    assert keys(walk.order[None]) == "Z S A B M"


def test_each_scope_has_an_order_roots_and_sinks() -> None:
    walk = index(draw(NESTED))
    assert {scope: keys(order) for scope, order in walk.order.items()} == {
        None: "S A E G H",
        "n_E": "B F",
        "n_F": "C D",
    }
    assert {scope: keys(roots) for scope, roots in walk.roots.items()} == {None: "S", "n_E": "B", "n_F": "C"}
    assert {scope: keys(sinks) for scope, sinks in walk.sinks.items()} == {None: "G H", "n_E": "F", "n_F": "D"}
    assert [node.key for node in walk.children["n_F"]] == ["C", "D"]


def test_scopes_containers_and_bodies_are_known() -> None:
    walk = index(draw(NESTED))
    assert walk.scope_of("n_D") == "n_F"
    assert walk.scope_of("n_A") is None
    assert walk.enclosing("n_D") == ("n_F", "n_E")
    assert keys(walk.body("n_E")) == "B F C D"
    assert walk.body("n_A") == ()


def test_edges_are_found_by_their_ends_and_port() -> None:
    walk = index(draw("S > I, I ?true> A, I ?true> B, I ?false> B"))
    assert [edge.id for edge in walk.outgoing["n_I"]] == ["e_I_true_A", "e_I_true_B", "e_I_false_B"]
    assert [edge.id for edge in walk.incoming["n_B"]] == ["e_I_true_B", "e_I_false_B"]
    assert [edge.target for edge in walk.leaving("n_I", "true")] == ["n_A", "n_B"]
    assert walk.leaving("n_I", "error") == ()
    assert walk.incoming["n_S"] == walk.outgoing["n_A"] == ()


def test_a_body_may_read_what_lies_upstream_of_its_containers() -> None:
    walk = index(draw(NESTED))
    assert ancestors(walk, "S") == ""
    assert ancestors(walk, "D") == "A B C S"
    assert ancestors(walk, "F") == "A B S"
    assert ancestors(walk, "G") == "A E S"
    assert walk.is_upstream("n_A", "n_D")
    assert not walk.is_upstream("n_E", "n_D")
    assert not walk.is_upstream("n_D", "n_A")


def test_descendants_are_the_readers() -> None:
    walk = index(draw(NESTED))
    assert keys(sorted(walk.descendants("n_A"))) == "B C D E F G H"
    assert keys(sorted(walk.descendants("n_B"))) == "C D F"
    assert walk.descendants("n_G") == frozenset()
    assert walk.descendants("n_G") is walk.descendants("n_G")


def test_cycles_are_named_and_lie_last() -> None:
    walk = index(draw("A > B > C > B, A > D, C > E > E"))
    assert [keys(cycle) for cycle in walk.cycles] == ["B C", "E"]
    assert keys(walk.order[None]) == "A D B C E"
    assert ancestors(walk, "B") == "A B C"
    assert ancestors(walk, "E") == "A B C E"


def test_two_cycles_behind_each_other_are_ordered() -> None:
    walk = index(draw("Y > Z > Y, A > B > A, B > Y, Z > Q"))
    assert keys(walk.order[None]) == "A B Y Z Q"
    assert [keys(cycle) for cycle in walk.cycles] == ["A B", "Y Z"]


def test_a_way_round_a_knot_is_shortest() -> None:
    successors = {"A": ["X", "B"], "B": ["C", "D"], "C": ["A"], "D": ["C", "A"], "X": []}
    assert way_round(["A", "B", "C", "D"], successors) == ["A", "B", "C", "A"]
    assert way_round(["A"], {"A": ["A"]}) == ["A", "A"]


def test_edges_that_cross_a_border_or_lead_nowhere_do_not_count() -> None:
    graph = draw("S > E[A], A > O, S > A")
    graph = replace(graph, edges=(*graph.edges, Edge("e9", "n_S", "n_gone")))
    walk = index(graph)
    assert [edge.id for edge in walk.outgoing["n_S"]] == ["e_S_out_E"]
    assert walk.incoming["n_O"] == ()


def test_a_graph_with_doubled_ids_and_broken_parents_is_still_indexed() -> None:
    walk = index(
        Graph(
            (
                Node("a", "x", "start"),
                Node("a", "y", "start"),
                Node("b", "x", "map", parent="c"),
                Node("c", "z", "map", parent="b"),
                Node("d", "w", "map", parent="gone"),
            )
        )
    )
    assert walk.by_id["a"].key == "x"
    assert walk.by_key["x"].id == "a"
    assert "y" not in walk.by_key
    assert walk.enclosing("b") == ("c", "b")
    assert walk.enclosing("d") == ()
    assert walk.ancestors("b") == frozenset()


@pytest.mark.timeout(20)
def test_two_thousand_nodes_in_a_row_are_indexed_at_once() -> None:
    nodes = tuple(Node(f"n{i}", f"k{i}", "python") for i in range(2000))
    edges = tuple(Edge(f"e{i}", f"n{i}", f"n{i + 1}") for i in range(1999))
    began = time.perf_counter()
    walk = index(Graph(nodes, edges))
    assert walk.is_upstream("n0", "n1999")
    assert len(walk.ancestors("n1999")) == 1999
    assert len(walk.descendants("n0")) == 1999
    knotted = index(Graph(nodes, (*edges, Edge("back", "n1999", "n0"))))
    assert len(knotted.cycles[0]) == 2000
    assert time.perf_counter() - began < 10
