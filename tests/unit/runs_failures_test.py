"""Which failures are the same one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.failures.fingerprint import LONGEST, Cause, fingerprint_of, pattern_of


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("503 from http://127.0.0.1:8765/policies?x=1", "<n> from <url>"),
        ("See https://example.com/a/b. Then wait 3.5 s", "See <url>. Then wait <n> s"),
        ("Row 17 of invoices.csv has no supplier", "Row <n> of invoices.csv has no supplier"),
        ("order PO-7731 is not known", "order <id> is not known"),
        ("run 01a22e9f-c7d3-74b0-9f14-2a41b7aee2ab ended", "run <id> ended"),
        ("no file /var/lib/pawl/a.txt here", "no file <path> here"),
        (r"no file C:\Users\ana\x.txt", "no file <path>"),
        ("at 2026-03-01T12:00:00.5Z it was over", "at <time> it was over"),
        ("ana@example.com refused it", "<email> refused it"),
        ("each[17].ocr failed", "each[<n>].ocr failed"),
        ("97 % of 1,000 rows,  and\n 12:30 h", "<n> % of <n> rows, and <n> h"),
        ("hash 9f86d081884c7d65 differs", "hash <id> differs"),
        ("The value is not a number", "The value is not a number"),
        ("either/or", "either/or"),
        ("", ""),
    ],
)
def test_what_differs_each_time_becomes_a_word(message: str, pattern: str) -> None:
    assert pattern_of(message) == pattern


def test_kind_and_code_tell_failures_apart_capitals_do_not() -> None:
    one = Cause("http_request", "http_status", "503 from http://a.example/x")
    assert fingerprint_of(one) == fingerprint_of(Cause("http_request", "http_status", "504 FROM http://b.example/y"))
    assert fingerprint_of(one) != fingerprint_of(Cause("python", "http_status", one.message))
    assert fingerprint_of(one) != fingerprint_of(Cause("http_request", "timed_out", one.message))
    assert fingerprint_of(one) != fingerprint_of(Cause("http_request", "http_status", "other words"))


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.uuids(), st.uuids())
def test_numbers_and_ids_make_no_difference(one: int, two: int, first: object, second: object) -> None:
    def said(number: int, name: object) -> str:
        return fingerprint_of(Cause("sql", "db", f"row {number} of job {name} at /srv/{number}/in.csv failed"))

    assert said(one, first) == said(two, second)


@given(st.text(max_size=800))
def test_any_message_has_a_short_pattern_which_is_its_own(message: str) -> None:
    pattern = pattern_of(message)
    assert len(pattern) <= LONGEST
    assert pattern_of(pattern) == pattern or len(pattern) >= LONGEST - 10
    assert len(fingerprint_of(Cause("a", "b", message))) == 16
