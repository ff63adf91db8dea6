"""Questions about connections."""

from collections.abc import Iterable
from typing import Any, TypedDict
from uuid import UUID

from django.conf import settings as django_settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from builder.connections.errors import ConnectionNotFound
from builder.connections.kinds import Shown, secrets_of, shown
from builder.connections.models import Connection
from builder.connections.sealing import unseal
from kit.errors import AppError
from teams.access import SYSTEM, Actor, visible_to
from teams.models import Workspace

SECRETS = "_secrets"


class UsingWorkflow(TypedDict):
    id: str
    name: str


def connections_of(actor: Actor, workspace: Workspace) -> QuerySet[Connection]:
    return visible_to(actor, Connection.objects.all(), workspace).order_by("name")


def connection_for(actor: Actor, workspace: Workspace, connection_id: UUID) -> Connection:
    found = connections_of(actor, workspace).select_related("workspace").filter(id=connection_id).first()
    if found is None:
        raise ConnectionNotFound("There is no such connection in this workspace.")
    return found


def shown_settings(connection: Connection) -> Shown:
    """The settings that anybody in the workspace may see, and the names of the secret ones that are set."""
    return shown(connection.kind, unseal(connection.id, connection.sealed))


def kinds_in(workspace: Workspace) -> dict[str, str]:
    """name -> kind, of every connection of the workspace: what graphs are checked against, whoever looks at them."""
    return dict(visible_to(SYSTEM, Connection.objects.all(), workspace).values_list("name", "kind"))


def used_by(connection: Connection) -> list[UsingWorkflow]:
    """Workflows whose newest version names it. Who they are, only the room above knows: settings.CONNECTION_USERS."""
    find = import_string(django_settings.CONNECTION_USERS)
    users: list[UsingWorkflow] = find(connection.workspace_id, connection.name)
    return users


# ------------------------------------------------------------------ for the worker, which answers to nobody's role


def settings_of(workspace_id: UUID, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """name -> all settings, secrets too, of those that exist. Give them to the child, store them nowhere.

    Under SECRETS each lists the texts that must be masked in whatever comes back; the runner keeps it from the body.
    """
    wanted = list(names)
    if not wanted:
        return {}
    rows = _rows_of(workspace_id).filter(name__in=wanted)
    return {row.name: _with_secrets(row.kind, unseal(row.id, row.sealed)) for row in rows}


def _rows_of(workspace_id: UUID) -> QuerySet[Connection]:
    return Connection.objects.filter(workspace_id=workspace_id)


def secrets_in(workspace_id: UUID) -> list[str]:
    """The texts that must be masked in whatever comes into the workspace from outside, by one look at its connections.
    One that cannot be opened here has secrets that nobody here can know.
    """
    found: list[str] = []
    for row in _rows_of(workspace_id).only("id", "kind", "sealed"):
        try:
            found += secrets_of(row.kind, unseal(row.id, row.sealed))
        except (AppError, KeyError):
            continue
    return found


def _with_secrets(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    return {**values, SECRETS: sorted(secrets_of(kind, values))}
