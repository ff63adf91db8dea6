"""JSON values: what comes back equal, what is refused, and where."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.runner.values import MAX_DEPTH, NotJson, TooLarge, decode, encode, encode_checked

LIMIT = 10**9
texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(["\0", "\ud800", ""])  # surrogates included
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=30)
wrong = st.sampled_from([float("nan"), float("inf"), {1: 2}, {None: 1}, {1, 2}, b"", object(), 10**4400, 1j])


@given(values)
def test_any_json_value_comes_back_equal(value: Any) -> None:
    text = encode_checked(value, name="output", limit_bytes=LIMIT)
    assert text.isascii()
    assert repr(decode(text)) == repr(value)  # repr tells 1 from True and -0.0 from 0.0


@given(values, wrong)
def test_one_wrong_value_anywhere_is_refused(value: Any, inside: Any) -> None:
    with pytest.raises(NotJson) as problem:
        encode_checked({"before": value, "list": [value, {"here": inside}]}, name="output", limit_bytes=LIMIT)
    assert problem.value.path == "output.list[1].here"


def test_a_tuple_is_a_list_and_a_kind_of_text_is_a_text() -> None:
    class Markup(str):
        __slots__ = ()

    assert decode(encode_checked((1, {Markup("a"): Markup("b")}), name="x", limit_bytes=LIMIT)) == [1, {"a": "b"}]


def test_depth_is_counted_in_lists_and_objects() -> None:
    value: Any = 1
    for level in range(MAX_DEPTH):
        value = [value] if level % 2 else {"a": value}
    assert decode(encode_checked(value, name="x", limit_bytes=LIMIT)) == value
    with pytest.raises(NotJson, match="lies deeper than 200 levels"):
        encode_checked([value], name="x", limit_bytes=LIMIT)


@given(values)
def test_the_limit_counts_bytes_of_utf8(value: Any) -> None:
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    encode_checked(value, name="x", limit_bytes=size)
    with pytest.raises(TooLarge) as problem:
        encode_checked(value, name="x", limit_bytes=size - 1)
    assert problem.value.size_bytes == size


@pytest.mark.parametrize("text", ["", "1 2", "NaN", "[1,", "nul", " 1", "[Infinity]"])
def test_what_is_not_one_json_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode(text)


def test_encode_refuses_nan_although_it_checks_nothing_else() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode(float("nan"))
