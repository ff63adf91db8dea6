"""Disabled steps: what a run executes instead of what was drawn."""

from dataclasses import replace

import pytest

from builder.graph.model import Graph, Node, Policy
from builder.graph.passing import Kinds, passed_through
from tests.graphs import draw, show

PORTS = {"start": None, "branch": "true", "approval": "approved", "fail": ""}
KINDS = Kinds(
    passing="pass_through",
    first_port=lambda node: PORTS.get(node.kind, "out"),
    gives=lambda node: {"map": ("item", "index"), "loop": ("index", "previous")}.get(node.kind, ()),
)


def off(graph: Graph, *keys: str) -> Graph:
    return replace(graph, nodes=tuple(replace(node, disabled=node.key in keys) for node in graph.nodes))


def runs(drawing: str, *keys: str, **more: dict[str, str]) -> Graph:
    return passed_through(off(draw(drawing, **more), *keys), KINDS)  # type: ignore[arg-type]


def node_of(graph: Graph, key: str) -> Node:
    return next(node for node in graph.nodes if node.key == key)


def value_of(graph: Graph, key: str) -> object:
    return node_of(graph, key).config["value"]


def same_ways(graph: Graph, drawing: str) -> None:
    assert {(edge.source, edge.source_port, edge.target) for edge in graph.edges} == {
        (edge.source, edge.source_port, edge.target) for edge in draw(drawing).edges
    }, show(graph)


def test_a_graph_without_disabled_steps_is_the_same_object() -> None:
    graph = draw("S > A > O")
    assert passed_through(graph, KINDS) is graph


def test_a_disabled_step_gives_on_what_came_into_it_and_keeps_its_id_key_and_place() -> None:
    graph = draw("S > A > B > O", policies={"B": Policy(limit_s=5, skip_if="{{ 1 }}", on_error="port", join="any")})
    changed = passed_through(off(graph, "B"), KINDS)
    node, before = node_of(changed, "B"), node_of(graph, "B")
    assert (node.kind, node.config) == ("pass_through", {"value": "{{ steps.A.output }}"})
    assert (node.id, node.name, node.position, node.disabled) == (before.id, before.name, before.position, True)
    assert node.policy == Policy(join="any")
    assert changed.edges == graph.edges


def test_the_start_stays_whatever_it_says() -> None:
    graph = off(draw("S > A"), "S")
    assert passed_through(graph, KINDS) is graph


def test_of_several_steps_before_it_the_first_that_succeeded_gives_the_value() -> None:
    graph = runs("S > I, I ?true> A, I ?false> B, A + B > C > O", "C")
    assert value_of(graph, "C") == "{{ steps.A.output if steps.A.status == 'succeeded' else steps.B.output }}"


def test_a_branch_is_left_by_its_first_port_and_the_other_way_is_left_out() -> None:
    graph = runs("S > I, I ?true> A, I ?false> B > C, A + C > M > O", "I")
    same_ways(graph, "S > I > A > M > O")
    assert [node.key for node in graph.nodes] == ["S", "I", "A", "M", "O"]


def test_a_way_that_others_lead_to_as_well_stays() -> None:
    graph = runs("S > I, S > B, I ?true> A, I ?false> B > C", "I")
    same_ways(graph, "S > I > A, S > B > C")


def test_the_way_by_the_error_port_is_left_out() -> None:
    same_ways(runs("S > A > B, A !> E", "A"), "S > A > B")


@pytest.mark.parametrize(("kind", "value"), [("map", "{{ item }}"), ("loop", "{{ previous }}"), ("try_block", None)])
def test_the_first_step_of_a_body_gives_on_what_its_container_gives(kind: str, value: str | None) -> None:
    graph = runs("S > E[A > B]", "A", kinds={"E": kind})
    assert value_of(graph, "A") == value


def test_a_disabled_container_leaves_its_body_out() -> None:
    graph = runs("S > E[A > F[B]] > O", "E", "A", kinds={"F": "map"})
    assert [node.key for node in graph.nodes] == ["S", "E", "O"]
    same_ways(graph, "S > E > O")


def test_a_container_on_a_way_that_is_left_out_goes_with_its_body() -> None:
    graph = runs("S > I, I ?true> A, I ?false> E[B > C] > D", "I")
    assert [node.key for node in graph.nodes] == ["S", "I", "A"]


def test_a_step_without_ports_and_without_anything_before_it_gives_null() -> None:
    assert value_of(runs("S > A, X", "X"), "X") is None


def test_what_is_passed_through_once_stays_as_it_is() -> None:
    once = runs("S > I, I ?true> A, I ?false> B, A > E[C] > O", "I", "E")
    assert passed_through(once, KINDS) == once
