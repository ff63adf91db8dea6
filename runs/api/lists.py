"""Doors: the runs list, how many runs it has, and labels."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runs import labels
from runs.api import list_shapes as shapes
from runs.api.bulk_shapes import LabelChange
from runs.api.shapes import Out
from runs.selectors import lists
from runs.selectors.filters import Filters
from runs.selectors.labels import known_labels
from runs.selectors.runs import run_for
from teams.access import Permission
from teams.api.doors import Door


class KnownLabels(Out):
    items = serializers.ListField(child=serializers.CharField())


class LabelsOut(Out):
    labels = serializers.ListField(child=serializers.CharField())


class RunsView(Door):
    @extend_schema(operation_id="listRuns", parameters=[shapes.RunQuery], responses=shapes.RunList)
    def get(self, request: Request, workspace: str) -> Response:
        """Runs, the newest first."""
        space = self.workspace(workspace)
        wanted = self.query(shapes.RunQuery)
        limit, cursor = wanted.pop("limit"), wanted.pop("cursor", "")
        return Response(lists.run_page(self.actor, space, filters=Filters(**wanted), limit=limit, cursor=cursor))


class CountView(Door):
    @extend_schema(operation_id="countRuns", parameters=[shapes.RunFilters], responses=shapes.RunCount)
    def get(self, request: Request, workspace: str) -> Response:
        """How many runs the list has. Counting stops at 1,000, and after so many runs that were looked at."""
        space = self.workspace(workspace)
        wanted: dict[str, Any] = self.query(shapes.RunFilters)
        return Response(lists.run_count(self.actor, space, filters=Filters(**wanted)))


class KnownLabelsView(Door):
    @extend_schema(operation_id="listLabels", responses=KnownLabels)
    def get(self, request: Request, workspace: str) -> Response:
        """The labels that the workspace's runs have."""
        return Response({"items": known_labels(self.actor, self.workspace(workspace))})


class LabelsView(Door):
    @extend_schema(operation_id="labelRun", request=LabelChange, responses=LabelsOut)
    def put(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """Adds some, takes some away; the others stay. Saying it again changes nothing."""
        run = run_for(self.actor, self.workspace(workspace), run_id)
        wanted = self.read(LabelChange, needs=Permission.RUN)
        return Response({"labels": labels.change_labels(actor=self.actor, run=run, **wanted)})
