"""What the checks find in settings, expressions and policies."""

from typing import Any

import pytest

from builder.graph.codec import decode
from builder.graph.model import Graph, Policy
from builder.validation import CODES, check
from steps.registry import all_specs
from tests.graphs import draw
from tests.unit.builder_validation.library import SPECS, found, only, says


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


def named_in(drawing: str, name: str, **configs: Any) -> list[str]:
    kinds = {"L": "loop", "T": "try_block", "E": "map"}
    configs = {"A": {"fields": {"x": f"{{{{ {name} }}}}"}}, "L": {"most": 2}, "E": {"items": []}, **configs}
    return [problem.code for problem in check(draw(drawing, kinds=kinds, configs=configs), all_specs())]


def test_each_container_gives_its_own_names() -> None:
    assert named_in("S > L[A]", "previous") == named_in("S > L[A]", "index") == []
    assert named_in("S > L[A]", "item") == named_in("S > E[A]", "previous") == ["item_outside_container"]
    assert named_in("S > L[E[A]]", "[item, index, previous]") == named_in("S > E[L[A]]", "[item, previous]") == []
    assert named_in("S > T[A]", "index") == ["item_outside_container"]
    assert named_in("S > E[T[A]]", "item") == []


def test_a_loop_reads_what_its_rounds_gave_in_its_condition_only() -> None:
    assert named_in("S > L[A]", "1", L={"most": 2, "until": "{{ previous and index }}"}) == []
    assert named_in("S > L[A]", "1", L={"most": 2, "first": "{{ previous }}"}) == ["item_outside_container"]


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


def test_a_join_that_could_never_be_reached_is_refused() -> None:
    def joined(**policy: Any) -> list[tuple[str, str | None, str | None]]:
        return found(draw("S > A + B > C", policies={"C": Policy(**policy)}))

    assert joined(join="count") == [("join_count_missing", "C", "policy.join_count")]
    assert joined(join="count", join_count=3) == [("join_count_too_high", "C", "policy.join_count")]
    assert joined(join="count", join_count=2) == joined(join="any") == joined(join="first") == []


def test_a_limit_needs_its_key_and_its_numbers() -> None:
    assert with_policy(Policy(limit_at_most=2)) == [("limit_key_missing", "A", "policy.limit_key")]
    assert with_policy(Policy(limit_key="erp")) == [("limit_missing", "A", "policy.limit_at_most")]
    assert with_policy(Policy(limit_key="erp", rate_starts=2)) == [("rate_incomplete", "A", "policy.rate_per_s")]
    assert with_policy(Policy(limit_key="erp", rate_per_s=2)) == [("rate_incomplete", "A", "policy.rate_starts")]
    assert with_policy(Policy(limit_key="erp", limit_at_most=2, rate_starts=9, rate_per_s=60)) == []


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
