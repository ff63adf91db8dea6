"""Nothing of a secret passes, however it is written and wherever a chunk ends."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from hypothesis import given, settings
from hypothesis import strategies as st

from builder.connections.masking import LEAST, MARK, Masker

Form = Callable[[str], str]

characters = st.characters(exclude_characters=MARK)
any_secret = st.text(characters, min_size=LEAST, max_size=24)
small_secret = st.text("ab/+", min_size=LEAST, max_size=12)  # likely to overlap with itself and others
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


FORMS: list[Form] = [
    lambda text: text,
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: quote(_raw(text), safe=""),
    lambda text: quote(_raw(text)),
    lambda text: quote_plus(_raw(text)),
    lambda text: _raw(text).hex(),
    lambda text: _raw(text).hex().upper(),
]


def _visible_core(raw: bytes, before: int) -> str:
    """The characters of base64 that depend on the secret alone, found by changing its neighbours."""
    one = base64.b64encode(b"\x00" * before + raw + b"\x00" * 3).decode()
    other = base64.b64encode(b"\xff" * before + raw + b"\xff" * 3).decode()
    return "".join(a for a, b in zip(one, other, strict=True) if a == b)


@given(any_secret, st.text(), st.text(), st.sampled_from(FORMS))
def test_no_written_form_passes(secret: str, before: str, after: str, form: Form) -> None:
    masked = Masker([secret]).text(before + form(secret) + after)
    assert MARK in masked
    assert form(secret) not in masked


@given(any_secret, st.integers(0, 2), st.binary(max_size=6))
def test_no_base64_passes(secret: str, before: int, after: bytes) -> None:
    raw = _raw(secret)
    text = base64.b64encode(b"\x01" * before + raw + after).decode()
    assert _visible_core(raw, before) not in Masker([secret]).text(text)


@given(json_values, any_secret, st.sampled_from(FORMS))
def test_no_value_keeps_a_form_at_any_depth(value: Any, secret: str, form: Form) -> None:
    shown = form(secret)
    masked = Masker([secret]).value({"in": value, shown: [shown, {"deep": f"<{shown}>"}]})
    assert not any(shown in text for text in _texts(masked))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


@given(json_values, st.lists(any_secret, max_size=3))
def test_what_holds_no_secret_comes_back_equal(value: Any, secrets: list[str]) -> None:
    masker = Masker(secrets)
    masked = masker.value(value)
    assert masker.value(masked) == masked
    if MARK not in json.dumps(masked, ensure_ascii=False):
        assert json.dumps(masked) == json.dumps(value)


@settings(max_examples=400)
@given(st.lists(small_secret, min_size=1, max_size=3), st.lists(st.text("ab/+", max_size=15), max_size=8))
def test_chunks_give_what_the_whole_gives(secrets: list[str], chunks: list[str]) -> None:
    masker = Masker(secrets)
    stream = masker.stream()
    told = [stream.feed(chunk) for chunk in chunks]
    assert "".join([*told, stream.end()]) == masker.text("".join(chunks))


@settings(max_examples=300)
@given(st.data(), any_secret, st.sampled_from(FORMS))
def test_a_secret_in_single_characters_is_masked(data: st.DataObject, secret: str, form: Form) -> None:
    whole = data.draw(st.text(max_size=5)) + form(secret) + data.draw(st.text(max_size=5))
    masker = Masker([secret])
    stream = masker.stream()
    assert "".join([*(stream.feed(each) for each in whole), stream.end()]) == masker.text(whole)
