from email.utils import formatdate

import pytest

from steps.http_request.run import is_below, is_expected, retry_after, with_query


@pytest.mark.parametrize(
    ("url", "base", "below"),
    [
        ("https://api.example.com/v1/x", "https://api.example.com/v1", True),
        ("https://API.example.com:443/v1", "https://api.example.com/v1/", True),
        ("https://api.example.com/v1?x=1", "https://api.example.com/v1", True),
        ("https://api.example.com/anything", "https://api.example.com", True),
        ("https://api.example.com/v10", "https://api.example.com/v1", False),
        ("http://api.example.com/v1/x", "https://api.example.com/v1", False),
        ("https://api.example.com:444/v1", "https://api.example.com/v1", False),
        ("https://evil.example/v1", "https://api.example.com/v1", False),
        ("https://api.example.com.evil.example/v1", "https://api.example.com/v1", False),
        ("https://api.example.com@evil.example/v1", "https://api.example.com/v1", False),
        ("https://x@api.example.com/v1", "https://api.example.com/v1", False),
        ("https://api.example.com/v1/../admin", "https://api.example.com/v1", False),
        ("https://api.example.com/v1/%2e%2E/admin", "https://api.example.com/v1", False),
        ("https://api.example.com/v1/..%2fadmin", "https://api.example.com/v1", False),
        ("https://api.example.com/v1/..%5cadmin", "https://api.example.com/v1", False),
        ("https://api.example.com:port/v1", "https://api.example.com/v1", False),
    ],
)
def test_credentials_go_below_the_connections_base_address_only(url: str, base: str, below: bool) -> None:
    assert is_below(url, base) is below


@pytest.mark.parametrize(
    ("status", "expected", "fits"),
    [(200, "2xx", True), (299, "2xx", True), (300, "2xx", False), (404, "200-204, 404", True),
     (203, "200-204,404", True),
     (205, "200-204, 404", False), (201, "201", True), (500, " 4xx , 5xx ", True)],
)  # fmt: skip
def test_an_expected_status_is_a_number_a_range_or_a_class(status: int, expected: str, fits: bool) -> None:
    assert is_expected(status, expected) is fits


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120.0), (formatdate(1_000_060, usegmt=True), 60.0), (formatdate(999_000, usegmt=True), 0.0),
     ("soon", None), ("", None), ("-5", None), ("999999999", 86400.0)],
)  # fmt: skip
def test_retry_after_is_a_number_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, now=1_000_000) == seconds


def test_no_retry_after_means_none() -> None:
    assert retry_after({}, now=0) is None


def test_a_query_is_added_to_what_the_address_has() -> None:
    query = {"q": "ä b&c", "list": [1, True, None], "none": None, "object": {"a": 1}}
    assert with_query("https://h/x?y=1#part", query) == (
        "https://h/x?y=1&q=%C3%A4+b%26c&list=1&list=true&object=%7B%22a%22%3A+1%7D#part"
    )
    assert with_query("https://h/x", {"n": None}) == "https://h/x"
