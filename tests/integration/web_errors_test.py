import asyncio
import json
import time
from contextlib import closing
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.http import Http404
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework import exceptions

from config import errors, health
from config.gate import BodyGate, SameOrigin
from kit.errors import Conflict
from runs.link import Link
from teams.models import Role
from tests.people import cast


def _handled(error: Exception) -> dict[str, Any]:
    response = errors.handle(error, {})
    assert response is not None
    assert response.status_code == response.data["status"]
    return dict(response.data)


def test_our_own_errors_carry_code_message_and_data() -> None:
    assert _handled(Conflict("Two at once.", at=3)) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "code": "conflict",
        "detail": "Two at once.",
        "data": {"at": 3},
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.ParseError("no"), 400, "malformed_json"),
        (exceptions.NotAuthenticated(), 401, "not_signed_in"),
        (exceptions.AuthenticationFailed(), 401, "not_signed_in"),
        (exceptions.PermissionDenied(), 403, "forbidden"),
        (PermissionDenied(), 403, "forbidden"),
        (exceptions.NotFound(), 404, "not_found"),
        (Http404(), 404, "not_found"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.NotAcceptable(), 406, "not_acceptable"),
        (RequestDataTooBig(), 413, "body_too_large"),
        (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type"),
        (exceptions.Throttled(5), 429, "too_many_requests"),
        (OperationalError("host=db password=x refused"), 503, "database_unavailable"),
    ],
)
def test_each_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    body = _handled(error)
    assert (body["status"], body["code"]) == (status, code)
    assert "password" not in json.dumps(body)


def test_what_nobody_expected_is_left_to_the_log() -> None:
    assert errors.handle(ZeroDivisionError(), {}) is None


def test_nested_field_errors_become_paths() -> None:
    detail = {"a": [{"b": ["one"]}, {}, {"c": {"non_field_errors": ["two"]}}], "d": {0: ["three"]}, "e": "four"}
    assert list(errors.flatten(detail)) == [
        ("a[0].b", "one"),
        ("a[2].c", "two"),
        ("d[0]", "three"),
        ("e", "four"),
    ]


@pytest.mark.django_db
def test_a_bug_leaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(actor: object) -> None:
        raise ZeroDivisionError("secret-in-a-message")

    monkeypatch.setattr("teams.api.views.seats_of", broken)
    client = cast().client(Role.OWNER)
    client.raise_request_exception = False
    response = client.get("/api/session")
    assert response.status_code == 500
    assert response["content-type"] == "application/problem+json"
    assert response.json()["code"] == "server_error"
    assert b"secret-in-a-message" not in response.content


@pytest.mark.django_db
def test_pages_have_calm_errors_too(settings: Settings) -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "x"})
    assert response.status_code == 403
    assert "Reload it and try again" in response.content.decode()
    response = Client().get("/accounts/nothing/")
    assert response.status_code == 404
    assert "There is nothing at this address." in response.content.decode()


# ------------------------------------------------------------------ health


def test_alive_asks_nobody() -> None:
    response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_health_says_which_part_is_missing(redis_url: str) -> None:
    response = Client().get("/api/health")
    assert response.status_code == 200
    parts = response.json()
    assert parts["database"]["ok"]
    assert parts["redis"]["ok"]
    assert not parts["workers"]["ok"]
    assert set(parts) == {"database", "redis", "workers", "sweeper", "transactions", "late_zombie_effects"}


@pytest.mark.django_db(transaction=True)
def test_health_warns_of_a_transaction_that_is_open_for_too_long(settings: Settings, redis_url: str) -> None:
    settings.OLDEST_TRANSACTION_S = 0.2
    with closing(Link(name="snapshot")) as link:
        link.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        link.connection.execute("SELECT count(*) FROM runs_steprun")
        time.sleep(0.3)
        response = Client().get("/api/health")
        with pytest.raises(CommandError, match="not well: transactions"):
            call_command("health", "transactions")
        link.connection.execute("ROLLBACK")
    assert response.status_code == 200, "whoever starts the process anew for this would help nobody"
    told = response.json()["transactions"]
    assert not told["ok"]
    assert "dead rows pile up" in told["detail"]
    settings.OLDEST_TRANSACTION_S = 300
    assert Client().get("/api/health").json()["transactions"]["ok"]


@pytest.mark.django_db
def test_health_without_redis_is_up_and_says_so(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = Client().get("/api/health")
    assert response.status_code == 200
    assert response.json()["redis"] == {"ok": False, "detail": "does not answer; runs go on, only slower"}


@pytest.mark.django_db
def test_health_without_the_database_is_503_and_keeps_the_address_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise OperationalError("connection to 10.0.0.7 with password x refused")

    monkeypatch.setattr(health, "check_database", refused)
    response = Client().get("/api/health")
    assert response.status_code == 503
    assert response.json()["database"] == {"ok": False, "detail": "does not answer"}


# ------------------------------------------------------------------ before Django


async def _drain(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})


def _through(app: Any, scope: dict[str, Any], *chunks: bytes) -> list[Any]:
    sent: list[Any] = []
    messages = [{"type": "http.request", "body": each, "more_body": True} for each in chunks]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app({"headers": [], **scope}, receive, send))
    return sent


def test_a_body_beyond_the_limit_is_refused_unread(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    sent = _through(BodyGate(_drain), {"headers": [(b"Content-Length", b"11")]}, b"x" * 11)
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"])["code"] == "body_too_large"


def test_a_body_that_hides_its_length_is_cut_off(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    assert _through(BodyGate(_drain), {}, b"x" * 6, b"x" * 4)[0]["status"] == 200
    assert _through(BodyGate(_drain), {}, b"x" * 6, b"x" * 5)[0]["status"] == 413


async def _open(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.accept"})


@pytest.mark.parametrize(
    ("origin", "verdict"),
    [
        (b"http://127.0.0.1:8000", "accept"),
        (b"https://trusted.example.com", "accept"),
        (b"http://127.0.0.1:9000", "close"),
        (b"http://evil.example.com", "close"),
        (b"null", "close"),
        (b"", "close"),
    ],
)
def test_only_our_own_pages_open_a_websocket(settings: Settings, origin: bytes, verdict: str) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://trusted.example.com"]
    headers = [(b"host", b"127.0.0.1:8000"), *([(b"origin", origin)] if origin else [])]
    assert _through(SameOrigin(_open), {"headers": headers})[0]["type"] == f"websocket.{verdict}"
