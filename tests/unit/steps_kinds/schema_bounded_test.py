"""A JSON Schema that somebody else wrote, checked where others wait."""

import time
from typing import Any

import pytest

from steps import schema_bounded
from steps.base import StepFailure
from steps.schema_bounded import check_bounded

TWICE = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(25)}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 40 + "b"}),
        ({"$defs": {**TWICE, "a25": {"type": "object"}}, "$ref": "#/$defs/a0"}, {}),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"x": n} for n in range(20_000)]}),
        ({"properties": {"a": {"items": {"enum": [{"x": n} for n in range(20_000)]}}}}, {"a": [{"x": -1}] * 20_000}),
    ],
    ids=["pattern", "references", "unique", "enum"],
)
def test_a_schema_that_takes_for_ever_is_given_up(schema: Any, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_bounded, "TIME_LIMIT_S", 1.0)
    began = time.monotonic()
    with pytest.raises(StepFailure) as failure:
        check_bounded(value, schema)
    assert failure.value.code == "schema_too_slow"
    assert time.monotonic() - began < 5


def test_a_schema_that_refers_to_itself_is_a_wrong_one() -> None:
    with pytest.raises(StepFailure) as failure:
        check_bounded({"a": 1}, {"$ref": "#"})
    assert failure.value.code == "bad_schema"


@pytest.mark.parametrize("rules", [{}, {"pattern": "^[a-z]+$"}], ids=["plain", "apart"])
def test_problems_are_the_same_wherever_they_are_found(rules: dict[str, Any]) -> None:
    schema = {"type": "object", "required": ["b"], "properties": {"a": {"type": "string", **rules}}}
    assert check_bounded({"a": "x", "b": None}, schema) == []
    found = check_bounded({"a": 1}, schema)
    assert {(each["path"], each["rule"]) for each in found} == {("$", "required"), ("a", "type")}


def test_odd_texts_come_through_to_the_process() -> None:
    assert check_bounded({"a": "\ud800\0é"}, {"properties": {"a": {"pattern": "é$"}}}) == []


@pytest.mark.parametrize("schema", [{"pattern": "("}, {"properties": 5}, {"$ref": "#/$defs/x"}, {"type": "zahl"}])
def test_a_wrong_schema_says_so(schema: dict[str, Any]) -> None:
    with pytest.raises(StepFailure) as failure:
        check_bounded("x", schema)
    assert failure.value.code == "bad_schema"
