import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from builder.connections.masking import LEAST, MARK, Masker

SECRET = 'p@ss/wörd "42"?'


def test_without_a_secret_everything_passes_untouched() -> None:
    masker = Masker([])
    value = {"a": ["b"]}
    assert not masker
    assert masker.value(value) is value
    assert masker.text("hunter2hunter2") == "hunter2hunter2"
    assert masker.stream().feed("abc") == "abc"


def test_a_value_without_a_secret_in_it_is_the_same_object() -> None:
    value = {"a": [1, None, True, 1.5, "text"]}
    assert Masker([SECRET]).value(value) is value


def test_a_short_secret_would_tear_ordinary_text_apart_and_is_left() -> None:
    assert not Masker(["x" * (LEAST - 1)])
    assert Masker(["x" * LEAST])


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="")
        .replace("%C3%B6", "%c3%b6")
        .replace("%40", "%40")
        .replace("%2F", "%2f")
        .replace("%3F", "%3f"),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_each_written_form_is_masked(shown: str) -> None:
    assert Masker([SECRET]).text(f"before {shown} after") == f"before {MARK} after"


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_masked_wherever_the_secret_begins(before: str, encode: Callable[[bytes], bytes]) -> None:
    text = encode(f"{before}{SECRET}~".encode()).decode()
    masked = Masker([SECRET]).text(f"Basic {text}")
    assert MARK in masked
    assert len(masked) <= len("Basic ") + len(MARK) + len(before) * 2 + 6


def test_names_and_numbers_are_masked_too() -> None:
    masker = Masker(["12345678", "hunter2hunter2"])
    value = {"hunter2hunter2": 12345678, "hunter2hunter2 ": [912345678.5, True], "n": 1234567}
    assert masker.value(value) == {MARK: MARK, f"{MARK} ": [MARK, True], "n": 1234567}


def test_names_that_become_equal_stay_two() -> None:
    masker = Masker(["hunter2hunter2", "another-secret"])
    assert masker.value({"hunter2hunter2": 1, "another-secret": 2}) == {MARK: 1, f"{MARK}2": 2}


def test_overlapping_secrets_leave_no_part_of_either() -> None:
    assert Masker(["abcdefgh", "efghijkl"]).text("<abcdefghijkl>") == f"<{MARK}>"


def test_a_secret_across_chunks_is_masked_and_only_its_beginning_held_back() -> None:
    stream = Masker(["hunter2hunter2"]).stream()
    assert stream.feed("password: hunter2") == "password: "
    assert stream.feed("hunter2") == MARK
    assert stream.feed(", next hun") == ", next "
    assert stream.feed("t") == ""
    assert stream.end() == "hunt"


def test_bytes_are_masked_as_they_stand_whatever_surrounds_them() -> None:
    secret = "s3crét-tokén"
    masker = Masker([secret])
    given = b"\xff\x00" + secret.encode() + b"\xfe" + secret.encode().hex().encode()
    assert masker.data(given) == b"\xff\x00" + MARK.encode() + b"\xfe" + MARK.encode()
    assert masker.data(b"\xff\xfe") == b"\xff\xfe"
