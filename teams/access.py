"""Who may do what: the only place that answers 'may they?'.

Roles are sets of permissions (PERMISSIONS_OF). Every use case calls `require`; every read starts from `workspace_for`
or `visible_to`. What an actor may not even see is NotFound, what they see and may not do is Forbidden (promise P8).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet

from kit.errors import Forbidden, NotFound
from teams.models import Membership, Role, User, Workspace

if TYPE_CHECKING:
    AnyModel = TypeVar("AnyModel", bound=Model)
else:
    AnyModel = TypeVar("AnyModel")


class Permission(StrEnum):
    VIEW = "view"  # see workflows, runs, connections' names
    RUN = "run"  # start, resume, cancel, decide
    APPROVE = "approve"  # answer waits
    EDIT = "edit"  # change drafts, publish versions
    CONNECT = "connect"  # keep connections
    MANAGE_MEMBERS = "manage_members"
    READ_AUDIT = "read_audit"
    MANAGE_WORKSPACE = "manage_workspace"  # rename, delete


_VIEWER = frozenset({Permission.VIEW})
_OPERATOR = _VIEWER | {Permission.RUN, Permission.APPROVE}
_EDITOR = _OPERATOR | {Permission.EDIT}
_ADMIN = _EDITOR | {Permission.CONNECT, Permission.MANAGE_MEMBERS, Permission.READ_AUDIT}

PERMISSIONS_OF: dict[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: _ADMIN,
    Role.EDITOR: _EDITOR,
    Role.OPERATOR: _OPERATOR,
    Role.VIEWER: _VIEWER,
}


@dataclass(frozen=True)
class Actor:
    """Who acts. `user` is set for a person; the system (sweeper, worker, seed) may do everything."""

    kind: Literal["user", "system"]
    name: str
    user: User | None = None

    @property
    def id(self) -> UUID | None:
        return self.user.id if self.user else None


SYSTEM = Actor(kind="system", name="system")


def person(user: User) -> Actor:
    return Actor(kind="user", name=str(user), user=user)


def role_of(actor: Actor, workspace: Workspace) -> Role | None:
    if actor.user is None:
        return None
    role = Membership.objects.filter(workspace=workspace, user=actor.user).values_list("role", flat=True).first()
    return Role(role) if role else None


def can(actor: Actor, permission: Permission, workspace: Workspace) -> bool:
    if actor.kind == "system":
        return True
    role = role_of(actor, workspace)
    return role is not None and permission in PERMISSIONS_OF[role]


def require(actor: Actor, permission: Permission, workspace: Workspace) -> None:
    """Raises NotFound for a stranger, Forbidden for a member whose role does not hold the permission."""
    if actor.kind == "system":
        return
    role = role_of(actor, workspace)
    if role is None:
        raise NotFound("There is no such workspace, or you are not a member of it.")
    if permission not in PERMISSIONS_OF[role]:
        raise Forbidden(
            f"Your role in this workspace is {role.value}; this needs the permission '{permission.value}'.",
            permission=permission.value,
            role=role.value,
        )


def require_installation(actor: Actor) -> None:
    """For what belongs to the whole installation, as its lanes do: no role of a workspace reaches that far. Raises
    Forbidden for everybody but the system and those who run this Pawl (superusers).
    """
    if actor.kind != "system" and (actor.user is None or not actor.user.is_superuser):
        raise Forbidden("This belongs to the whole installation: ask whoever runs this Pawl.")


def require_system(actor: Actor) -> None:
    """For what no role allows yet: accounts and workspaces are made by the seed and by management commands."""
    if actor.kind != "system":
        raise Forbidden("Only the system can do this: ask whoever runs this Pawl.")


def workspace_for(actor: Actor, slug: str) -> Workspace:
    """The workspace of that address, if the actor belongs to it. Raises NotFound otherwise."""
    # PostgreSQL takes no NUL character, so no workspace has one
    found = None if "\0" in slug else visible_workspaces(actor).filter(slug=slug).first()
    if found is None:
        raise NotFound("There is no such workspace, or you are not a member of it.")
    return found


def visible_workspaces(actor: Actor) -> QuerySet[Workspace]:
    if actor.kind == "system":
        return Workspace.objects.all()
    return Workspace.objects.filter(memberships__user=actor.user)


def visible_to(actor: Actor, rows: "QuerySet[AnyModel]", workspace: Workspace) -> "QuerySet[AnyModel]":
    """The rows of a model with a `workspace` that the actor may see in that workspace: none for a stranger."""
    if not can(actor, Permission.VIEW, workspace):
        return rows.none()
    scope: dict[str, Any] = {"workspace": workspace}
    return rows.filter(**scope)
