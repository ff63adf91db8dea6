"""What connections go through. Each function: permission, act, audit, in one transaction. The trail tells which fields
changed, never their values."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from builder.connections.errors import ConnectionInUse, ConnectionNameTaken
from builder.connections.kinds import check_kind, checked, merged
from builder.connections.models import Connection
from builder.connections.sealing import seal, unseal
from builder.connections.selectors import used_by
from kit.ids import new_id
from teams import audit
from teams.access import Actor, Permission, require, require_system
from teams.models import Workspace


@transaction.atomic
def create_connection(
    *, actor: Actor, workspace: Workspace, name: str, kind: str, settings: Mapping[str, Any]
) -> Connection:
    """Raises BadConnection, ConnectionNameTaken."""
    require(actor, Permission.CONNECT, workspace)
    check_kind(kind)
    complete = checked(kind, settings)
    connection = Connection(id=new_id(), workspace=workspace, name=name, kind=kind, updated_by=actor.user)
    connection.sealed = seal(connection.id, complete)
    _save(connection)
    audit.record(actor, "connection.create", target=connection, workspace=workspace, data={"name": name, "kind": kind})
    return connection


@transaction.atomic
def update_connection(
    *, actor: Actor, connection: Connection, name: str | None = None, settings: Mapping[str, Any] | None = None
) -> Connection:
    """Secrets that `settings` leaves out stay, unless the connection now leads elsewhere: then give them again.

    Raises BadConnection, ConnectionNameTaken, ConnectionInUse (workflows name it, and would not find it any more).
    """
    require(actor, Permission.CONNECT, connection.workspace)
    connection = Connection.objects.select_for_update().select_related("workspace").get(pk=connection.pk)
    changed = []
    if name is not None and name != connection.name:
        _refuse_if_used(connection, "renamed")
        connection.name = name
        changed.append("name")
    if settings is not None:
        kept = unseal(connection.id, connection.sealed)
        complete = merged(connection.kind, kept, settings)
        changed += sorted(field for field, value in complete.items() if value != kept.get(field))
        connection.sealed = seal(connection.id, complete)
    connection.updated_by = actor.user
    _save(connection)
    audit.record(
        actor, "connection.update", target=connection, workspace=connection.workspace, data={"changed": changed}
    )
    return connection


@transaction.atomic
def delete_connection(*, actor: Actor, connection: Connection) -> None:
    """Raises ConnectionInUse while the newest version of a workflow names it."""
    require(actor, Permission.CONNECT, connection.workspace)
    _refuse_if_used(connection, "deleted")
    audit.record(
        actor,
        "connection.delete",
        target=connection,
        workspace=connection.workspace,
        data={"name": connection.name, "kind": connection.kind},
    )
    connection.delete()


@transaction.atomic
def reseal_all(*, actor: Actor) -> int:
    """Seals every connection with the newest key, and says how many. Raises ConnectionUnreadable; none changes then."""
    require_system(actor)
    count = 0
    for connection in Connection.objects.select_for_update(of=("self",)).select_related("workspace").order_by("id"):
        connection.sealed = seal(connection.id, unseal(connection.id, connection.sealed))
        connection.save(update_fields=["sealed"])
        audit.record(actor, "connection.reseal", target=connection, workspace=connection.workspace)
        count += 1
    return count


def _save(connection: Connection) -> None:
    """The database says whether the name is free, also where two people ask at once."""
    try:
        with transaction.atomic():
            connection.save()
    except IntegrityError as error:
        raise ConnectionNameTaken(
            f"There is a connection '{connection.name}' already. Choose another name.", field="name"
        ) from error


def _refuse_if_used(connection: Connection, act: str) -> None:
    users = used_by(connection)
    if users:
        names = ", ".join(f"'{each['name']}'" for each in users[:3])
        raise ConnectionInUse(
            f"'{connection.name}' cannot be {act}: published workflows use it ({names}). Publish them without it.",
            workflows=users,
        )
