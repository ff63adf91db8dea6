"""Questions about people and workspaces."""

from dataclasses import dataclass

from django.db.models import QuerySet

from teams.access import PERMISSIONS_OF, Actor, Permission, visible_to
from teams.models import Membership, Role, Workspace


@dataclass(frozen=True)
class Seat:
    """A workspace as one person sees it."""

    workspace: Workspace
    role: Role

    @property
    def permissions(self) -> list[str]:
        return [permission.value for permission in Permission if permission in PERMISSIONS_OF[self.role]]


def seats_of(actor: Actor) -> list[Seat]:
    """The workspaces that a person belongs to, by name."""
    rows = Membership.objects.filter(user=actor.user).select_related("workspace").order_by("workspace__name", "id")
    return [Seat(row.workspace, Role(row.role)) for row in rows]


def members_of(actor: Actor, workspace: Workspace) -> QuerySet[Membership]:
    rows = visible_to(actor, Membership.objects.all(), workspace)
    return rows.select_related("user").order_by("user__email")
