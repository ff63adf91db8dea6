"""What the checks find in drawn graphs. Each test is a graph, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import Field, model_validator

from builder.graph.codec import decode
from builder.graph.model import Edge, Graph, Node, Policy
from builder.graph.walk import index
from builder.validation import CODES, Problem, check, error_problems
from steps.base import OUT, Delivery, Execution, Port, StepConfig, StepSpec, literal
from tests.graphs import draw


class Nothing(StepConfig):
    pass


class Fields(StepConfig):
    fields: dict[str, Any] = {}


class Header(StepConfig):
    name: str
    value: str | int = ""


class Request(StepConfig):
    url: str = Field(min_length=1)
    method: Literal["GET", "POST"] = "GET"
    limit: int = Field(default=1, ge=0)
    headers: list[Header] = []
    body: dict[str, int] = {}
    connection: str | None = None


class Code(StepConfig):
    code: str = Field(json_schema_extra=literal())
    limit: int | None = None


class Condition(StepConfig):
    condition: Any = True


class Cases(StepConfig):
    cases: list[str] = []


class Window(StepConfig):
    first: Any = 0
    last: Any = 0

    @model_validator(mode="before")
    @classmethod
    def starts_before_it_ends(cls, data: dict[str, Any]) -> dict[str, Any]:
        if str(data["first"]) > str(data["last"]):
            raise ValueError("first comes after last")
        return data


def case_ports(config: Mapping[str, Any]) -> Sequence[Port]:
    return [*(Port(case) for case in config["cases"]), Port("else")]


def spec(kind: str, config: type[StepConfig] = Fields, **more: Any) -> StepSpec:
    settings: dict[str, Any] = {"delivery": Delivery.PURE, "body": f"steps.{kind}.run:run", **more}
    return StepSpec(kind, kind.title(), "Data", "box", "", config, **settings)


SPECS = {
    each.kind: each
    for each in (
        spec("start", Nothing, has_input=False),
        spec("set_fields"),
        spec("http_request", Request, delivery=Delivery.KEYED, connection_kinds=("http_basic", "http_bearer")),
        spec("python", Code),
        spec("branch", Condition, ports=lambda config: (Port("true"), Port("false"))),
        spec("switch", Cases, ports=case_ports),
        spec("merge", Nothing),
        spec("window", Window),
        spec("output", Fields),
        spec("map", Fields, execution=Execution.CONTAINER, ports=lambda config: OUT),
    )
}


def found(graph: Graph, **more: Any) -> list[tuple[str, str | None, str | None]]:
    """(code, node's or edge's name, field) of each problem."""
    return [(p.code, (p.node or p.edge or "__-")[2:], p.field) for p in check(graph, SPECS, **more)]


def only(graph: Graph, **more: Any) -> Problem:
    problems = check(graph, SPECS, **more)
    assert len(problems) == 1, problems
    return problems[0]


def says(text: str, drawing: str = "S > A > B", at: str = "B") -> list[tuple[str, str | None, str | None]]:
    """What is found where the step `at` has `text` in its field `x`."""
    return found(draw(drawing, configs={at: {"fields": {"x": text}}}))


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


# ------------------------------------------------------------------ settings


def request(**config: Any) -> Graph:
    return draw("S > A:http_request", configs={"A": {"url": "https://a", **config}})


def test_a_required_setting_is_missing() -> None:
    problem = only(draw("S > A:http_request"))
    assert (problem.code, problem.field) == ("required_field_missing", "url")
    assert problem.message == 'Step "A" needs "url". Fill it in.'
    assert only(request(headers=[{"name": "a"}, {"value": "x"}])).field == "headers[1].name"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"limit": -1}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"method": "DANCE"}, "method"),
        ({"headers": "x"}, "headers"),
        ({"headers": [{"name": []}]}, "headers[0].name"),
        ({"body": {"a b": "c"}}, "body.a b"),
        ({"url": ""}, "url"),
    ],
)
def test_a_setting_that_its_kind_does_not_take(config: dict[str, Any], field: str) -> None:
    problem = only(request(**config))
    assert (problem.code, problem.field) == ("bad_field", field)


def test_each_member_of_a_union_may_complain() -> None:
    assert found(request(headers=[{"name": "a", "value": []}])) == [("bad_field", "A", "headers[0].value")] * 2


def test_an_unknown_setting() -> None:
    assert found(request(colour=1, headers=[{"name": "a", "size": 1}])) == [
        ("unknown_field", "A", "headers[0].size"),
        ("unknown_field", "A", "colour"),
    ]


@pytest.mark.parametrize(
    "config",
    [
        {"limit": "{{ run.input.n }}"},
        {"method": "{{ run.input.m }}"},
        {"headers": "{{ run.input.h }}"},
        {"headers": [{"name": "a", "value": "{{ run.input.h }}"}, "{{ run.input.g }}"]},
        {"body": {"a": "{{ run.input.b }}"}},
    ],
)
def test_a_value_with_an_expression_is_judged_in_the_run(config: dict[str, Any]) -> None:
    assert found(request(**config)) == []


def test_settings_that_contradict_each_other_are_judged_where_all_are_known() -> None:
    problem = only(draw("S > A:window", configs={"A": {"first": 2, "last": 1}}))
    assert (problem.code, problem.field) == ("bad_field", None)
    assert "first comes after last" in problem.message
    assert found(draw("S > A:window", configs={"A": {"first": "{{ run.input.first }}", "last": 1}})) == []


def test_a_literal_setting_holds_no_expressions() -> None:
    assert found(draw("S > A:python", configs={"A": {"code": "x = {{ nothing }}"}})) == []
    assert found(draw("S > A:python", configs={"A": {"code": ["{{ x }}"]}})) == [("bad_field", "A", "code")]
    assert found(draw("S > A:python", configs={"A": {"code": "", "limit": "{{ nothing }}"}})) == [
        ("unknown_name", "A", "limit")
    ]


def test_connections_are_checked_where_they_are_known() -> None:
    known = {"shop": "http_basic", "db": "postgresql"}
    assert found(request(connection="shop"), connections=known) == []
    assert found(request(connection=None), connections=known) == []
    assert found(request(connection="{{ run.input.c }}"), connections=known) == []
    assert found(request(connection="gone")) == []
    assert found(request(connection="gone"), connections=known) == [("connection_unknown", "A", "connection")]
    assert found(request(connection="db"), connections=known) == [("connection_kind", "A", "connection")]
    assert found(draw("S > A", configs={"A": {"fields": {"connection": "gone"}}}), connections=known) == []


# ------------------------------------------------------------------ expressions


def test_a_bad_expression_names_its_field() -> None:
    problem = only(draw("S > B", configs={"B": {"fields": {"list": ["ok", {"x": "{{ 1 + }}"}]}}}))
    assert (problem.code, problem.node, problem.field) == ("bad_expression", "n_B", "fields.list[1].x")


def test_a_name_that_does_not_exist() -> None:
    problem = only(draw("S > A", configs={"A": {"fields": {"x": "{{ input.x }}"}}}))
    assert problem.code == "unknown_name"
    assert "Known are: run, steps." in problem.message
    inside = only(draw("S > E[A]", configs={"A": {"fields": {"x": "{{ input.x }}"}}}))
    assert "Known are: index, item, run, steps." in inside.message


@pytest.mark.parametrize("name", ["item", "index"])
def test_item_is_known_in_containers_only(name: str) -> None:
    assert says(f"{{{{ {name} }}}}") == [("item_outside_container", "B", "fields.x")]
    assert says(f"{{{{ {name} }}}}", "S > E[B]") == []
    assert says(f"{{% for {name} in run.input.lines %}}{{{{ {name} }}}}{{% endfor %}}") == []


def test_a_step_that_does_not_exist() -> None:
    graph = draw("S > fetch > B", configs={"B": {"fields": {"x": "{{ steps.fetsh.output }}"}}})
    problem = only(graph)
    assert (problem.code, problem.field) == ("reference_unknown", "fields.x")
    assert 'Did you mean "fetch"?' in problem.message
    assert says("{{ steps.zzzzzz.output }}") == [("reference_unknown", "B", "fields.x")]


@pytest.mark.parametrize(
    ("drawing", "key", "hint"),
    [
        ("S > B > A", "A", "does not come before"),
        ("S > A, S > B", "A", "does not come before"),
        ("S > B", "B", "its own output"),
        ("S > E[A] > B", "A", 'lies inside "E"'),
        ("S > E[F[A]] > B", "A", 'lies inside "E"'),
        ("S > E[F[A] > B]", "A", 'lies inside "F"'),
        ("S > E[B]", "E", "Read item instead"),
        ("S > E[F[B]]", "E", "Read item instead"),
        ("S > E[B] > A", "A", "does not come before"),
    ],
)
def test_a_step_that_is_not_upstream(drawing: str, key: str, hint: str) -> None:
    problem = only(draw(drawing, configs={"B": {"fields": {"x": f"{{{{ steps.{key}.output }}}}"}}}))
    assert (problem.code, problem.node) == ("reference_not_upstream", "n_B")
    assert hint in problem.message


def test_which_step_is_read_must_show_in_the_text() -> None:
    assert says("{{ steps[run.input.key].output }}") == [("reference_dynamic", "B", "fields.x")]
    assert says("{{ steps }}") == [("reference_dynamic", "B", "fields.x")]
    assert says("{{ steps[0] }}") == [("reference_dynamic", "B", "fields.x")]
    assert says("{{ steps.A.output[run.input.key] }}") == []


def test_a_step_has_an_output_and_nothing_else() -> None:
    assert says("{{ steps.A.total }}") == [("reference_not_output", "B", "fields.x")]
    assert says("{{ steps.A.status }} {{ steps.A }}") == []


# ------------------------------------------------------------------ policies


def with_policy(policy: Policy, kind: str = "set_fields") -> list[tuple[str, str | None, str | None]]:
    return found(draw(f"S > A:{kind} > B", policies={"A": policy}))


def test_policies_that_miss_something_are_warned_of() -> None:
    assert with_policy(Policy(on_error="port")) == [("error_port_unused", "A", "policy.on_error")]
    assert with_policy(Policy(on_error="fallback")) == [("fallback_missing", "A", "policy.fallback")]
    assert with_policy(Policy(on_upstream_failure="default")) == [("default_missing", "A", "policy.default")]
    assert with_policy(Policy(on_error="fallback", fallback=0, on_upstream_failure="default", default="")) == []


def test_a_null_that_was_written_is_meant() -> None:
    policy = {"on_error": "fallback", "fallback": None, "on_upstream_failure": "default", "default": None}
    nodes = [
        {"id": "n_S", "key": "S", "kind": "start"},
        {"id": "n_A", "key": "A", "kind": "set_fields", "policy": policy},
    ]
    assert found(decode({"nodes": nodes, "edges": [{"id": "e", "source": "n_S", "target": "n_A"}]})) == []


def test_every_message_says_what_to_do_in_whole_sentences() -> None:
    wrong = draw(
        "A > A, B:nope > C > B, E[], I > A, Q > E",
        configs={
            "A": {"fields": {"x": "{{ zzz }} {{ steps.Q.output }}"}},
            "Q": {"fields": {"x": "{{ item }}{{ steps }}"}},
        },
    )
    problems = check(wrong, SPECS)
    assert len(problems) > 6
    assert all(problem.message[0].isupper() and problem.message.endswith((".", "?")) for problem in problems)
    assert all(problem.code in CODES for problem in problems)
