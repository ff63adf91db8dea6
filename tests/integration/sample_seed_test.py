"""What `make run` seeds: once, and the same after every further start."""

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection

from builder.connections.models import Connection
from builder.connections.selectors import settings_of
from builder.workflows.models import Version, Workflow
from builder.workflows.selectors import draft_of, workflows_of
from sample.database import SQLITE_FILE, given_database
from sample.graphs import API, DATABASE, MAILBOX
from sample.seed import seed_demo
from sample.state import SampleState
from teams.access import SYSTEM
from teams.models import AuditRecord, Membership, User, Workspace
from tests.conftest import Servers

PASSWORD = "a long enough password"
COUNT = "select (select count(*) from purchase_orders), (select count(*) from purchase_order_lines)"
COUNTED = (12, 27)


@pytest.fixture(autouse=True)
def places(settings: LazySettings, tmp_path: Path) -> None:
    settings.SAMPLE_STATE = tmp_path / "sample"
    settings.STORAGE_ROOT = tmp_path / "storage"
    settings.SAMPLE_HTTP, settings.SAMPLE_SMTP = "127.0.0.1:8765", "127.0.0.1:8766"
    settings.SAMPLE_DATABASE_URL = ""


def seed() -> Workspace:
    return seed_demo(password=PASSWORD, say=lambda text: None)


def rows() -> dict[str, Any]:
    kinds = (User, Workspace, Membership, Connection, Workflow, Version, AuditRecord)
    return {kind.__name__: list(kind.objects.order_by("pk").values()) for kind in kinds}


@pytest.mark.django_db
def test_the_demo_has_a_user_who_owns_a_workspace_with_two_published_workflows() -> None:
    workspace = seed()
    [membership] = Membership.objects.filter(workspace=workspace)
    assert membership.user.check_password(PASSWORD)
    assert (membership.user.email, membership.role) == ("demo@pawl.local", "owner")
    versions = Version.objects.filter(workflow__workspace=workspace).values_list("workflow__name", "number")
    assert set(versions) == {("Supplier invoices", 1), ("Agents hand work on", 1)}


@pytest.mark.django_db
def test_the_drafts_have_no_problems_not_even_warnings() -> None:
    workspace = seed()
    drafts = {row.name: draft_of(row)["problems"] for row in workflows_of(SYSTEM, workspace)}
    assert drafts == {"Supplier invoices": [], "Agents hand work on": []}


@pytest.mark.django_db
def test_seeding_a_second_time_changes_nothing() -> None:
    seed()
    before = rows()
    seed()
    assert rows() == before


@pytest.mark.django_db
def test_a_port_that_moved_moves_in_its_connection_alone(settings: LazySettings) -> None:
    workspace = seed()
    before = {row["name"]: row["sealed"] for row in Connection.objects.values()}
    settings.SAMPLE_HTTP = "127.0.0.1:9999"
    seed()
    after = {row["name"]: row["sealed"] for row in Connection.objects.values()}
    assert {name for name in before if before[name] != after[name]} == {API}
    assert settings_of(workspace.id, [API])[API]["base_url"] == "http://127.0.0.1:9999"


@pytest.mark.django_db
def test_the_connections_hold_the_token_of_the_sample_s_servers(settings: LazySettings) -> None:
    workspace = seed()
    token = SampleState(Path(settings.SAMPLE_STATE)).token
    opened = settings_of(workspace.id, [API, DATABASE, MAILBOX])
    assert opened[API]["token"] == opened[MAILBOX]["password"] == token
    assert not any(token in sealed for sealed in Connection.objects.values_list("sealed", flat=True))


@pytest.mark.django_db
def test_a_workflow_that_somebody_changed_stays_as_it_is() -> None:
    seed()
    Workflow.objects.filter(name="Supplier invoices").update(archived_at=None)
    draft = Workflow.objects.get(name="Supplier invoices").draft
    draft.graph, draft.revision = '{"schema":1,"nodes":[],"edges":[]}', 7
    draft.save()
    seed()
    draft.refresh_from_db()
    assert draft.revision == 7


@pytest.mark.django_db
def test_where_pawl_may_not_make_databases_a_file_in_the_workspace_takes_its_place(
    settings: LazySettings,
) -> None:
    said: list[str] = []
    workspace = seed_demo(password=PASSWORD, say=said.append)
    file = Path(settings.STORAGE_ROOT) / str(workspace.id) / SQLITE_FILE
    database = sqlite3.connect(file)
    assert database.execute(COUNT).fetchone() == COUNTED
    database.close()
    assert any("SQLite file, because" in text for text in said)


@pytest.mark.django_db
def test_a_given_database_is_filled_once_and_its_role_sees_nothing_of_pawl_s(servers: Servers) -> None:
    servers.postgres.provision("orders", user="orders", password="secret")
    url = servers.postgres.url("orders", user="orders", password="secret")
    for _ in range(2):
        given_database(url, batch="2026-03")
    with psycopg.connect(url) as orders:
        assert orders.execute(COUNT).fetchone() == COUNTED
    ours = str(connection.settings_dict["NAME"])
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(servers.postgres.url("pawl", user="orders", password="secret"))
    assert ours != "orders"


@pytest.mark.django_db
def test_without_a_password_the_command_says_which_variable_is_missing(settings: LazySettings) -> None:
    settings.DEMO_PASSWORD = ""
    with pytest.raises(CommandError, match="PAWL_DEMO_PASSWORD"):
        call_command("seed_demo")
