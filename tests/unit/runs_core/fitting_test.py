"""Event data of a bounded size."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.core.fitting import EVENT_BYTES, fitted

texts = st.text(max_size=30) | st.integers(1, 9_000).map(lambda count: "ü" * count)
values = st.recursive(
    st.none() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=80) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=60,
)


def size_of(data: Any) -> int:
    return len(json.dumps(data, separators=(",", ":")))


def test_what_is_small_stays_as_it_is() -> None:
    data = {"error": {"code": "c", "message": "m", "data": {"status": 500}}, "delay_s": 1.5}
    assert fitted(data) == data


def test_an_errors_details_go_first() -> None:
    error = {"code": "body_raised", "message": "KeyError: 1", "data": {"traceback": "x" * 8000}}
    assert fitted({"error": error, "handled": "port"}) == {
        "error": {"code": "body_raised", "message": "KeyError: 1"},
        "handled": "port",
        "cut": True,
    }


def test_a_long_message_is_cut_and_says_so() -> None:
    found = fitted({"error": {"code": "c", "message": "m" * 9000}})
    assert found["error"]["message"] == "m" * 1500 + "…"
    assert found["cut"] is True


def test_a_long_list_keeps_its_first_entries() -> None:
    paths = [f"step_{number}_{'x' * 50}" for number in range(2000)]
    assert fitted({"failed": paths})["failed"] == paths[:50]


def test_nothing_is_left_of_what_does_not_fit_at_all() -> None:
    assert fitted({"x" * 5000: 1}) == {"cut": True}


@pytest.mark.parametrize("sign", ["\ud800", "\U0001f600", "\0"])
def test_signs_that_json_escapes_count_as_what_they_become(sign: str) -> None:
    assert size_of(fitted({"error": {"code": "c", "message": sign * 4000}})) <= EVENT_BYTES


@given(st.dictionaries(texts, values, max_size=4))
def test_it_always_fits(data: dict[str, Any]) -> None:
    assert size_of(fitted(data)) <= EVENT_BYTES
