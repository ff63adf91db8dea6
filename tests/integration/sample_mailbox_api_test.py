"""The mailbox's two addresses: members of the demo's workspace read mails; nobody else learns that there are any."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from sample.mailbox import keep_mail
from teams.models import Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db

MAIL = b"From: pawl@acme.example\r\nTo: finance@acme.example\r\nSubject: Batch\r\nMessage-ID: <1@pawl>\r\n\r\nReady."


@pytest.fixture
def mail_id(settings: LazySettings, tmp_path: Path) -> str:
    settings.SAMPLE_STATE = tmp_path
    (tmp_path / "mails").mkdir()
    return keep_mail(tmp_path / "mails", MAIL)


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Cast:
    found = cast()
    monkeypatch.setattr("sample.api.DEMO_WORKSPACE", found.acme.slug)
    return found


def test_a_stranger_finds_no_mailbox(people: Cast, mail_id: str) -> None:
    client = people.client(None)
    for path in ("mailbox", f"mailbox/{mail_id}"):
        assert client.get(f"/api/workspaces/{people.acme.slug}/{path}").status_code == 404


def test_the_mails_of_the_demo_are_not_in_another_workspace(people: Cast, mail_id: str) -> None:
    client = people.client(None)  # who owns the other one
    for path in ("mailbox", f"mailbox/{mail_id}"):
        answer = client.get(f"/api/workspaces/{people.other.slug}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "no_mailbox")


@pytest.mark.parametrize("role", list(Role))
def test_every_member_reads_the_mails(people: Cast, mail_id: str, role: Role) -> None:
    client = people.client(role)
    listed = client.get(f"/api/workspaces/{people.acme.slug}/mailbox").json()
    assert [(mail["id"], mail["subject"], mail["to"]) for mail in listed["items"]] == [
        (mail_id, "Batch", "finance@acme.example")
    ]
    opened = client.get(f"/api/workspaces/{people.acme.slug}/mailbox/{mail_id}").json()
    assert opened["text"] == "Ready."
    assert opened["mail"] == listed["items"][0]


def test_an_id_that_is_none_is_not_found(people: Cast, mail_id: str) -> None:
    answer = people.client(Role.OWNER).get(f"/api/workspaces/{people.acme.slug}/mailbox/..%2F..%2Ftoken")
    assert answer.status_code == 404


def test_where_no_mail_server_runs_there_is_no_mailbox(people: Cast, settings: LazySettings, tmp_path: Path) -> None:
    settings.SAMPLE_STATE = tmp_path / "nowhere"
    answer = people.client(Role.OWNER).get(f"/api/workspaces/{people.acme.slug}/mailbox")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_mailbox")
