"""Saved views: a person's own, and what is shared."""

import json
from typing import Any

import pytest

from builder.connections.services import create_connection
from runs import saved
from teams.access import SYSTEM
from teams.models import AuditRecord, Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> Cast:
    return cast()


def send(people: Cast, role: Role | None, method: str, address: str = "", **body: Any) -> tuple[int, Any]:
    url = f"/api/workspaces/{people.acme.slug}/views{address}"
    answer = people.client(role).generic(method, url, json.dumps(body), content_type="application/json")
    return answer.status_code, json.loads(answer.content or b"null")


def names(people: Cast, role: Role) -> list[str]:
    return [view["name"] for view in send(people, role, "GET")[1]["items"]]


def test_own_views_are_seen_by_nobody_else_and_shared_ones_by_all(people: Cast) -> None:
    status, mine = send(people, Role.OPERATOR, "POST", name="mine", query="status=failed")
    assert (status, mine["is_mine"], mine["is_shared"], mine["owner"]) == (201, True, False, "Operator")
    _, shared = send(people, Role.OPERATOR, "POST", name="Nightly", query="q=nightly", is_shared=True)
    send(people, Role.VIEWER, "POST", name="own", query="")
    assert names(people, Role.OPERATOR) == ["mine", "Nightly"]
    assert names(people, Role.VIEWER) == ["own", "Nightly"]
    assert send(people, None, "GET")[0] == 404
    assert send(people, Role.VIEWER, "PATCH", f"/{mine['id']}", name="x")[1]["code"] == "view_not_found"
    assert send(people, Role.VIEWER, "PATCH", f"/{shared['id']}", name="x")[0] == 403
    assert send(people, Role.VIEWER, "DELETE", f"/{shared['id']}")[0] == 403
    assert send(people, Role.EDITOR, "DELETE", f"/{shared['id']}")[0] == 204
    assert list(AuditRecord.objects.filter(target_kind="savedview").values_list("action", flat=True)) == [
        "view.create",
        "view.delete",
    ]


def test_a_view_is_renamed_changed_shared_and_deleted_by_its_owner(people: Cast) -> None:
    _, view = send(people, Role.EDITOR, "POST", name="mine", query="status=failed")
    address = f"/{view['id']}"
    assert send(people, Role.EDITOR, "PATCH", address, query="q=a", is_shared=True)[1]["query"] == "q=a"
    assert send(people, Role.EDITOR, "PATCH", address, name="ours")[1]["name"] == "ours"
    assert names(people, Role.VIEWER) == ["ours"]
    assert send(people, Role.EDITOR, "DELETE", address) == (204, None)
    assert names(people, Role.EDITOR) == []


def test_what_cannot_be_is_refused_and_changes_nothing(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = send(people, Role.EDITOR, "POST", name="one", query="")
    _, second = send(people, Role.EDITOR, "POST", name="two", query="")
    assert send(people, Role.EDITOR, "POST", name="one", query="")[1]["code"] == "view_name_taken"
    assert send(people, Role.EDITOR, "PATCH", f"/{second['id']}", name="one")[1]["code"] == "view_name_taken"
    assert send(people, Role.VIEWER, "POST", name="v", query="", is_shared=True)[0] == 403
    assert send(people, Role.EDITOR, "POST", name=" ", query="")[0] == 400
    settings = {"base_url": "https://example.com", "token": "a-token-of-the-tests"}
    create_connection(actor=SYSTEM, workspace=people.acme, name="api", kind="http", settings=settings)
    _, refused = send(people, Role.EDITOR, "POST", name="three", query="q=a-token-of-the-tests")
    assert refused["code"] == "holds_secret"
    monkeypatch.setattr(saved, "VIEWS_OF_A_PERSON", 2)
    assert send(people, Role.EDITOR, "POST", name="three", query="")[1]["code"] == "too_many_views"
    assert names(people, Role.EDITOR) == ["one", "two"]
    assert send(people, Role.VIEWER, "POST", name="one", query="")[0] == 201, "names are one's own"
    assert first["name"] == "one"
