"""Fixes: what one click does about a problem."""

from dataclasses import replace
from typing import Any

import pytest

from builder.graph.model import Edge, Graph, Node, Policy
from builder.validation import Problem, check
from builder.validation.fixes import free_key
from tests.graphs import draw
from tests.unit.builder_validation.library import SPECS


def fixes(graph: Graph, **more: Any) -> list[Any]:
    """[(title, acts)] of each problem in turn; None where nothing is offered."""
    return [shown(problem) for problem in check(graph, SPECS, **more)]


def shown(problem: Problem) -> Any:
    return problem.fix and (problem.fix.title, problem.fix.as_json()["acts"])


def only_act(graph: Graph, **more: Any) -> dict[str, Any]:
    ((_, (act,)),) = fixes(graph, **more)
    found: dict[str, Any] = act
    return found


def test_a_problem_tells_its_fix_beside_its_place() -> None:
    (problem,) = check(draw("S > A, S > A"), SPECS)
    fix = {"title": "Delete the edge", "acts": [{"act": "delete_edge", "edge": "e_S_out_A#2"}]}
    assert problem.as_json()["fix"] == fix


# ------------------------------------------------------------------ a step that nothing leads to


def placed(drawing: str, **places: tuple[float, float]) -> Graph:
    graph = draw(drawing)
    return replace(graph, nodes=tuple(replace(each, position=places.get(each.key, (0, 0))) for each in graph.nodes))


def connect(source: str, target: str, port: str = "out") -> dict[str, str]:
    return {"act": "connect", "node": f"n_{source}", "port": port, "target": f"n_{target}"}


def test_it_is_connected_after_the_nearest_step_that_leads_nowhere_yet() -> None:
    graph = placed("S > A > B, A > C, Q", A=(200, 0), B=(400, 0), C=(400, 300), Q=(600, 320))
    assert only_act(graph) == connect("C", "Q")


def test_a_free_port_is_taken_first_and_else_the_first_one() -> None:
    graph = placed("S > I, I ?true> A:gone, Q", I=(200, 0), A=(900, 0), Q=(400, 0))
    assert fixes(graph)[-1] == ('Connect it after "I"', [connect("I", "Q", "false")])
    assert only_act(placed("S > A > Z, Q", A=(200, 0), Z=(900, 0), Q=(300, 0))) == connect("Z", "Q")


def test_a_step_after_an_unconnected_one_is_mended_with_it() -> None:
    assert fixes(draw("S > A, B > C")) == [('Connect it after "A"', [connect("A", "B")]), None]


def test_it_never_closes_a_circle_nor_leaves_by_an_error_port() -> None:
    graph = draw("S > A, Q > A", policies={"S": Policy(on_error="port")})
    assert [fix for fix in fixes(graph) if fix and fix[1][0]["act"] == "connect"] == [
        ('Connect it after "S"', [connect("S", "Q")])
    ]


def test_there_may_be_nothing_to_connect_it_to() -> None:
    graph = draw("S, B", kinds={"S": "closed"})
    closed = {"closed": replace(SPECS["start"], kind="closed", ports=lambda config: ())}
    assert [problem.fix for problem in check(graph, {**SPECS, **closed})] == [None]


# ------------------------------------------------------------------ starts


def test_a_start_is_added_before_the_first_step() -> None:
    graph = placed("A > B, C", A=(300, 0), B=(500, 0), C=(100, 0))
    assert fixes(graph) == [("Add a start", [{"act": "add_start", "target": "n_C", "value": "start"}])]
    assert fixes(Graph()) == [None]


def test_a_second_start_and_one_in_a_body_are_deleted() -> None:
    delete = ("Delete the step", [{"act": "delete_step", "node": "n_S2"}])
    assert fixes(draw("S1 + S2 > A")) == [delete]
    assert fixes(draw("S > E[S2 > A]")) == [delete]


# ------------------------------------------------------------------ edges


def test_edges_that_cannot_be_are_deleted() -> None:
    assert only_act(draw("S > A > A")) == {"act": "delete_edge", "edge": "e_A_out_A"}
    assert only_act(draw("S > E[A], S > A")) == {"act": "delete_edge", "edge": "e_S_out_A"}
    graph = draw("S > A")
    lost = replace(graph, edges=(*graph.edges, Edge("e_x", "n_A", "n_gone")))
    assert only_act(lost) == {"act": "delete_edge", "edge": "e_x"}


@pytest.mark.parametrize(
    ("drawing", "act"),
    [
        ("S > A ?ou2> B", {"act": "move_edge", "edge": "e_A_ou2_B", "port": "out"}),  # the only one
        ("S > I ?tru> B", {"act": "move_edge", "edge": "e_I_tru_B", "port": "true"}),
        ("S > I ?other> B", {"act": "delete_edge", "edge": "e_I_other_B"}),
        ("S > A !> B", {"act": "set", "node": "n_A", "field": "policy.on_error", "value": "port"}),
    ],
)
def test_an_edge_from_a_port_that_is_not_there(drawing: str, act: dict[str, str]) -> None:
    assert only_act(draw(drawing)) == act


# ------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("{{ steps.fech.output }}", "{{ steps.fetch.output }}"),
        ("steps.fech {{ steps['fech'] ~ steps . fech }}", "steps.fech {{ steps['fetch'] ~ steps . fetch }}"),
        ("{% if steps.fech.output %}x{% endif %}", "{% if steps.fetch.output %}x{% endif %}"),
        ("{{ fetch.output }}", "{{ steps.fetch.output }}"),
        ("{{ rum.input }}", "{{ run.input }}"),
        ("{{ steps.fetch.body.x }}", "{{ steps.fetch.output.body.x }}"),
        ("{{ steps.fetch.output }} {{ steps.fetch.body }}", "{{ steps.fetch.output }} {{ steps.fetch.output.body }}"),
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_replaced_by_the_nearest(text: str, changed: str) -> None:
    graph = draw("S > fetch > B", configs={"B": {"fields": {"x": text}}})
    assert only_act(graph) == {"act": "rewrite", "node": "n_B", "was": text, "value": changed}


def test_a_step_that_comes_before_is_nearer_than_one_that_does_not() -> None:
    graph = draw("S > fetch_a > B > fetch_b", configs={"B": {"fields": {"x": "{{ steps.fetch_.output }}"}}})
    assert only_act(graph)["value"] == "{{ steps.fetch_a.output }}"
    late = draw("S > B > fetch", configs={"B": {"fields": {"x": "{{ steps.fetc.output }}"}}})
    assert only_act(late)["value"] == "{{ steps.fetch.output }}"


@pytest.mark.parametrize(
    "text",
    ["{{ steps.quantum.output }}", "{{ nobody }}", "{{ later.output }}", "{{ steps['fetch'].body }}"],
)
def test_where_no_name_is_near_nothing_is_offered(text: str) -> None:
    assert fixes(draw("S > fetch > B > later", configs={"B": {"fields": {"x": text}}})) == [None]


def test_a_step_that_does_not_come_before_can_be_connected() -> None:
    graph = draw("S > A, S > B", configs={"B": {"fields": {"x": "{{ steps.A.output }}"}}})
    assert only_act(graph) == connect("A", "B")
    behind = draw("S > B > A", configs={"B": {"fields": {"x": "{{ steps.A.output }}"}}})
    assert fixes(behind) == [None]
    inside = draw("S > E[A] > B", configs={"B": {"fields": {"x": "{{ steps.A.output }}"}}})
    assert fixes(inside) == [None]
    into_start = draw("S, A", configs={"S": {"x": "{{ steps.A.output }}"}})
    assert [fix and fix[0] for fix in fixes(into_start)] == ['Delete "x"', None, 'Connect it after "S"']
    unknown = draw("S > A:gone, S > B", configs={"B": {"fields": {"x": "{{ steps.A.output }}"}}})
    assert fixes(unknown) == [None, None]


def test_keys_and_kinds_are_set_to_what_can_be() -> None:
    graph = draw("S > A > B")
    twice = replace(graph, nodes=(*graph.nodes[:2], replace(graph.nodes[2], key="A")))
    assert fixes(twice)[1] == (
        'Call it "A_2"', [{"act": "set", "node": "n_B", "field": "key", "was": "A", "value": "A_2"}]
    )  # fmt: skip
    bad = Graph((Node("n_S", "S", "start"), Node("n_A", "1 a-b", "set_fields")), (Edge("e", "n_S", "n_A"),))
    assert only_act(bad)["value"] == "_1_a_b"
    kind = {"act": "set", "node": "n_A", "field": "kind", "was": "pyton", "value": "python"}
    assert fixes(draw("S > A", kinds={"A": "pyton"})) == [("Make it Python", [kind])]
    assert fixes(draw("S > A", kinds={"A": "quantum"})) == [None]


def test_free_keys_are_words_that_nobody_has() -> None:
    assert free_key("", frozenset()) == "step"
    assert free_key("a", frozenset({"a", "a_2"})) == "a_3"
    assert free_key("ключ!", frozenset()) == "step"


def test_a_step_in_a_container_that_is_not_there_is_moved_out() -> None:
    graph = draw("S, A")
    graph = replace(graph, nodes=(graph.nodes[0], replace(graph.nodes[1], parent="n_gone")))
    assert only_act(graph) == {"act": "move_out", "node": "n_A"}


# ------------------------------------------------------------------ settings and policies


def test_a_setting_that_the_kind_does_not_know_is_taken_away_at_the_top_only() -> None:
    assert only_act(draw("S > A", configs={"A": {"z": 1}})) == {"act": "unset", "node": "n_A", "field": "z"}
    headers = {"url": "x", "headers": [{"name": "a", "z": 1}]}
    assert fixes(draw("S > A:http_request", configs={"A": headers})) == [None]


@pytest.mark.parametrize(
    ("there", "used"),
    [
        ({"books": "http_basic"}, "books"),  # the only one that fits
        ({"mail_api": "http_basic", "other": "http_bearer"}, "mail_api"),
        ({"a": "http_basic", "b": "http_basic"}, None),
        ({"mail-api": "smtp", "x": "http_basic"}, "x"),
        ({}, None),
    ],
)
def test_the_connection_that_was_meant(there: dict[str, str], used: str | None) -> None:
    graph = draw("S > A:http_request", configs={"A": {"url": "x", "connection": "mail-api"}})
    wanted = [(f'Use "{used}"', [{"act": "set", "node": "n_A", "field": "connection", "value": used}])]
    assert fixes(graph, connections=there) == (wanted if used else [None])


@pytest.mark.parametrize(
    ("policy", "act"),
    [
        (Policy(on_error="port"), {"act": "set", "field": "policy.on_error", "value": "fail"}),
        (Policy(skip_if="yes"), {"act": "unset", "field": "policy.skip_if"}),
        (Policy(join="count"), {"act": "set", "field": "policy.join", "value": "all"}),
        (Policy(join="count", join_count=9), {"act": "set", "field": "policy.join", "value": "all"}),
    ],
)
def test_policies_that_mean_nothing(policy: Policy, act: dict[str, str]) -> None:
    assert only_act(draw("S > A", policies={"A": policy})) == {**act, "node": "n_A"}


def test_reuse_is_switched_off() -> None:
    off = {"act": "unset", "node": "n_A", "field": "policy.reuse"}
    act = only_act(draw("S > A:http_request", configs={"A": {"url": "x"}}, policies={"A": Policy(reuse="run")}))
    assert act == off
    assert only_act(draw("S > A:map[B]", policies={"A": Policy(reuse="run")})) == off
