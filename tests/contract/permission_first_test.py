"""Who may not act is told so whatever they sent, and what they may not see does not exist: every route of the table."""

import ast
import json
from typing import Any

import pytest
from django.test import Client

from teams.access import PERMISSIONS_OF, Permission
from teams.models import AuditRecord, Role
from tests.contract import sources
from tests.contract.route_table import ROUTES, World, make_world

pytestmark = pytest.mark.django_db

Key = tuple[str, str]
IN_A_WORKSPACE = [key for key in sorted(ROUTES) if isinstance(ROUTES[key].who, Permission)]
CHANGING = [key for key in IN_A_WORKSPACE if key[0] != "GET"]
OF_A_THING = [key for key in IN_A_WORKSPACE if key[1].count("{") > 1]

JSON = "application/json"
WRONG_BODIES = [
    (b'{"a": ', JSON),
    (b"\xff\xfe", JSON),
    (b'{"no_such_field": 1}', JSON),
    (b"[" * 10_000 + b"]" * 10_000, JSON),
    (b'{"a": "' + b"x" * 11_000_000 + b'"}', JSON),
    (b"no_such_field=1", "text/plain"),
    (b"", JSON),
]


@pytest.fixture
def world() -> World:
    return make_world()


def _send(client: Client, key: Key, names: dict[str, str], wrong: tuple[bytes, str]) -> tuple[int, dict[str, Any]]:
    address = "/api/" + key[1].format_map(names)
    query = "?limit=many&no_such_field=1" if key[0] == "GET" else ""
    body, kind = wrong
    answer = client.generic(key[0], address + query, b"" if key[0] == "GET" else body, content_type=kind)
    return answer.status_code, json.loads(answer.content)


@pytest.mark.parametrize("key", CHANGING, ids=" ".join)
def test_a_role_without_the_permission_is_refused_whatever_it_sends(key: Key, world: World) -> None:
    who = ROUTES[key].who
    assert isinstance(who, Permission)
    recorded = AuditRecord.objects.count()
    for role in [role for role in Role if who not in PERMISSIONS_OF[role]]:
        client = world.people.client(role)
        for wrong in WRONG_BODIES if role is Role.VIEWER else WRONG_BODIES[:3]:
            status, problem = _send(client, key, world.names, wrong)
            assert (status, problem["code"]) == (403, "forbidden"), (role, wrong[0][:20], problem)
            assert problem["data"] == {"permission": str(who), "role": role.value}
    assert AuditRecord.objects.count() == recorded


def test_a_viewer_who_sends_a_wrong_body_is_refused_and_not_corrected(world: World) -> None:
    key = ("POST", "workspaces/{workspace}/workflows")
    status, problem = _send(world.people.client(Role.VIEWER), key, world.names, (b'{"no_such_field": 1}', JSON))
    assert (status, problem["code"]) == (403, "forbidden")


@pytest.mark.parametrize("key", IN_A_WORKSPACE, ids=" ".join)
def test_a_stranger_learns_nothing_by_a_wrong_request(key: Key, world: World) -> None:
    for wrong in WRONG_BODIES[:3]:
        assert _send(world.people.client(None), key, world.names, wrong)[0] == 404, wrong[0]


@pytest.mark.parametrize("key", OF_A_THING, ids=" ".join)
def test_another_workspaces_thing_does_not_exist_before_anything_else_is_looked_at(key: Key, world: World) -> None:
    """Olga, who may do everything in her own workspace, and asks there for what is Acme's."""
    names = {**world.names, "workspace": world.people.other.slug}
    for wrong in WRONG_BODIES[:3]:
        assert _send(world.people.client(None), key, names, wrong)[0] == 404, wrong[0]


def test_only_the_door_itself_looks_at_what_was_sent() -> None:
    """A view that reads a request by itself could look before it asks who may."""
    found = [
        f"{sources.place(name, node)}: .{node.attr}"
        for name in sources.python_files(tests=False)
        if "/api/" in name and name != "teams/api/doors.py"
        for node in ast.walk(sources.tree(name))
        if isinstance(node, ast.Attribute)
        and node.attr in ("data", "query_params", "POST", "GET", "body")
        and isinstance(node.value, ast.Name)
        and node.value.id == "request"
    ]
    assert [each for each in found if not each.startswith("runs/api/callbacks.py")] == []  # a link asks for no account
