import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steps.base import StepFailure
from steps.sql.statement import parse
from steps.sql.values import answer, to_json


@pytest.mark.parametrize(
    ("text", "numbered", "names"),
    [
        ("select :a, :b, :a", "select $1, $2, $1", ("a", "b")),
        ("select ':a', \":b\", `:c`, :d", "select ':a', \":b\", `:c`, $1", ("d",)),
        ("select 'it''s :a' || :b", "select 'it''s :a' || $1", ("b",)),
        (r"select E'\' :a' || :b", r"select E'\' :a' || $1", ("b",)),
        (r"select 'a\' || :b", r"select 'a\' || $1", ("b",)),
        ("select :a::text, x::int", "select $1::text, x::int", ("a",)),
        ("select a[1:n] -- :no\n, :b", "select a[1:n] -- :no\n, $1", ("b",)),
        ("select /* :a /* :b */ :c */ :d", "select /* :a /* :b */ :c */ $1", ("d",)),
        ("select $$ :a ; $$, $tag$ :b $$ $tag$, :c", "select $$ :a ; $$, $tag$ :b $$ $tag$, $1", ("c",)),
        ("select 1;\n -- done ;\n /* and ; done */ ;", "select 1", ()),
        ("select '100%'", "select '100%'", ()),
    ],
)
def test_names_become_numbers_outside_of_strings_comments_and_casts(
    text: str, numbered: str, names: tuple[str, ...]
) -> None:
    found = parse(text)
    assert found.numbered.rstrip("; \n") == numbered
    assert found.names == names


@pytest.mark.parametrize(
    "text",
    ["select 1; drop table x", "select ';'; select 2", "select $1", "select 1 /* open", "commit; /* x */ drop table y"],
)
def test_a_statement_is_one_and_its_values_have_names(text: str) -> None:
    with pytest.raises(StepFailure) as failure:
        parse(text)
    assert failure.value.code == "bad_statement"


@given(st.text(alphabet="abc:$'\"-/*;\n %", max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    assert parsed_or_refused(text) in {text, "bad_statement"}


def parsed_or_refused(text: str) -> str:
    try:
        return parse(text).named
    except StepFailure as failure:
        return failure.code


@given(st.lists(st.from_regex(r"[a-z]\w{0,5}", fullmatch=True), min_size=1, max_size=6))
def test_each_name_is_found_in_the_order_of_its_first_use(names: list[str]) -> None:
    assert parse("select " + ", ".join(f":{name}" for name in names)).names == tuple(dict.fromkeys(names))


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (None, None), (True, True), (2**62, 2**62), (1.5, 1.5), (float("nan"), "nan"), (float("-inf"), "-inf"),
        (Decimal("12.50"), 12.5), (Decimal(7), 7), (Decimal("7.00"), 7.0), (Decimal("1e3"), 1000),
        (Decimal("0.1"), 0.1), (Decimal("12345678901234567.89"), "12345678901234567.89"), (Decimal("NaN"), "NaN"),
        (Decimal(2**70), str(2**70)), (dt.date(2026, 1, 2), "2026-01-02"), (dt.timedelta(minutes=1), 60.0),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC), "2026-01-02T03:04:05.000006+00:00"),
        (b"\x00\xff", "AP8="), (memoryview(b"a"), "YQ=="), (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ([Decimal("1.5"), {"a": b"a"}], [1.5, {"a": "YQ=="}]),
    ],
)  # fmt: skip
def test_database_values_become_json_values(value: Any, json: Any) -> None:
    found = to_json(value)
    assert found == json
    assert type(found) is type(json)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_never_loses_a_digit(value: Decimal) -> None:
    found = to_json(value)
    assert Decimal(repr(found) if isinstance(found, float) else found) == value


def test_two_columns_of_one_name_are_refused_instead_of_losing_one() -> None:
    with pytest.raises(StepFailure, match="Two columns are called 'id'"):
        answer(["id", "id"], [(1, 2)], changed=0)


def test_count_is_of_rows_read_or_else_of_rows_changed() -> None:
    assert answer(["a"], [(1,), (2,)], changed=-1)["count"] == 2
    assert answer([], [], changed=3)["count"] == 3
    assert answer([], [], changed=-1)["count"] == 0
