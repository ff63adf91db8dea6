"""The kinds that only look at their settings."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from steps.base import Again, Delivery, Enclose, FanOut, Rounds, StepFailure, WaitFor
from steps.registry import get
from tests.step_context import FakeContext, output_of, port_of, run_step


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    return FakeContext(storage_root=tmp_path)


SCHEMA = {"type": "object", "required": ["batch"], "properties": {"batch": {"type": "string"}, "n": {"minimum": 1}}}


def test_start_gives_the_runs_input_on(ctx: FakeContext) -> None:
    ctx.run_input = {"batch": "7"}
    assert run_step(ctx, "start", input_schema=SCHEMA) == {"batch": "7"}


def test_start_takes_anything_without_a_schema(ctx: FakeContext) -> None:
    ctx.run_input = [1, None]
    assert run_step(ctx, "start") == [1, None]


def test_start_refuses_an_input_that_does_not_fit_and_lists_each_problem(ctx: FakeContext) -> None:
    ctx.run_input = {"n": 0}
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "start", input_schema=SCHEMA)
    assert failure.value.code == "bad_run_input"
    assert {(each["path"], each["rule"]) for each in failure.value.data["problems"]} == {
        ("$", "required"),
        ("n", "minimum"),
    }


@pytest.mark.parametrize(
    "schema", [{"type": "no-such-type"}, {"$ref": "#/$defs/missing"}, {"$ref": "http://127.0.0.1:9/x"}]
)
def test_a_wrong_schema_is_the_steps_failure_and_nothing_is_fetched(ctx: FakeContext, schema: dict[str, Any]) -> None:
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "validate", value=1, json_schema=schema)
    assert failure.value.code == "bad_schema"


def test_validate_lists_every_error_with_its_place(ctx: FakeContext) -> None:
    schema = {
        "type": "array",
        "items": {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}},
    }
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "validate", value=[{"total": "x"}, {}, {"total": 3}], json_schema=schema)
    assert failure.value.code == "validation_failed"
    assert [each["path"] for each in failure.value.data["errors"]] == ["[0].total", "[1]"]


def test_validate_leaves_by_its_port_where_the_author_wants_that(ctx: FakeContext) -> None:
    answer = run_step(ctx, "validate", value="x", json_schema={"type": "number"}, on_invalid="port")
    assert port_of(answer) == "invalid"
    assert output_of(answer)["valid"] is False
    assert output_of(answer)["value"] == "x"
    assert port_of(run_step(ctx, "validate", value=1, json_schema={"type": "number"}, on_invalid="port")) == "out"
    assert [port.name for port in get("validate").ports({"on_invalid": "port"})] == ["out", "invalid"]
    assert [port.name for port in get("validate").ports({})] == ["out"]


def test_set_fields_overrides_its_base(ctx: FakeContext) -> None:
    assert run_step(ctx, "set_fields", base={"a": 1, "b": 2}, fields={"b": [3], "": None}) == {
        "a": 1,
        "b": [3],
        "": None,
    }


@pytest.mark.parametrize(
    ("value", "port"),
    [
        (True, "true"), (False, "false"), (0, "false"), (0.5, "true"), ([], "false"), ({"a": 1}, "true"),
        (None, "false"), ("true", "true"), ("False", "false"), (" yes ", "true"), ("no", "false"), ("", "false"),
    ],
)  # fmt: skip
def test_branch_goes_by_the_truth_of_its_condition(ctx: FakeContext, value: Any, port: str) -> None:
    answer = run_step(ctx, "branch", condition=value)
    assert port_of(answer) == port
    assert output_of(answer) is (port == "true")


def test_branch_refuses_a_text_that_was_meant_to_be_an_expression(ctx: FakeContext) -> None:
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "branch", condition="steps.total.output > 500")
    assert failure.value.code == "bad_condition"


CASES = [
    {"name": "one", "equals": 1},
    {"name": "yes", "equals": True},
    {"name": "list", "equals": [1, {"a": 1.0}]},
    {"name": "EUR"},
]


@pytest.mark.parametrize(
    ("value", "port"),
    [(1, "one"), (1.0, "one"), (True, "yes"), ("1", "otherwise"), ([1, {"a": 1}], "list"),
     ([True, {"a": 1}], "otherwise"), ("EUR", "EUR"), (None, "otherwise")],
)  # fmt: skip
def test_switch_compares_as_json_does(ctx: FakeContext, value: Any, port: str) -> None:
    answer = run_step(ctx, "switch", value=value, cases=CASES)
    assert (port_of(answer), output_of(answer)) == (port, value)


def test_switch_has_a_port_for_each_case_and_one_for_the_rest() -> None:
    assert [port.name for port in get("switch").ports({"cases": CASES})] == ["one", "yes", "list", "EUR", "otherwise"]


@pytest.mark.parametrize(
    "cases", [[], [{"name": "otherwise"}], [{"name": "error"}], [{"name": "a"}, {"name": "a"}], [{"name": "{{ x }}"}]]
)
def test_switch_refuses_cases_that_make_no_ports(ctx: FakeContext, cases: list[Any]) -> None:
    with pytest.raises(ValidationError):
        run_step(ctx, "switch", value=1, cases=cases)


def test_merge_and_output_give_what_their_settings_say(ctx: FakeContext) -> None:
    assert run_step(ctx, "merge", fields={"a": 1}) == {"a": 1}
    assert run_step(ctx, "merge") == {}
    assert run_step(ctx, "output", value=None) is None
    assert run_step(ctx, "pass_through", value={"deep": [1]}) == {"deep": [1]}


def test_template_makes_text_of_what_a_whole_expression_gave(ctx: FakeContext) -> None:
    assert run_step(ctx, "template", text={"ä": 1}, name="x.json")["text"] == '{\n  "ä": 1\n}'
    assert run_step(ctx, "template", text=12)["text"] == "12"
    assert run_step(ctx, "template", text=None)["text"] == ""
    assert run_step(ctx, "template", text="plain")["content_type"] == "text/plain"


def test_fail_fails_with_the_authors_code_and_words(ctx: FakeContext) -> None:
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "fail", code="no_total", message="Invoice 7 has no total.", details={"number": 7})
    assert (failure.value.code, failure.value.message) == ("no_total", "Invoice 7 has no total.")
    assert failure.value.data == {"details": {"number": 7}}
    assert failure.value.retryable is False


def test_delay_waits_for_seconds(ctx: FakeContext) -> None:
    assert run_step(ctx, "delay", seconds="90") == WaitFor("timer", seconds=90, output={"seconds": 90, "until": None})


def test_delay_waits_until_a_moment_and_not_at_all_for_one_that_has_passed(ctx: FakeContext) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    answer = run_step(ctx, "delay", until=later.isoformat())
    assert 3590 < answer.seconds <= 3600
    assert answer.data == {"until": later.isoformat()}
    assert run_step(ctx, "delay", until="2001-01-01T00:00:00Z").seconds == 0


def test_delay_names_no_moment_that_the_database_gives_back_in_a_way_python_cannot_read(ctx: FakeContext) -> None:
    answer = run_step(ctx, "delay", until="0001-01-01T00:00:00+14:00")
    assert answer.seconds == 0
    assert datetime.fromisoformat(answer.data["until"]).astimezone(UTC).year >= 1


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"seconds": 1, "until": "2030-01-01T00:00:00Z"},
        {"seconds": -1},
        {"seconds": 1e12},
        {"until": "2030-01-01T00:00:00"},
    ],
)
def test_delay_refuses_what_names_no_moment(ctx: FakeContext, config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        run_step(ctx, "delay", **config)


def test_delay_refuses_a_moment_that_is_years_away(ctx: FakeContext) -> None:
    with pytest.raises(StepFailure, match="more than 366 days"):
        run_step(ctx, "delay", until="2999-01-01T00:00:00Z")


def test_map_opens_its_items_by_a_window(ctx: FakeContext) -> None:
    assert run_step(ctx, "map", items=[1, 2], window=8, on_item_failure="continue") == FanOut([1, 2], 8, "continue")
    assert run_step(ctx, "map", items=[]).items == []


def test_map_hands_its_items_out_in_groups(ctx: FakeContext) -> None:
    assert run_step(ctx, "map", items=[1, 2, 3, 4, 5], batch=2).items == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize(("items", "settings", "tolerated"), [
    (10, {}, 0), (10, {"tolerate_items": 2}, 2), (10, {"tolerate_percent": 25}, 2),
    (10, {"tolerate_percent": 25, "tolerate_items": 5}, 5), (10, {"tolerate_percent": 20, "batch": 2}, 1),
])  # fmt: skip
def test_map_tolerates_by_number_or_share(
    ctx: FakeContext, items: int, settings: dict[str, Any], tolerated: int
) -> None:
    assert run_step(ctx, "map", items=[*range(items)], **settings).tolerated == tolerated


def test_a_loop_begins_with_a_round_and_is_asked_after_each(ctx: FakeContext) -> None:
    assert run_step(ctx, "loop", most=3, first=7, keep="all") == Rounds(7, most=3, keep="all")
    assert run_step(ctx, "loop", most=3, until=False) == Again(wanted=True, at_most="fail")
    assert run_step(ctx, "loop", most=3, until="yes", at_most="end") == Again(wanted=False, at_most="end")
    assert run_step(ctx, "loop", most=3, until=None) == Again(wanted=True, at_most="end")


@pytest.mark.parametrize("most", [0, -1, 10_001, None])
def test_a_loop_without_a_sane_maximum_is_refused(ctx: FakeContext, most: int | None) -> None:
    with pytest.raises(ValidationError):
        run_step(ctx, "loop", most=most)


def test_a_call_names_workflow_version_and_input(ctx: FakeContext) -> None:
    wanted = {"workflow": "0197a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b", "version": 3, "input": {"n": 1}}
    assert run_step(ctx, "run_workflow", **wanted) == WaitFor("child", data=wanted)
    assert run_step(ctx, "run_workflow", workflow="x").data == {"workflow": "x", "version": None, "input": None}
    with pytest.raises(ValidationError):
        run_step(ctx, "run_workflow", workflow="")


def test_a_try_encloses_its_steps(ctx: FakeContext) -> None:
    assert run_step(ctx, "try_block") == Enclose()


def test_map_refuses_what_is_no_list(ctx: FakeContext) -> None:
    for items in ("text", {"a": 1}, None, 5):
        with pytest.raises(ValidationError):
            run_step(ctx, "map", items=items)


def test_approval_waits_for_a_person_and_shows_what_they_need(ctx: FakeContext) -> None:
    answer = run_step(ctx, "approval", title="Pay?", data={"total": 3}, deadline_s=60, note_prompt="Why?")
    assert answer.kind == "approval"
    assert answer.seconds == 60
    assert answer.data == {
        "title": "Pay?", "message": "", "data": {"total": 3}, "note_prompt": "Why?", "on_expire": "fail", "roles": [],
        "approvals_needed": 1, "rejections_needed": 1, "no_self_approval": False,
    }  # fmt: skip
    assert [port.name for port in get("approval").ports({})] == ["approved", "rejected"]


@pytest.mark.parametrize(
    ("kind", "config", "delivery"),
    [
        ("wait_for_callback", {}, Delivery.PURE), ("wait_for_callback", {"notify_url": "{{ x }}"}, Delivery.KEYED),
        ("http_request", {}, Delivery.PURE), ("http_request", {"method": "HEAD"}, Delivery.PURE),
        ("http_request", {"method": "POST"}, Delivery.KEYED), ("http_request", {"method": "{{ x }}"}, Delivery.KEYED),
        ("sql", {}, Delivery.PURE), ("sql", {"read_only": False}, Delivery.AT_MOST_ONCE),
        ("sql", {"read_only": False, "repeatable": True}, Delivery.KEYED),
        ("sql", {"read_only": "{{ x }}"}, Delivery.AT_MOST_ONCE),
        ("sql", {"read_only": False, "repeatable": "{{ x }}"}, Delivery.AT_MOST_ONCE),
        ("python", {}, Delivery.PURE), ("email", {}, Delivery.KEYED), ("write_file", {}, Delivery.KEYED),
    ],
)  # fmt: skip
def test_delivery_follows_the_settings_and_an_expression_counts_as_the_strictest(
    kind: str, config: dict[str, Any], delivery: Delivery
) -> None:
    assert get(kind).delivery_of(config) is delivery
