"""What expressions name, read from their text alone."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from builder.expressions import ExpressionProblem, check_syntax, holds_expression, literal_fields, references, uses
from builder.expressions.parse import Compiled, compiled
from steps.base import StepConfig, literal


def read(text: str) -> Compiled:
    found = compiled(text)
    assert isinstance(found, Compiled)
    return found


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("{{ steps.a.output }}", "a"),
        ("{{ steps['a'].output.x }}", "a"),
        ('{{ steps["a b"].output }}', "a b"),
        ("{{ steps.a.output[steps.b.output.key].x }}", "a b"),
        ("{{ steps.a.output | map(attribute=steps.b.output) | default(steps.c.output) }}", "a b c"),
        ("{% for x in steps.a.output %}{% if x == steps.b.output %}{{ x.steps.c }}{% endif %}{% endfor %}", "a b"),
        ("{% set x = steps.a.output %}{{ x }} {{ steps.größe.output }}", "a größe"),
        ("{{ steps[run.input.key] }}", ""),
        ("{{ steps }}", ""),
        ("{{ steps[0] }}", ""),
        ("{{ run.steps.a }} {{ 'steps.a' }} steps.a", ""),
        ("{{ broken", ""),
        ("steps.a", ""),
    ],
)
def test_steps_are_found_by_key(text: str, keys: str) -> None:
    expected = frozenset({"a b"} if keys == "a b" and "a b" in text else keys.split())
    assert references({"deep": [{"x": text}]}) == expected


def test_references_of_a_config_are_joined_and_literal_fields_left_out() -> None:
    config = {"a": "{{ steps.a.output }}", "b": ["{{ steps.b.output }}"], "code": "{{ steps.c.output }}", "n": 1}
    assert references(config, {"code"}) == {"a", "b"}
    assert references(config, {"b[]"}) == {"a", "c"}
    assert references({}) == frozenset()


def test_each_use_names_its_field() -> None:
    config = {"a": "{{ 1 }}", "b": [{"c d": "x {{ 2 +"}, "plain"]}
    found = list(uses(config))
    assert [use.field for use in found] == ["a", "b[0].c d"]
    assert isinstance(found[1].expression, ExpressionProblem)


@pytest.mark.parametrize(
    "text", ["{{ steps[item.key].output }}", "{{ steps }}", "{{ steps | json }}", "{{ steps[1] }}"]
)
def test_access_that_shows_only_in_the_run_is_flagged(text: str) -> None:
    assert read(text).dynamic


def test_fixed_access_is_not_flagged() -> None:
    assert not read("{{ steps.a.output[item.key] }}").dynamic


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ run.id }}", "run"),
        ("{{ item }}{{ index }}", "item index"),
        ("{% for item in run.x %}{{ item }}{% endfor %}", "run"),
        ("{% for item in run.x %}{{ item }}{% endfor %}{{ item }}", "run item"),
        ("{{ range(3) }}", ""),
        ("{% set x = 1 %}{{ x + y }}", "y"),
    ],
)
def test_names_that_come_from_the_scope_are_known(text: str, names: str) -> None:
    assert read(text).names == set(names.split())


def test_a_plain_path_needs_no_template() -> None:
    assert read("{{ steps.a['b'][0] }}").path == ("steps", "a", "b", 0)
    assert read("{{ steps.a.b | length }}").path is None
    assert read("{{ steps.a[run.x] }}").path is None
    assert read("{{ steps.a }} ").path == ("steps", "a")


def test_texts_are_compiled_once() -> None:
    assert compiled("{{ run.once }}") is compiled("{{ run.once }}")
    long_text = "{{ run.once }}" + "x" * 5000
    assert compiled(long_text) is compiled(long_text)


def test_constants_are_not_evaluated_while_a_text_is_checked() -> None:
    assert check_syntax("{{ 1 / 0 }}{{ none.a or 1 }}{% if ''.b %}{% endif %}{{ 'a' | list | length }}") is None


def test_syntax_is_checked_without_a_scope() -> None:
    assert check_syntax("plain {") is None
    assert check_syntax("{{ anything.goes }}") is None
    problem = check_syntax("line one\n{{ 1 + }}")
    assert problem is not None
    assert (problem.code, problem.line) == ("expression_syntax", 2)
    refused = check_syntax("\n\n{{ x | nope }}")
    assert refused is not None
    assert refused.line == 3


@pytest.mark.parametrize(
    ("value", "holds"), [("{{", True), ("{%", True), ("{ {", False), ("{#", False), (5, False), (["{{"], False)]
)
def test_a_text_with_braces_may_hold_an_expression(value: Any, holds: bool) -> None:
    assert holds_expression(value) is holds


class Case(BaseModel):
    label: str = Field(json_schema_extra=literal())
    value: str = ""
    inner: "Case | None" = None


class Settings(StepConfig):
    code: str = Field(json_schema_extra=literal(widget="code"))
    either: list[str] | str = Field(default="", json_schema_extra=literal())
    cases: list[Case] = []
    files: dict[str, Case] = {}
    first: Case | None = None
    free: dict[str, int | str] = {}
    shown: str = Field(default="", json_schema_extra={"x-pawl": {"widget": "code"}})


def test_literal_fields_are_read_from_the_schema_at_any_depth() -> None:
    found = literal_fields(Settings.model_json_schema())
    assert {"code", "either", "cases[].label", "files.*.label", "first.label", "first.inner.label"} <= found
    assert all(field.rsplit(".", 1)[-1] in {"code", "either", "label"} or field == "cases[].label" for field in found)


def test_a_schema_of_anything_has_no_literal_fields() -> None:
    assert literal_fields({}) == frozenset()
    assert literal_fields({"properties": {"a": {"items": True, "additionalProperties": False}}}) == frozenset()
