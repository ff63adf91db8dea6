"""Lints: each graph can run, and something in it may be better."""

from typing import Any

import pytest

from builder.graph.model import Graph, Policy
from builder.graph.walk import index
from builder.validation import Problem, check, error_problems, lint
from steps import registry
from steps.base import Delivery, StepConfig, StepSpec
from tests.graphs import draw

SPECS = registry.all_specs()
TEXT = {"text": "Dear {{ run.input.name }}"}
READS_TEXT = {"value": "{{ steps.T.output.text }}"}
POST = {"method": "POST", "url": "http://a.example"}
GET = {"url": "http://a.example"}
INSERT = {"connection": "books", "statement": "INSERT INTO t VALUES (1)", "read_only": False}


def hints(drawing: str, **more: Any) -> list[tuple[str, str]]:
    return [(each.code, (each.node or "__")[2:]) for each in lint(draw(drawing, **more), SPECS)]


def only(graph: Graph) -> Problem:
    (found,) = lint(graph, SPECS, walk=index(graph))
    return found


def acts(problem: Problem) -> list[dict[str, Any]]:
    assert problem.fix is not None
    return [act.as_json() for act in problem.fix.acts]


def test_lints_never_keep_a_draft_from_being_published() -> None:
    graph = draw("S > A > O", configs={"A": {"fields": {"x": 1}}, "O": {"value": 1}})
    problem = only(graph)
    assert (problem.code, problem.node, problem.severity) == ("unused_output", "n_A", "hint")
    assert error_problems((problem,)) == ()
    assert check(graph, SPECS) == ()


# ------------------------------------------------------------------ outputs that nobody reads


def test_a_pure_step_whose_output_nobody_reads_can_be_taken_out() -> None:
    problem = only(draw("S > A > O", configs={"A": {"fields": {}}}))
    assert acts(problem) == [{"act": "delete_step", "node": "n_A"}]
    assert 'Nobody reads what "A" gives' in problem.message


@pytest.mark.parametrize(
    "reading",
    [
        {"configs": {"O": {"value": "{{ steps.A.output }}"}}},
        {"policies": {"O": Policy(skip_if="{{ steps.A.output.x }}")}},
        {"configs": {"O": {"value": "{{ steps[run.input.key] }}"}}},  # which one shows only in the run
        {"configs": {"O": {"value": "{{ steps.A"}}},  # nobody can say what it would read
        {"kinds": {"O": "gone"}, "configs": {"O": {"any": "{{ steps.A.output }}"}}},
    ],
)
def test_what_somebody_reads_or_may_read_is_used(reading: dict[str, Any]) -> None:
    assert hints("S > A > O", **reading) == []


@pytest.mark.parametrize(
    "drawing",
    [
        "S > A",  # the last one: people read it
        "S > E[F:pass_through > A] > O",  # the last of a body: its item's result
        "S > A:validate > O",  # there to fail
        "S > A:http_request > O",  # a method that the settings do not say is read only, yet a GET by default
        "S > A:wait_for_callback > O",
        "S > A:delay > O",
        "S > A:write_file > O",
        "S > A > O, A !> X",  # the way on depends on how it ends
    ],
)
def test_what_is_there_for_another_reason_is_left_alone(drawing: str) -> None:
    configs = {"A": {**POST}} if "http" in drawing else {}
    assert "unused_output" not in [code for code, _ in hints(drawing, configs=configs)]


def test_a_step_that_may_have_effects_is_used_by_them() -> None:
    policies = {"A": Policy(delivery="at_most_once")}
    assert hints("S > A > O", configs={"A": {"fields": {"x": 1}}}, policies=policies) == []
    assert hints("S > A:http_request > O", configs={"A": GET}) == [("unused_output", "A")]


# ------------------------------------------------------------------ the same twice


def test_two_pure_steps_that_do_the_same() -> None:
    configs = {key: {"fields": {"x": 1}} for key in "AB"} | {
        "O": {"value": "{{ steps.A.output }} {{ steps.B.output }}"}
    }
    problem = only(draw("S > A + B, A + B > O", configs=configs))
    assert (problem.code, problem.node, problem.severity) == ("duplicate_step", "n_B", "hint")
    assert acts(problem) == [{"act": "merge", "node": "n_B", "target": "n_A"}]


def test_an_effect_that_happens_twice_is_a_warning() -> None:
    problem = only(draw("S > A:http_request + B:http_request, A + B > O", configs={"A": POST, "B": POST}))
    assert (problem.code, problem.node, problem.severity) == ("duplicate_effect", "n_B", "warning")
    assert "twice in each run" in problem.message


@pytest.mark.parametrize(
    ("drawing", "configs", "policies"),
    [
        ("S > A:http_request > B:http_request > O", {"A": POST, "B": POST}, {}),  # one after the other
        ("S > A:http_request + B:http_request, A + B > O", {"A": POST, "B": {**POST, "url": "http://b"}}, {}),
        ("S > A:http_request + B:http_request, A + B > O", {"A": POST, "B": POST}, {"A": Policy(limit_s=1)}),
        ("S > A:merge + B:merge, A + B > O", {"A": {"fields": {}}, "B": {"fields": {}}}, {}),
        ("S > A:email + B:email, A + B > O", {}, {}),  # nothing is set yet
        ("S, A:http_request, B:http_request", {"A": POST, "B": POST}, {}),  # nor connected
        ("S > A:gone + B:gone, A + B > O", {"A": POST, "B": POST}, {}),
    ],
)
def test_steps_that_differ_are_no_duplicates(
    drawing: str, configs: dict[str, Any], policies: dict[str, Policy]
) -> None:
    assert hints(drawing, configs=configs, policies=policies) == []


# ------------------------------------------------------------------ effects


def test_an_effect_that_cannot_be_repeated_is_told_and_may_be_meant() -> None:
    problem = only(draw("S > A:sql > O", configs={"A": INSERT}))
    assert (problem.code, problem.severity) == ("effect_without_idempotency", "warning")
    assert "'May run twice'" in problem.message
    assert acts(problem) == [{"act": "set", "node": "n_A", "field": "policy.delivery", "value": "at_most_once"}]
    assert hints("S > A:sql > O", configs={"A": INSERT}, policies={"A": Policy(delivery="at_most_once")}) == []
    assert hints("S > A:sql > O", configs={"A": {**INSERT, "repeatable": True}}) == []


def test_a_kind_that_cannot_say_that_a_repeat_does_no_harm_names_no_such_setting() -> None:
    class Robot(StepConfig):
        pass

    robot = StepSpec("robot", "Robot", "Outside", "robot", "", Robot, Delivery.AT_MOST_ONCE, "robot:run")
    (problem,) = lint(draw("S > A:robot"), {**SPECS, "robot": robot})
    assert problem.code == "effect_without_idempotency"
    assert "May run twice" not in problem.message


# ------------------------------------------------------------------ how many at once


def test_items_that_go_outside_without_a_limit() -> None:
    problem = only(draw("S > E[A:http_request] > O", configs={"A": GET, "E": {"items": [1]}}))
    assert (problem.code, problem.node, problem.field, problem.severity) == (
        "map_without_limit",
        "n_E",
        "window",
        "hint",
    )
    assert "up to 32 times" in problem.message
    assert acts(problem) == [{"act": "set", "node": "n_E", "field": "window", "value": 8}]


def test_items_with_a_limit_or_without_an_outside_are_left_alone() -> None:
    assert hints("S > E[A:http_request]", configs={"A": GET, "E": {"items": [1], "window": 32}}) == []
    assert hints("S > E[A:http_request]", configs={"A": GET}, policies={"A": Policy(limit_key="api")}) == []
    assert hints("S > E[A:python, B:gone]", configs={"E": {"items": [1]}}) == []
    assert hints("S > E:loop[A:http_request]", configs={"A": GET}) == []


# ------------------------------------------------------------------ texts


def test_a_line_of_text_that_one_step_reads_can_be_written_there() -> None:
    problem = only(draw("S > T:template > O", configs={"T": TEXT, "O": READS_TEXT}))
    assert (problem.code, problem.node, problem.severity) == ("only_joins_text", "n_T", "hint")
    assert acts(problem) == [
        {"act": "rewrite", "node": "n_O", "was": READS_TEXT["value"], "value": TEXT["text"]},
        {"act": "delete_step", "node": "n_T"},
    ]


@pytest.mark.parametrize(
    ("drawing", "reads", "policy"),
    [
        ("S > T:template > O", {"value": "So: {{ steps.T.output.text }}"}, Policy()),  # a part of another text
        ("S > T:template > O", {"value": "{{ steps.T.output }}"}, Policy()),  # with its type
        ("S > T:template > O", READS_TEXT, Policy(skip_if="{{ run.input.dry }}")),
        ("S > T:template > E[O] > Q:output", READS_TEXT, Policy()),  # where item may mean something else
    ],
)
def test_where_it_would_not_be_the_same_text_there_is_no_fix(drawing: str, reads: Any, policy: Policy) -> None:
    (problem,) = lint(draw(drawing, configs={"T": TEXT, "O": reads}, policies={"T": policy}), SPECS)
    assert (problem.code, problem.fix) == ("only_joins_text", None)


@pytest.mark.parametrize(
    ("template", "drawing"),
    [
        ({"text": "Dear\n{{ run.input.name }}"}, "S > T:template > O"),
        ({"text": "{% if run.input.x %}a{% endif %}"}, "S > T:template > O"),
        ({"text": "{{ run.input.x }}"}, "S > T:template > O"),  # it makes a text of anything
        ({}, "S > T:template > O"),
        (TEXT, "S > T:template > O > Q:output"),
    ],
)
def test_other_templates_are_left_alone(template: dict[str, Any], drawing: str) -> None:
    configs = {"T": template, "O": READS_TEXT, "Q": READS_TEXT}
    assert "only_joins_text" not in [code for code, _ in hints(drawing, configs=configs)]


def test_a_text_that_may_be_read_elsewhere_is_left_alone() -> None:
    configs = {"T": TEXT, "O": READS_TEXT, "Q": {"value": "{{ steps[run.input.key] }}"}}
    assert hints("S > T:template > O > Q:output", configs=configs) == []
