"""Saved views: filters of the runs list under a name. A person's own, or shared by whoever may act on runs."""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from kit.errors import Conflict, Forbidden
from runs.masking import masker_for, refuse_secrets
from runs.models import SavedView
from teams import audit
from teams.access import Actor, Permission, can, require
from teams.models import Workspace

VIEWS_OF_A_PERSON = 100


class ViewNameTaken(Conflict):
    code = "view_name_taken"


class TooManyViews(Conflict):
    code = "too_many_views"


def create_view(*, actor: Actor, workspace: Workspace, name: str, query: str, is_shared: bool = False) -> SavedView:
    """Raises ViewNameTaken, TooManyViews, HoldsSecret, Forbidden (a viewer shares nothing)."""
    require(actor, Permission.RUN if is_shared else Permission.VIEW, workspace)
    _refuse_secrets(workspace, name, query)
    made = SavedView(workspace=workspace, owner=actor.user, name=name, query=query, is_shared=is_shared)
    own = SavedView.objects.filter(owner=actor.user)
    try:
        with transaction.atomic():
            if own.count() >= VIEWS_OF_A_PERSON:
                raise TooManyViews(f"You have {VIEWS_OF_A_PERSON} saved views: delete some first.")
            SavedView.objects.bulk_create([_dated(made)])
            _record(actor, "view.create", made)
    except IntegrityError as error:
        raise ViewNameTaken(f"You have a view '{name}' already.") from error
    made.refresh_from_db()
    return made


def change_view(
    *,
    actor: Actor,
    view: SavedView,
    name: str | None = None,
    query: str | None = None,
    is_shared: bool | None = None,
) -> SavedView:
    """What is None stays. Only its owner changes a view. Raises ViewNameTaken, Forbidden, HoldsSecret."""
    require(actor, Permission.RUN if is_shared else Permission.VIEW, view.workspace)
    if view.owner_id != actor.id:
        raise Forbidden("This view is somebody else's: save one of your own.")
    _refuse_secrets(view.workspace, name or "", query or "")
    wanted = {"name": name, "query": query, "is_shared": is_shared}
    changes = {field: value for field, value in wanted.items() if value is not None}
    try:
        with transaction.atomic():
            SavedView.objects.filter(id=view.id).update(**changes)
            _record(actor, "view.change", view)
    except IntegrityError as error:
        raise ViewNameTaken(f"You have a view '{name}' already.") from error
    view.refresh_from_db()
    return view


def delete_view(*, actor: Actor, view: SavedView) -> None:
    """Its owner does; a shared one also whoever manages the workspace."""
    require(actor, Permission.VIEW, view.workspace)
    if view.owner_id != actor.id and not can(actor, Permission.MANAGE_WORKSPACE, view.workspace):
        raise Forbidden("This view is somebody else's: its owner deletes it, or the workspace's owner.")
    with transaction.atomic():
        _record(actor, "view.delete", view)
        SavedView.objects.filter(id=view.id).delete()


def _dated(view: SavedView) -> SavedView:
    view.created_at = Now()  # the database's clock
    return view


def _refuse_secrets(workspace: Workspace, name: str, query: str) -> None:
    refuse_secrets(masker_for(workspace.id, name, query), {"name": name, "query": query})


def _record(actor: Actor, action: str, view: SavedView) -> None:
    """Nobody but its owner sees a view that is not shared: the trail tells of shared ones only."""
    if view.is_shared:
        audit.record(actor, action, target=view, workspace=view.workspace, data={"name": view.name})
