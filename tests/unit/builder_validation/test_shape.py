"""What the checks find in nodes, edges and the way through. Each test is a graph, and what is wrong with it."""

from dataclasses import replace
from typing import Any

import pytest

from builder.graph.model import Edge, Graph, Node, Policy
from builder.graph.walk import index
from builder.validation import check, error_problems
from tests.graphs import draw
from tests.unit.builder_validation.library import SPECS, found, only

SOUND = """
    S > A > I, I ?true> B, I ?false> C, B + C > M > E[F > G[H]] > O
    A !> X:set_fields
"""


def test_a_sound_graph_has_no_problems() -> None:
    configs: dict[str, dict[str, Any]] = {
        "C": {"fields": {"a": ["{{ steps.A.output.x }}"]}},
        "H": {"fields": {"a": "{{ item }} {{ index }} {{ steps.F.output }} {{ steps['A'].output }} {{ run.input }}"}},
        "O": {"fields": {"a": "{{ steps.E.output | length }}"}},
    }
    assert check(draw(SOUND, configs=configs, policies={"A": Policy(on_error="port")}), SPECS) == ()


def test_problems_come_in_the_order_of_the_nodes_and_name_severity() -> None:
    graph = draw("S > A > B > C", configs={"B": {"y": 1}, "A": {"x": "{{"}}, kinds={"C": "nope"})
    problems = check(graph, SPECS, walk=index(graph))
    assert [problem.node for problem in problems] == ["n_A", "n_A", "n_B", "n_C"]
    assert problems[-1].as_json() == {
        "code": "unknown_kind",
        "severity": "error",
        "message": problems[-1].message,
        "node": "n_C",
        "field": "kind",
    }


def test_warnings_do_not_keep_from_publishing() -> None:
    problems = check(draw("S > A", policies={"A": Policy(on_error="fallback")}), SPECS)
    assert [problem.severity for problem in problems] == ["warning"]
    assert error_problems(problems) == ()
    assert len(error_problems(check(draw("A"), SPECS))) == 1


# ------------------------------------------------------------------ nodes


@pytest.mark.parametrize("key", ["", "a b", "1a", "a-b", "a.b", "a[0]", "ﬁ", "e\u0301", "k" * 65, "ключ!"])
def test_a_key_must_be_a_word(key: str) -> None:
    problem = only(Graph((Node("n_S", "S", "start"), Node("n_A", key, "set_fields")), (Edge("e", "n_S", "n_A"),)))
    assert (problem.code, problem.node, problem.field) == ("bad_key", "n_A", "key")


@pytest.mark.parametrize("key", ["a", "_", "größe", "ключ", "鍵", "é", "if", "k" * 64, "A1_b"])
def test_a_key_may_be_a_word_of_any_alphabet(key: str) -> None:
    nodes = (
        Node("n_S", "S", "start"),
        Node("n_A", key, "set_fields"),
        Node("n_B", "reader", "set_fields", config={"fields": {"x": f"{{{{ steps.{key}.output }}}}"}}),
    )
    assert check(Graph(nodes, (Edge("e1", "n_S", "n_A"), Edge("e2", "n_A", "n_B"))), SPECS) == ()


def test_two_steps_with_one_key_are_both_named() -> None:
    graph = draw("S > A > B")
    graph = replace(graph, nodes=(*graph.nodes[:2], replace(graph.nodes[2], key="A")))
    assert found(graph) == [("duplicate_key", "A", "key"), ("duplicate_key", "B", "key")]


def test_a_doubled_id_is_named_once() -> None:
    graph = draw("S > A")
    graph = replace(graph, nodes=(*graph.nodes, replace(graph.nodes[1], key="B")))
    assert found(graph) == [("duplicate_id", "A", "id")]


def test_an_unknown_kind_suggests_a_near_one() -> None:
    assert 'Did you mean "python"?' in only(draw("S > A", kinds={"A": "pyton"})).message
    assert "palette" in only(draw("S > A", kinds={"A": "quantum"})).message


def test_a_container_without_steps() -> None:
    assert found(draw("S > E[]")) == [("container_empty", "E", None)]


def test_a_body_belongs_to_a_container() -> None:
    assert found(draw("S > A:set_fields[B]", kinds={"A": "set_fields"})) == [("not_a_container", "B", "parent")]


def test_a_parent_must_exist() -> None:
    graph = draw("S, A")
    graph = replace(graph, nodes=(graph.nodes[0], replace(graph.nodes[1], parent="n_gone")))
    assert found(graph) == [("parent_unknown", "A", "parent")]


def test_containers_cannot_contain_themselves() -> None:
    graph = draw("S, E[F[]]")
    nodes = tuple(replace(node, parent="n_F") if node.key == "E" else node for node in graph.nodes)
    assert found(replace(graph, nodes=nodes)) == [("parent_cycle", "E", "parent"), ("parent_cycle", "F", "parent")]


def test_containers_are_nested_eight_deep_at_most() -> None:
    def nested(depth: int) -> Graph:
        return draw("S > " + "".join(f"E{i}[" for i in range(depth)) + "A" + "]" * depth)

    assert check(nested(8), SPECS) == ()
    assert found(nested(9)) == [("nested_too_deeply", "A", "parent")]


# ------------------------------------------------------------------ edges and the way through


def test_a_cycle_is_told_once_with_its_way() -> None:
    problem = only(draw("S > A > B > C > A, B > A"))
    assert (problem.code, problem.node) == ("cycle", "n_A")
    assert "A > B > A" in problem.message


def test_a_cycle_in_a_body() -> None:
    assert found(draw("S > E[A > B > A]")) == [("cycle", "A", None)]


def test_a_step_that_leads_to_itself() -> None:
    problem = only(draw("S > A > A"))
    assert (problem.code, problem.node, problem.edge) == ("self_loop", "n_A", "e_A_out_A")


def test_a_cycle_beside_the_way_is_unreachable_too() -> None:
    assert found(draw("S > A, B > C > B")) == [
        ("cycle", "B", None),
        ("unreachable", "B", None),
        ("unreachable", "C", None),
    ]


def test_a_step_that_no_way_leads_to() -> None:
    assert found(draw("S > A, B > C")) == [("unreachable", "B", None), ("unreachable", "C", None)]


def test_a_body_starts_by_itself() -> None:
    assert found(draw("S > E[A, B > C]")) == []


@pytest.mark.parametrize("drawing", ["", "A > B", "E[A]"])
def test_a_workflow_needs_a_start(drawing: str) -> None:
    assert found(draw(drawing)) == [("no_start", "-", None)]


def test_a_workflow_has_one_start() -> None:
    assert found(draw("S1 + S2 > A")) == [("several_starts", "S2", None)]


def test_nothing_leads_to_a_start() -> None:
    assert found(draw("A > S, S > B")) == [("unreachable", "A", None), ("start_has_input", "S", None)]


def test_a_start_lies_at_the_top() -> None:
    assert found(draw("S > E[S2 > A]")) == [("start_in_container", "S2", None)]


def test_an_edge_needs_two_ends() -> None:
    graph = draw("S > A")
    for edge in (Edge("e_x", "n_A", "n_gone"), Edge("e_x", "n_gone", "n_A")):
        problem = only(replace(graph, edges=(*graph.edges, edge)))
        assert (problem.code, problem.edge) == ("edge_unknown_node", "e_x")
        assert "n_gone" in problem.message


@pytest.mark.parametrize("crossing", ["S > A", "A > B", "E > A", "A > C"])
def test_an_edge_stays_in_its_body(crossing: str) -> None:
    problems = found(draw(f"S > E[A > Q] > B, E > F[C], {crossing}"))
    assert problems == [("edge_crosses_container", f"{crossing[0]}_out_{crossing[-1]}", None)]


def test_the_same_edge_twice() -> None:
    assert found(draw("S > A, S > A")) == [("duplicate_edge", "S_out_A#2", None)]


def test_two_edges_with_one_id() -> None:
    graph = draw("S > A > B")
    graph = replace(graph, edges=tuple(replace(edge, id="e_x") for edge in graph.edges))
    assert {code for code, _, _ in found(graph)} == {"duplicate_id"}


def test_an_edge_leaves_by_a_port_of_its_kind() -> None:
    problem = only(draw("S > I > A"))
    assert (problem.code, problem.node, problem.edge) == ("edge_unknown_port", "n_I", "e_I_out_A")
    assert "It has: true, false" in problem.message


def test_ports_may_follow_from_the_settings() -> None:
    drawing = "S > W, W ?red> A, W ?else> B, W ?blue> C"
    assert found(draw(drawing, configs={"W": {"cases": ["red", "blue"]}})) == []
    assert found(draw(drawing, configs={"W": {"cases": ["red"]}})) == [("edge_unknown_port", "W", None)]


def test_ports_of_broken_settings_are_not_guessed() -> None:
    assert found(draw("S > W, W ?red> A", configs={"W": {"cases": 5}})) == [("bad_field", "W", "cases")]


def test_the_error_port_exists_by_policy() -> None:
    problem = only(draw("S > A !> B"))
    assert problem.code == "edge_unknown_port"
    assert '"on error"' in problem.message
    assert found(draw("S > A !> B", policies={"A": Policy(on_error="port")})) == []


def test_the_start_cannot_be_disabled() -> None:
    graph = draw("S > A")
    start = replace(graph.nodes[0], disabled=True)
    assert ("start_disabled", "S", None) in found(replace(graph, nodes=(start, *graph.nodes[1:])))
