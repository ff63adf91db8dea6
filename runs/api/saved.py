"""Doors: saved views of the runs list."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runs import saved
from runs.api.shapes import Out
from runs.selectors import saved as selectors
from teams.access import Permission
from teams.api.doors import Door, Input


class ViewIn(Input):
    name = serializers.CharField(max_length=60)
    query = serializers.CharField(
        max_length=2000, allow_blank=True, help_text="The filters, as in the list's address: status=failed&q=ledger"
    )
    is_shared = serializers.BooleanField(required=False, default=False)


class ViewChange(Input):
    name = serializers.CharField(required=False, max_length=60)
    query = serializers.CharField(required=False, max_length=2000, allow_blank=True)
    is_shared = serializers.BooleanField(required=False)


class ViewOut(Out):
    id = serializers.UUIDField()
    name = serializers.CharField()
    query = serializers.CharField()
    is_shared = serializers.BooleanField()
    is_mine = serializers.BooleanField()
    owner = serializers.CharField()
    created_at = serializers.DateTimeField()


class ViewList(Out):
    items = ViewOut(many=True)


class ViewsView(Door):
    @extend_schema(operation_id="listViews", responses=ViewList)
    def get(self, request: Request, workspace: str) -> Response:
        """One's own, and what others share."""
        return Response({"items": selectors.shapes_of(self.actor, self.workspace(workspace))})

    @extend_schema(operation_id="createView", request=ViewIn, responses={201: ViewOut})
    def post(self, request: Request, workspace: str) -> Response:
        """Keeps the filters of a list under a name, for oneself or for the workspace."""
        space = self.workspace(workspace)
        wanted = self.read(ViewIn, needs=Permission.VIEW)
        made = saved.create_view(actor=self.actor, workspace=space, **wanted)
        return Response(selectors.shape_of(self.actor, made), status=201)


class ViewView(Door):
    @extend_schema(operation_id="changeView", request=ViewChange, responses=ViewOut)
    def patch(self, request: Request, workspace: str, view_id: UUID) -> Response:
        """Changes the name, the filters or who sees a view."""
        view = selectors.view_for(self.actor, self.workspace(workspace), view_id)
        wanted = self.read(ViewChange, needs=saved.needed(self.actor, view))
        return Response(selectors.shape_of(self.actor, saved.change_view(actor=self.actor, view=view, **wanted)))

    @extend_schema(operation_id="deleteView", responses={204: None})
    def delete(self, request: Request, workspace: str, view_id: UUID) -> Response:
        """Takes a view away. The runs that it shows stay."""
        saved.delete_view(actor=self.actor, view=selectors.view_for(self.actor, self.workspace(workspace), view_id))
        return Response(status=204)
