import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from steps.base import StepFailure
from steps.registry import get
from tests.integration.steps_http.local_server import LocalServer, Seen, local_server, reply
from tests.step_context import FakeContext, run_step

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


JSON, TEXT = "application/json", "text/plain"
ANSWERS: dict[str, tuple[int, bytes, dict[str, str]]] = {
    "/json": (200, b'{"n": 9223372036854775807, "list": [1.5, null]}', {"Content_Type": JSON}),
    "/problem": (422, b'{"title": "no total"}', {"Content_Type": "application/problem+json"}),
    "/latin": (200, "größe".encode("latin-1"), {"Content_Type": "text/plain; charset=ISO-8859-1"}),
    "/odd-charset": (200, "größe".encode(), {"Content_Type": "text/plain; charset=klingon"}),
    "/picture": (200, PNG, {"Content_Type": "image/png"}),
    "/not-json": (200, b"<html>", {"Content_Type": JSON}),
    "/nan": (200, b"[NaN]", {"Content_Type": JSON}),
    "/empty": (204, b"", {}),
    "/busy": (429, b"slow down", {"Content_Type": TEXT, "Retry_After": "7"}),
    "/down": (503, b"", {"Retry_After": "90"}),
    "/broken": (500, b"stack trace", {"Content_Type": TEXT}),
    "/moved": (307, b"", {"Location": "/echo"}),
}


def api(handler: BaseHTTPRequestHandler, seen: Seen) -> None:
    echo = (200, json.dumps({"body": seen.body.decode("latin-1")}).encode(), {"Content_Type": JSON})
    status, body, headers = ANSWERS.get(seen.path.partition("?")[0], echo)
    reply(handler, status, body, **headers)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with local_server(api) as running:
        yield running


@pytest.fixture
def ctx(tmp_path: Path, server: LocalServer) -> FakeContext:
    connection = {"base_url": server.url("/"), "token": "s3cret-token"}
    return FakeContext(
        storage_root=tmp_path,
        outbound_allow=frozenset({server.address}),
        connections={
            "api": connection,
            "basic": {"base_url": server.url("/deep"), "user": "ana", "password": "pässword"},
        },
    )


def failure_of(ctx: FakeContext, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "http_request", **config)
    return failure.value


def test_a_json_answer_becomes_a_value(ctx: FakeContext, server: LocalServer) -> None:
    answer = run_step(ctx, "http_request", url=server.url("/json"), query={"page": 2})
    assert answer["status"] == 200
    assert answer["body"] == {"n": 2**63 - 1, "list": [1.5, None]}
    assert answer["headers"]["content-type"] == "application/json"
    assert answer["url"] == server.url("/json?page=2")
    assert answer["file"] is None


def test_text_is_read_in_its_own_charset(ctx: FakeContext, server: LocalServer) -> None:
    assert run_step(ctx, "http_request", url=server.url("/latin"))["body"] == "größe"
    assert run_step(ctx, "http_request", url=server.url("/odd-charset"))["body"] == "größe"


def test_anything_else_becomes_a_file_of_the_storage(ctx: FakeContext, server: LocalServer) -> None:
    first = run_step(ctx, "http_request", url=server.url("/picture"))
    assert first["body"] is None
    assert first["file"]["content_type"] == "image/png"
    assert (ctx.storage_root / first["file"]["path"]).read_bytes() == PNG
    again = run_step(ctx.next_attempt(), "http_request", url=server.url("/picture"))
    assert again["file"] == first["file"]
    assert len([each for each in ctx.storage_root.rglob("*") if each.is_file()]) == 1


def test_the_author_may_say_where_a_file_goes_and_that_an_answer_is_one(ctx: FakeContext, server: LocalServer) -> None:
    answer = run_step(ctx, "http_request", url=server.url("/json"), save_to="in/batch.json")
    assert answer["file"]["path"] == "in/batch.json"
    assert json.loads((ctx.storage_root / "in/batch.json").read_text())["n"] == 2**63 - 1


def test_an_empty_answer_has_an_empty_body(ctx: FakeContext, server: LocalServer) -> None:
    assert run_step(ctx, "http_request", url=server.url("/empty"))["body"] == ""
    assert run_step(ctx, "http_request", url=server.url("/empty"), response_type="json")["body"] is None
    assert run_step(ctx, "http_request", method="HEAD", url=server.url("/json"))["body"] is None


@pytest.mark.parametrize(
    ("body_type", "body", "sent", "content_type"),
    [
        ("json", {"a": [1, "ä"]}, b'{"a": [1, "\\u00e4"]}', "application/json"),
        ("json", None, b"null", "application/json"),
        ("text", "größe", "größe".encode(), "text/plain; charset=utf-8"),
        ("form", {"a": "x y", "b": [1, 2]}, b"a=x+y&b=1&b=2", "application/x-www-form-urlencoded"),
        ("none", "ignored", b"", None),
    ],
)
def test_a_body_is_sent_as_its_type_says(
    ctx: FakeContext, server: LocalServer, body_type: str, body: Any, sent: bytes, content_type: str | None
) -> None:
    run_step(ctx, "http_request", method="POST", url=server.url("/echo"), body_type=body_type, body=body)
    assert server.seen[0].body == sent
    assert server.seen[0].headers.get("content-type") == content_type


def test_a_file_is_sent_also_after_a_redirect(ctx: FakeContext, server: LocalServer) -> None:
    (ctx.storage_root / "a.png").write_bytes(PNG)
    run_step(ctx, "http_request", method="PUT", url=server.url("/moved"), body_type="file", body="a.png")
    assert [(each.path, each.body) for each in server.seen] == [("/moved", PNG), ("/echo", PNG)]
    assert server.seen[1].headers["content-type"] == "image/png"
    assert server.seen[1].headers["content-length"] == str(len(PNG))


def test_every_attempt_carries_the_same_idempotency_key(ctx: FakeContext, server: LocalServer) -> None:
    for attempt in (ctx, ctx.next_attempt()):
        run_step(attempt, "http_request", method="POST", url=server.url("/echo"))
    run_step(ctx, "http_request", method="POST", url=server.url("/echo"), key_header="X-Request-Key")
    run_step(ctx, "http_request", method="POST", url=server.url("/echo"), headers={"idempotency-key": "my own"})
    assert [each.headers.get("idempotency-key") for each in server.seen] == [ctx.idempotency_key] * 2 + [None, "my own"]
    assert server.seen[2].headers["x-request-key"] == ctx.idempotency_key


def test_a_connection_brings_the_address_and_the_credentials(ctx: FakeContext, server: LocalServer) -> None:
    run_step(ctx, "http_request", connection="api", url="/echo")
    run_step(ctx, "http_request", connection="api", url=server.url("/echo/2"))
    run_step(ctx, "http_request", connection="basic", url="echo")
    basic = base64.b64encode("ana:pässword".encode()).decode()
    assert [(each.path, each.headers["authorization"]) for each in server.seen] == [
        ("/echo", "Bearer s3cret-token"), ("/echo/2", "Bearer s3cret-token"), ("/deep/echo", f"Basic {basic}"),
    ]  # fmt: skip
    assert "s3cret" not in "".join(ctx.logged)


@pytest.mark.parametrize("url", ["http://evil.example/", "/../admin", "/%2e%2e/admin"])
def test_a_connections_credentials_go_nowhere_else(ctx: FakeContext, server: LocalServer, url: str) -> None:
    assert failure_of(ctx, connection="basic", url=url).code == "outside_connection"
    assert server.seen == []


def test_a_broken_connection_is_told_without_its_values(ctx: FakeContext) -> None:
    ctx.connections = {"api": {"base_url": "ftp://s3cret", "tokn": "s3cret"}}
    failure = failure_of(ctx, connection="api", url="/x")
    assert failure.code == "bad_connection"
    assert "s3cret" not in failure.message
    assert "base_url" in failure.message


@pytest.mark.parametrize(
    ("path", "code", "retryable", "retry_after_s"),
    [("/busy", "http_429", True, 7.0), ("/down", "http_503", True, 90.0), ("/broken", "http_500", True, None),
     ("/problem", "http_422", False, None)],
)  # fmt: skip
def test_an_unexpected_status_fails_and_says_whether_a_retry_may_help(
    ctx: FakeContext, server: LocalServer, path: str, code: str, retryable: bool, retry_after_s: float | None
) -> None:
    failure = failure_of(ctx, url=server.url(path))
    assert (failure.code, failure.retryable, failure.retry_after_s) == (code, retryable, retry_after_s)
    assert failure.data["status"] == int(code[-3:])


def test_a_failure_quotes_what_the_server_said(ctx: FakeContext, server: LocalServer) -> None:
    assert 'It says: {"title": "no total"}' in failure_of(ctx, url=server.url("/problem")).message


def test_the_author_may_expect_a_failure_status(ctx: FakeContext, server: LocalServer) -> None:
    answer = run_step(ctx, "http_request", url=server.url("/problem"), expected_status="2xx, 422")
    assert (answer["status"], answer["body"]) == (422, {"title": "no total"})


def test_an_answer_that_claims_to_be_json_and_is_not_fails(ctx: FakeContext, server: LocalServer) -> None:
    for path in ("/not-json", "/nan"):
        failure = failure_of(ctx, url=server.url(path))
        assert (failure.code, failure.retryable) == ("bad_response_json", False)
    assert run_step(ctx, "http_request", url=server.url("/not-json"), response_type="text")["body"] == "<html>"


@pytest.mark.parametrize(("body_type", "body"), [("text", 5), ("form", "x")])
def test_a_body_of_another_type_fails_before_anything_is_sent(
    ctx: FakeContext, server: LocalServer, body_type: str, body: Any
) -> None:
    assert failure_of(ctx, method="POST", url=server.url("/echo"), body_type=body_type, body=body).code == "bad_body"
    assert server.seen == []


def test_a_header_cannot_smuggle_a_second_one(ctx: FakeContext, server: LocalServer) -> None:
    failure = failure_of(ctx, url=server.url("/echo"), headers={"X-A": "1\r\nX-B: \x01s3cret"})
    assert failure.code == "bad_request"
    assert "s3cret" not in failure.message  # where it is a credential: escaped like this, no masking knows it
    assert server.seen == []


def test_redirects_may_be_switched_off(ctx: FakeContext, server: LocalServer) -> None:
    answer = run_step(ctx, "http_request", url=server.url("/moved"), follow_redirects=False, expected_status="3xx")
    assert answer["headers"]["location"] == "/echo"
    assert len(server.seen) == 1


# ------------------------------------------------------------------ acts


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_request_that_may_change_something_is_an_act_and_is_not_sent_again_once_it_is_done(
    ctx: FakeContext, server: LocalServer, method: str
) -> None:
    config = {"method": method, "url": server.url("/echo"), "body_type": "text", "body": "x"}
    first = run_step(ctx, "http_request", **config)
    assert ctx.acts == {"request": first}
    assert run_step(ctx.next_attempt(), "http_request", **config) == first
    assert len(server.seen) == 1


def test_a_request_that_changes_nothing_is_no_act(ctx: FakeContext, server: LocalServer) -> None:
    for method in ("GET", "HEAD", "OPTIONS"):
        run_step(ctx, "http_request", method=method, url=server.url("/echo"))
    assert ctx.acts == {}


def test_a_kind_says_whether_an_attempt_without_an_intent_has_begun_nothing() -> None:
    acts = get("http_request").acts_of
    assert [acts({"method": method}) for method in ("POST", "GET", "{{ run.input.m }}", ["POST"])] == [
        True, False, False, False,
    ]  # fmt: skip
    assert not acts({})
