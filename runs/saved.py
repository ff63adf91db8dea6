"""Saved views: filters of the runs list under a name. A person's own, or shared by whoever may act on runs."""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from kit.errors import Conflict
from runs.masking import masker_for, refuse_secrets
from runs.models import SavedView
from teams import audit
from teams.access import Actor, Permission, require
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


def needed(actor: Actor, view: SavedView) -> Permission:
    """What is needed to change it: one's own is one's own, a shared one belongs to all who may act on runs."""
    return Permission.VIEW if view.owner_id == actor.id else Permission.RUN


def change_view(
    *,
    actor: Actor,
    view: SavedView,
    name: str | None = None,
    query: str | None = None,
    is_shared: bool | None = None,
) -> SavedView:
    """What is None stays. Raises ViewNameTaken, Forbidden, HoldsSecret."""
    require(actor, Permission.RUN if is_shared else needed(actor, view), view.workspace)
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
    require(actor, needed(actor, view), view.workspace)
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
