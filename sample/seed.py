"""The demo's data: user, workspace, connections, workflows. Repeating it changes only what has moved (a port)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection as server
from django.db import transaction

from builder.connections.models import Connection
from builder.connections.selectors import connections_of, settings_of
from builder.connections.services import create_connection, update_connection
from builder.workflows.models import Draft
from builder.workflows.selectors import workflows_of
from builder.workflows.services import create_workflow, publish
from sample.database import SampleDatabase, given_database, own_database
from sample.graphs import AGENTS_NAME, API, DATABASE, INVOICES_NAME, MAILBOX, agents, supplier_invoices
from sample.settings import DEMO_EMAIL, DEMO_WORKSPACE, http_address, sample_state, smtp_address
from sample.smtp import USER as MAIL_USER
from sample.web import BATCH
from teams.access import SYSTEM
from teams.models import User, Workspace
from teams.services import create_user, create_workspace

Say = Callable[[str], None]


def seed_demo(*, password: str, say: Say) -> Workspace:
    """Raises what the services raise; what was begun then is gone on with the next time."""
    with transaction.atomic():
        workspace = _workspace(_user(password, say=say), say=say)
    database = _database(workspace)
    say(f"Purchase orders: {database.note}")
    with transaction.atomic():
        _connections(workspace, database)
    for name, graph in ((INVOICES_NAME, supplier_invoices()), (AGENTS_NAME, agents())):
        _workflow(workspace, name, graph=graph, say=say)
    return workspace


def _user(password: str, *, say: Say) -> User:
    found = User.objects.filter(email=DEMO_EMAIL).first()
    if found is None:
        say(f"Made the user {DEMO_EMAIL}")
        return create_user(actor=SYSTEM, email=DEMO_EMAIL, name="Demo", password=password)
    return found


def _workspace(owner: User, *, say: Say) -> Workspace:
    found = Workspace.objects.filter(slug=DEMO_WORKSPACE).first()
    if found is None:
        say("Made the workspace Acme")
        return create_workspace(actor=SYSTEM, name="Acme", slug=DEMO_WORKSPACE, owner=owner)
    return found


def _database(workspace: Workspace) -> SampleDatabase:
    """Outside the transaction: it is another database."""
    if settings.SAMPLE_DATABASE_URL:
        return given_database(settings.SAMPLE_DATABASE_URL, batch=BATCH)
    return own_database(
        server.settings_dict,
        secret_key=settings.SECRET_KEY,
        storage=Path(settings.STORAGE_ROOT) / str(workspace.id),
        batch=BATCH,
    )


def _connections(workspace: Workspace, database: SampleDatabase) -> None:
    token, smtp = sample_state().token, smtp_address()
    mailbox = {
        "host": smtp.host,
        "port": smtp.port,
        "security": "none",
        "user": MAIL_USER,
        "password": token,
        "sender": "pawl@acme.example",
    }
    _connection(workspace, API, kind="http", values={"base_url": f"http://{http_address()}", "token": token})
    _connection(workspace, DATABASE, kind="sql", values=database.connection)
    _connection(workspace, MAILBOX, kind="smtp", values=mailbox)


def _connection(workspace: Workspace, name: str, *, kind: str, values: Mapping[str, Any]) -> None:
    found = connections_of(SYSTEM, workspace).filter(name=name).first()
    if found is None:
        create_connection(actor=SYSTEM, workspace=workspace, name=name, kind=kind, settings=values)
    elif _differs(found, values):
        update_connection(actor=SYSTEM, connection=found, settings=values)


def _differs(connection: Connection, values: Mapping[str, Any]) -> bool:
    kept = settings_of(connection.workspace_id, [connection.name])[connection.name]
    return any(kept.get(field) != value for field, value in values.items())


def _workflow(workspace: Workspace, name: str, *, graph: dict[str, Any], say: Say) -> None:
    """What somebody has made of an earlier one stays as it is. Publishing is a transaction of its own: a draft that is
    still as it was made, and was never published, is from a start that was cut off.
    """
    workflow = workflows_of(SYSTEM, workspace).filter(name=name).first()
    if workflow is None:
        workflow = create_workflow(actor=SYSTEM, workspace=workspace, name=name, graph=graph)
    draft = Draft.objects.get(workflow=workflow)
    if workflow.versions.exists() or draft.updated_by is not None or draft.revision > 1:
        return
    version = publish(actor=SYSTEM, workflow=workflow, revision=draft.revision, note="The sample, as it comes")
    say(f"Published '{name}' as version {version.number}")
