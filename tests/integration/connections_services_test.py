import json
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from builder.connections.errors import (
    BadConnection,
    ConnectionInUse,
    ConnectionNameTaken,
    ConnectionNotFound,
    ConnectionUnreadable,
)
from builder.connections.masking import MARK, Masker
from builder.connections.models import Connection
from builder.connections.sealing import seal
from builder.connections.selectors import SECRETS, connection_for, settings_of, shown_settings
from builder.connections.services import create_connection, delete_connection, update_connection
from builder.workflows.services import create_workflow, publish, save_draft
from kit.errors import Forbidden, NotFound
from teams.access import SYSTEM, person
from teams.models import AuditRecord, Role
from tests.people import Cast, cast

pytestmark = pytest.mark.django_db

TOKEN = "tok-7f3a9c55e1"
HTTP = {"base_url": "https://api.example.com", "token": TOKEN, "headers": {"X-Key": "Key second-secret-1"}}


@pytest.fixture
def people() -> Cast:
    return cast()


def made(people: Cast, name: str = "api") -> Connection:
    return create_connection(
        actor=people.actor(Role.ADMIN), workspace=people.acme, name=name, kind="http", settings=HTTP
    )


def test_the_stranger_and_the_editor_keep_no_connections(people: Cast) -> None:
    connection = made(people)
    for actor, refusal in ((person(people.stranger), NotFound), (people.actor(Role.EDITOR), Forbidden)):
        with pytest.raises(refusal):
            create_connection(actor=actor, workspace=people.acme, name="x", kind="http", settings=HTTP)
        with pytest.raises(refusal):
            update_connection(actor=actor, connection=connection, name="x")
        with pytest.raises(refusal):
            delete_connection(actor=actor, connection=connection)
    with pytest.raises(ConnectionNotFound):
        connection_for(person(people.stranger), people.other, connection.id)
    assert Connection.objects.get().name == "api"


def test_secrets_are_sealed_and_only_the_rest_is_shown(people: Cast) -> None:
    connection = made(people)
    connection.refresh_from_db()
    assert TOKEN not in connection.sealed
    shown = shown_settings(connection)
    assert shown.settings == {"base_url": "https://api.example.com", "user": ""}
    assert shown.secrets == ["headers", "token"]


def test_the_worker_gets_everything_and_the_texts_to_mask(people: Cast) -> None:
    found = settings_of(made(people).workspace_id, ["api", "missing"])
    assert list(found) == ["api"]
    assert found["api"]["token"] == TOKEN
    masker = Masker(found["api"][SECRETS])
    assert masker.text(f"Bearer {TOKEN}; second-secret-1") == f"Bearer {MARK}; {MARK}"
    assert settings_of(people.other.id, ["api"]) == {}


def test_no_secret_reaches_the_trail(people: Cast) -> None:
    connection = made(people)
    update_connection(actor=SYSTEM, connection=connection, settings={**HTTP, "token": "another-secret-2"})
    delete_connection(actor=SYSTEM, connection=connection)
    trail = json.dumps(list(AuditRecord.objects.values_list("action", "data")))
    assert "connection.update" in trail
    assert '"changed": ["token"]' in trail
    for secret in (TOKEN, "another-secret-2", "second-secret-1"):
        assert secret not in trail


def test_an_update_keeps_the_secrets_that_it_does_not_mention(people: Cast) -> None:
    connection = made(people)
    update_connection(actor=SYSTEM, connection=connection, settings={"base_url": HTTP["base_url"], "user": "ana"})
    found = settings_of(people.acme.id, ["api"])["api"]
    assert (found["user"], found["token"]) == ("ana", TOKEN)
    update_connection(
        actor=SYSTEM, connection=connection, settings={"base_url": HTTP["base_url"], "token": "", "headers": {}}
    )
    assert settings_of(people.acme.id, ["api"])["api"][SECRETS] == []


def test_kept_secrets_cannot_be_sent_to_another_server(people: Cast) -> None:
    connection = made(people)
    with pytest.raises(BadConnection) as refusal:
        update_connection(actor=SYSTEM, connection=connection, settings={"base_url": "https://evil.example.com"})
    assert [each["field"] for each in refusal.value.data["fields"]] == ["settings.headers", "settings.token"]
    assert settings_of(people.acme.id, ["api"])["api"]["base_url"] == HTTP["base_url"]


@pytest.mark.parametrize(
    ("kind", "settings", "field"),
    [
        ("ftp", {}, "kind"),
        ("http", {}, "settings.base_url"),
        ("http", {"base_url": "file:///etc"}, "settings.base_url"),
        ("http", {"base_url": f"https://user:{TOKEN}@api.example.com"}, "settings.base_url"),
        ("http", {**HTTP, "nonsense": TOKEN}, "settings.nonsense"),
        ("smtp", {"host": "mail", "port": TOKEN}, "settings.port"),
        ("smtp", {"host": "mail", "port": -1}, "settings.port"),
        ("sql", {"password": TOKEN}, "settings"),
    ],
)
def test_wrong_settings_are_named_without_their_values(
    people: Cast, kind: str, settings: dict[str, object], field: str
) -> None:
    with pytest.raises(BadConnection) as refusal:
        create_connection(actor=SYSTEM, workspace=people.acme, name="x", kind=kind, settings=settings)
    assert refusal.value.data["fields"][0]["field"] == field
    assert TOKEN not in refusal.value.message + json.dumps(refusal.value.data)
    assert not Connection.objects.exists()


def test_names_are_unique_in_a_workspace_only(people: Cast) -> None:
    made(people)
    with pytest.raises(ConnectionNameTaken):
        made(people)
    create_connection(actor=SYSTEM, workspace=people.other, name="api", kind="http", settings=HTTP)


def test_a_connection_that_a_live_version_uses_is_neither_deleted_nor_renamed(people: Cast) -> None:
    connection = made(people)
    start = {"id": "n1", "key": "start", "kind": "start"}
    fetch = {"id": "n2", "key": "fetch", "kind": "http_request", "config": {"url": "/x", "connection": "api"}}
    edge = {"id": "e1", "source": "n1", "target": "n2"}
    using = {"schema": 1, "nodes": [start, fetch], "edges": [edge]}
    workflow = create_workflow(actor=SYSTEM, workspace=people.acme, name="Invoices", graph=using)
    publish(actor=SYSTEM, workflow=workflow, revision=1)

    with pytest.raises(ConnectionInUse) as refusal:
        delete_connection(actor=SYSTEM, connection=connection)
    assert refusal.value.data == {"workflows": [{"id": str(workflow.id), "name": "Invoices"}]}
    with pytest.raises(ConnectionInUse):
        update_connection(actor=SYSTEM, connection=connection, name="other")

    save_draft(actor=SYSTEM, workflow=workflow, revision=1, graph={"nodes": [start], "edges": []})
    publish(actor=SYSTEM, workflow=workflow, revision=2)
    delete_connection(actor=SYSTEM, connection=connection)
    assert not Connection.objects.exists()


def test_an_older_key_still_opens_and_a_lost_one_says_so(people: Cast, settings: Settings) -> None:
    connection = made(people)
    old, new = settings.ENCRYPTION_KEYS, [Fernet.generate_key().decode()]
    settings.ENCRYPTION_KEYS = new + old
    assert shown_settings(connection).secrets
    update_connection(actor=SYSTEM, connection=connection, settings=HTTP)
    connection.refresh_from_db()
    settings.ENCRYPTION_KEYS = new
    assert shown_settings(connection).secrets
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(ConnectionUnreadable, match="PAWL_ENCRYPTION_KEYS"):
        shown_settings(connection)
    settings.ENCRYPTION_KEYS = []
    with pytest.raises(ConnectionUnreadable, match="No encryption key"):
        seal(connection.id, {})


def test_after_resealing_the_older_key_can_go(people: Cast, settings: Settings) -> None:
    connection = made(people)
    old, new = settings.ENCRYPTION_KEYS, [Fernet.generate_key().decode()]
    settings.ENCRYPTION_KEYS = new + old
    call_command("reseal_connections")
    settings.ENCRYPTION_KEYS = new
    connection.refresh_from_db()
    assert shown_settings(connection).secrets == ["headers", "token"]
    settings.ENCRYPTION_KEYS = old
    with pytest.raises(CommandError, match="PAWL_ENCRYPTION_KEYS"):
        call_command("reseal_connections")


def test_what_is_sealed_for_one_row_does_not_open_in_another(people: Cast) -> None:
    connection = made(people)
    connection.sealed = seal(UUID(int=1), HTTP)
    with pytest.raises(ConnectionUnreadable, match="belongs to another"):
        shown_settings(connection)
