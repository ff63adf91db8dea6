"""Doors: what is kept, and for how long."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runs import services
from runs.api.shapes import Out
from runs.selectors import keeping
from teams.api.doors import Door, Input

LONGEST_DAYS = 3650


class RetentionIn(Input):
    days = serializers.IntegerField(
        allow_null=True, min_value=0, max_value=LONGEST_DAYS, help_text="0: for ever. null: as the installation says."
    )


class RetentionOut(Out):
    days = serializers.IntegerField(allow_null=True)
    effective_days = serializers.IntegerField(help_text="0: for ever.")
    changed_at = serializers.DateTimeField(allow_null=True)
    changed_by = serializers.CharField(allow_null=True)


class RetentionView(Door):
    @extend_schema(operation_id="getRetention", responses=RetentionOut)
    def get(self, request: Request, workspace: str) -> Response:
        return Response(keeping.retention_of(self.actor, self.workspace(workspace)))

    @extend_schema(operation_id="setRetention", request=RetentionIn, responses=RetentionOut)
    def put(self, request: Request, workspace: str) -> Response:
        """How many days final runs are kept. What has expired goes soon after, and does not come back."""
        space = self.workspace(workspace)
        services.set_retention(actor=self.actor, workspace=space, days=self.read(RetentionIn)["days"])
        return Response(keeping.retention_of(self.actor, space))
