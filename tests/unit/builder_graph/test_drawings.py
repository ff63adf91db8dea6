"""The drawings that other tests stand on."""

import pytest

from tests.graphs import DrawingError, draw, show


def edges(text: str) -> list[tuple[str, str, str]]:
    return [(edge.source[2:], edge.source_port, edge.target[2:]) for edge in draw(text).edges]


def test_a_chain_has_an_edge_between_neighbours() -> None:
    assert edges("S > A > B") == [("S", "out", "A"), ("A", "out", "B")]


def test_ports_are_drawn_into_the_arrow() -> None:
    assert edges("S>I?true>A, I?false>B; A !> X") == [
        ("S", "out", "I"),
        ("I", "true", "A"),
        ("I", "false", "B"),
        ("A", "error", "X"),
    ]


def test_a_group_connects_every_one_with_every_one() -> None:
    assert edges("A + B > C + D") == [("A", "out", "C"), ("A", "out", "D"), ("B", "out", "C"), ("B", "out", "D")]


def test_lines_separate_like_commas() -> None:
    assert edges("""
        S > A
        A > B
    """) == [("S", "out", "A"), ("A", "out", "B")]


def test_a_body_in_brackets_has_its_container_as_parent() -> None:
    graph = draw("S > E[A > F[B]] > O")
    parents = {node.key: node.parent for node in graph.nodes}
    assert parents == {"S": None, "E": None, "A": "n_E", "F": "n_E", "B": "n_F", "O": None}
    assert {node.key: node.kind for node in graph.nodes}["E"] == "map"


def test_a_node_stays_where_it_was_first_named() -> None:
    graph = draw("E[A], A > O")
    assert graph.nodes[1].parent == "n_E"
    assert graph.edges[0].target == "n_O"


def test_kinds_come_from_the_drawing_the_mapping_the_letter_or_the_plain_kind() -> None:
    graph = draw(
        "S > I2 > fetch:http_request > B > K1 > L[Q]", kinds={"B": "sql", "K": "ocr", "L": "loop"}, plain="noop"
    )
    assert [node.kind for node in graph.nodes] == ["start", "branch", "http_request", "sql", "ocr", "loop", "noop"]


def test_configs_go_by_key_then_by_kind() -> None:
    graph = draw("A > B", configs={"A": {"x": 1}, "set_fields": {"x": 2}})
    assert [node.config for node in graph.nodes] == [{"x": 1}, {"x": 2}]


def test_the_same_edge_twice_gets_an_id_of_its_own() -> None:
    assert [edge.id for edge in draw("A > B, A > B").edges] == ["e_A_out_B", "e_A_out_B#2"]


@pytest.mark.parametrize("text", ["A >", "> A", "A > %", "E[A", "A]", "A + > B"])
def test_a_drawing_that_cannot_be_read_says_where(text: str) -> None:
    with pytest.raises(DrawingError):
        draw(text)


@pytest.mark.parametrize("text", ["", "S > A", "S > E[A > B, C[]] > O, A !> C", "S > I ?true> A + B > M"])
def test_a_shown_graph_draws_the_same(text: str) -> None:
    graph = draw(text)
    again = draw(show(graph))
    assert {(n.key, n.kind, n.parent) for n in again.nodes} == {(n.key, n.kind, n.parent) for n in graph.nodes}
    assert [e.id for e in again.edges] == [e.id for e in graph.edges]
