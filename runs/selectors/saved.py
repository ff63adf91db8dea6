"""Questions about saved views."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from kit.errors import NotFound
from runs.models import SavedView
from teams.access import Actor, visible_to
from teams.models import Workspace

SHOWN = 500


class ViewNotFound(NotFound):
    code = "view_not_found"


def views_of(actor: Actor, workspace: Workspace) -> QuerySet[SavedView]:
    """A person's own, and what others share."""
    rows = visible_to(actor, SavedView.objects.select_related("owner", "workspace"), workspace)
    return rows.filter(Q(owner=actor.user) | Q(is_shared=True))


def view_for(actor: Actor, workspace: Workspace, view_id: UUID) -> SavedView:
    """Raises ViewNotFound, also for somebody else's that is not shared."""
    found = views_of(actor, workspace).filter(id=view_id).first()
    if found is None:
        raise ViewNotFound("There is no such saved view.")
    return found


def shapes_of(actor: Actor, workspace: Workspace) -> list[dict[str, Any]]:
    """By name, one's own first."""
    found = sorted(views_of(actor, workspace)[:SHOWN], key=lambda view: (view.owner_id != actor.id, view.name.lower()))
    return [shape_of(actor, view) for view in found]


def shape_of(actor: Actor, view: SavedView) -> dict[str, Any]:
    return {
        "id": view.id,
        "name": view.name,
        "query": view.query,
        "is_shared": view.is_shared,
        "is_mine": view.owner_id == actor.id,
        "owner": str(view.owner),
        "created_at": view.created_at,
    }
