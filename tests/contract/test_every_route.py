"""Promise P8 at every door: each route of the API against everybody, from one table (route_table.py)."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver

from config.urls import api_patterns
from teams.access import PERMISSIONS_OF, Permission
from teams.models import AuditRecord, Role
from tests.apart import own_transaction
from tests.contract.route_table import ROUTES, Row, World, make_world
from tests.people import superuser

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "patch", "delete")
Key = tuple[str, str]


def _walk(patterns: list[Any], before: str = "") -> Iterator[Key]:
    for pattern in patterns:
        address = before + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, address)
        else:
            assert isinstance(pattern, URLPattern)
            view = pattern.callback.cls
            yield from ((method.upper(), address) for method in METHODS if hasattr(view, method))


EVERY_ROUTE = sorted(set(_walk(api_patterns)))
KNOWN = [key for key in EVERY_ROUTE if key in ROUTES]
IN_A_WORKSPACE = [key for key in KNOWN if isinstance(ROUTES[key].who, Permission)]
WITH_A_BODY = [key for key in KNOWN if ROUTES[key].body]
CHANGING = [key for key in KNOWN if key[0] != "GET" and ROUTES[key].who != "anyone"]  # those have no session
each_route = pytest.mark.parametrize("key", KNOWN, ids=" ".join)


@pytest.fixture
def world() -> World:
    return make_world()


def _address(key: Key, names: dict[str, str]) -> str:
    return "/api/" + key[1].format_map(names)


def _send(client: Client, key: Key, world: World, *, raw: bytes | None = None, **names: str) -> HttpResponse:
    body = ROUTES[key].body
    content = raw if raw is not None else json.dumps(body(world)).encode() if body else b""
    address = _address(key, {**world.names, **names})
    return client.generic(key[0], address, content, content_type="application/json")  # type: ignore[return-value]


def _who_may(key: Key, world: World) -> Client:
    return superuser() if ROUTES[key].who == "installation" else world.people.client(Role.OWNER)


def _problem(response: HttpResponse, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["content-type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == status
    assert body["detail"]
    return body


def test_the_table_has_a_row_for_every_route_and_none_too_many() -> None:
    assert set(EVERY_ROUTE) == set(ROUTES)


@each_route
def test_nobody_gets_in_without_signing_in(key: Key, world: World) -> None:
    response = _send(Client(), key, world)
    if ROUTES[key].who == "anyone":
        assert response.status_code != 401
    else:
        assert _problem(response, 401)["code"] == "not_signed_in"


@pytest.mark.parametrize("key", IN_A_WORKSPACE, ids=" ".join)
def test_the_stranger_finds_nothing_and_changes_nothing(key: Key, world: World) -> None:
    """langflow-ai/langflow#12380, PR 12832, PR 12305, langgenius/dify#19082: whoever knew an id read, changed and ran
    what was another team's.
    """
    recorded = AuditRecord.objects.count()
    stranger = world.people.client(None)
    _problem(_send(stranger, key, world), 404)
    _problem(_send(stranger, key, world, workspace="no-such-workspace"), 404)
    if key[1].count("{") > 1:  # Acme's things by the way of the stranger's own workspace
        _problem(_send(stranger, key, world, workspace=world.people.other.slug), 404)
    assert AuditRecord.objects.count() == recorded


@pytest.mark.parametrize("key", [key for key in IN_A_WORKSPACE if not ROUTES[key].opens_transaction], ids=" ".join)
def test_each_role_gets_what_its_permissions_say(key: Key, world: World) -> None:
    """langgenius/dify#37221, #37223, wepay/airflow-webserver#11, appsmithorg/appsmith#30136: what a role may not do was
    hidden in the pages, and not refused by the server.
    """
    for role in Role:
        with own_transaction():
            response = _send(world.people.client(role), key, world)
            transaction.set_rollback(True)
        _assert_answer(response, ROUTES[key], role)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", [key for key in IN_A_WORKSPACE if ROUTES[key].opens_transaction], ids=" ".join)
def test_each_role_gets_what_its_permissions_say_in_a_transaction_of_its_own(key: Key, world: World) -> None:
    for role in Role:
        _assert_answer(_send(world.people.client(role), key, world), ROUTES[key], role)


def _assert_answer(response: HttpResponse, row: Row, role: Role) -> None:
    if row.who in PERMISSIONS_OF[role]:
        assert response.status_code == row.answers, (role, response.content)
    else:
        problem = _problem(response, 403)
        assert problem["data"] == {"permission": str(row.who), "role": role.value}


@pytest.mark.parametrize("key", [key for key in KNOWN if ROUTES[key].who == "installation"], ids=" ".join)
def test_what_is_the_installations_is_for_nobody_with_a_role_in_a_workspace(key: Key, world: World) -> None:
    recorded = AuditRecord.objects.count()
    for role in [*Role, None]:
        for raw in (None, b'{"broken', b'{"no_such_field": 1}'):
            assert _problem(_send(world.people.client(role), key, world, raw=raw), 403)["code"] == "forbidden"
    assert AuditRecord.objects.count() == recorded
    assert _send(superuser(), key, world).status_code == ROUTES[key].answers


@pytest.mark.parametrize("key", CHANGING, ids=" ".join)
def test_nothing_changes_without_the_csrf_token(key: Key, world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people.members[Role.OWNER])
    recorded = AuditRecord.objects.count()
    assert _problem(_send(client, key, world), 403)["code"] == "csrf_failed"
    assert AuditRecord.objects.count() == recorded


BAD_BODIES = {
    "broken JSON": (b'{"a": ', 400, "malformed_json"),
    "no JSON": (b"\xff\xfe", 400, "malformed_json"),
    "NaN": (b'{"a": NaN}', 400, "malformed_json"),
    "a number of 5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", 400, "malformed_json"),
    "nested 10,000 levels": (b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", 400, "malformed_json"),
    "nested 101 levels": (b'{"a": ' + b"[" * 101 + b"]" * 101 + b"}", 400, "malformed_json"),
    "a list": (b"[]", 400, "bad_input"),
    "a text": (b'"text"', 400, "bad_input"),
    "an unknown field": (b'{"no_such_field": 1}', 400, "bad_input"),
    "11 MB": (b'{"a": "' + b"x" * 11_000_000 + b'"}', 413, "body_too_large"),
}


@pytest.mark.parametrize("key", WITH_A_BODY, ids=" ".join)
def test_bad_bodies_are_named_and_change_nothing(key: Key, world: World) -> None:
    owner = _who_may(key, world)
    recorded = AuditRecord.objects.count()
    for what, (raw, status, code) in BAD_BODIES.items():
        problem = _problem(_send(owner, key, world, raw=raw), status)
        assert problem["code"] == code, what
        if what == "an unknown field":
            told = {"field": "no_such_field", "label": "No such field", "pointer": "/no_such_field"}
            assert {**told, "message": "There is no such field."} in problem["data"]["fields"]
    assert AuditRecord.objects.count() == recorded


TAKES_ANY_JSON = {"output"}


@pytest.mark.parametrize("key", WITH_A_BODY, ids=" ".join)
def test_each_field_refuses_a_wrong_type_by_its_name(key: Key, world: World) -> None:
    body = ROUTES[key].body
    assert body is not None
    owner = _who_may(key, world)
    recorded = AuditRecord.objects.count()
    right = body(world)
    for name, value in right.items():
        if name in TAKES_ANY_JSON:
            continue
        wrong = {**right, name: "text" if not isinstance(value, str) else ["a list"]}
        problem = _problem(_send(owner, key, world, raw=json.dumps(wrong).encode()), 400)
        assert problem["data"]["fields"][0]["field"].startswith(name), problem
    assert AuditRecord.objects.count() == recorded


@pytest.mark.parametrize("limit", ["-1", "0", "201", "many"])
@pytest.mark.parametrize("list_of", ["workflows", "workflows/{workflow_id}/versions"])
def test_a_limit_that_makes_no_sense_is_refused_by_name(list_of: str, limit: str, world: World) -> None:
    address = _address(("GET", "workspaces/{workspace}/" + list_of), world.names)
    problem = _problem(world.people.client(Role.VIEWER).get(f"{address}?limit={limit}"), 400)
    assert problem["data"]["fields"][0]["field"] == "limit"


@pytest.mark.parametrize("cursor", ["x", "W10", "WzFd", "WyJhIiwiYiJd", "e30"])
@pytest.mark.parametrize("list_of", ["workflows", "workflows/{workflow_id}/versions"])
def test_a_cursor_that_nobody_gave_is_refused(list_of: str, cursor: str, world: World) -> None:
    address = _address(("GET", "workspaces/{workspace}/" + list_of), world.names)
    response = world.people.client(Role.VIEWER).get(f"{address}?cursor={cursor}")
    if (list_of, cursor) == ("workflows/{workflow_id}/versions", "WzFd"):  # [1]: a good one
        assert response.status_code == 200
    else:
        assert _problem(response, 400)["code"] == "bad_cursor"


@pytest.mark.parametrize("address", ["/api/", "/api/nothing", "/api/session/", "/api/workspaces/a b/members"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_route_is_a_problem_not_a_page(address: str, method: str) -> None:
    assert _problem(Client(enforce_csrf_checks=True).generic(method, address), 404)["code"] == "not_found"


def test_a_method_that_a_route_does_not_have_is_405(world: World) -> None:
    response = world.people.client(Role.OWNER).delete("/api/session")
    assert _problem(response, 405)["code"] == "method_not_allowed"
    assert "GET" in response["allow"]


def test_a_form_is_not_taken_for_json(world: World) -> None:
    address = _address(("POST", "workspaces/{workspace}/workflows"), world.names)
    response = world.people.client(Role.OWNER).post(address, {"name": "new"})
    assert _problem(response, 415)["code"] == "unsupported_media_type"
