"""Doors: one operation on many runs."""

import json
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from runs.api import bulk_shapes as shapes
from runs.bulk import services
from runs.bulk.services import Pace, Selection
from runs.models import BulkOperation, Run
from runs.selectors import bulk as selectors
from runs.selectors.filters import Filters
from teams.access import Permission
from teams.api.doors import Door, PageInput


class BulkDoor(Door):
    def bulk(self, workspace: str, bulk_id: UUID) -> BulkOperation:
        return selectors.bulk_for(self.actor, self.workspace(workspace), bulk_id)


class BulksView(Door):
    @extend_schema(operation_id="listBulk", parameters=[PageInput], responses=shapes.BulkList)
    def get(self, request: Request, workspace: str) -> Response:
        """Bulk operations, the newest first."""
        return Response(selectors.bulk_page(self.actor, self.workspace(workspace), **self.query(PageInput)))

    @extend_schema(operation_id="beginBulk", request=shapes.BulkIn, responses={201: shapes.Bulk, 200: shapes.Bulk})
    def post(self, request: Request, workspace: str) -> Response:
        """Chooses the runs now; sweepers then act on one after the other. The same command id answers the same one."""
        space = self.workspace(workspace)
        wanted = self.read(shapes.BulkIn, needs=Permission.RUN)
        bulk, is_new = services.begin_bulk(
            actor=self.actor,
            workspace=space,
            command_id=wanted["command_id"],
            operation=wanted["operation"],
            selection=_selection(wanted),
            pace=Pace(wanted["rate_per_s"], wanted["canary"]),
            request=_as_asked(wanted),
            expected_count=wanted["expected_count"],
        )
        return Response(selectors.shapes_of([bulk])[0], status=201 if is_new else 200)


class BulkPreviewView(Door):
    @extend_schema(operation_id="previewBulk", request=shapes.BulkSelection, responses=shapes.BulkPreview)
    def post(self, request: Request, workspace: str) -> Response:
        """How many runs are meant, and what would be done to the first of them. Changes nothing."""
        space = self.workspace(workspace)
        wanted = self.read(shapes.BulkSelection, needs=Permission.VIEW)
        found = services.preview_bulk(
            actor=self.actor,
            workspace=space,
            operation=wanted["operation"],
            selection=_selection(wanted),
        )
        plans = [{"run": _run_ref(run), **vars(plan)} for run, plan in found.plans]
        return Response({"count": found.count, "skipped": found.skipped, "by_status": found.by_status, "plans": plans})


class BulkView(BulkDoor):
    @extend_schema(operation_id="getBulk", responses=shapes.Bulk)
    def get(self, request: Request, workspace: str, bulk_id: UUID) -> Response:
        """How far a bulk operation is."""
        return Response(selectors.shapes_of([self.bulk(workspace, bulk_id)])[0])


class BulkRunsView(BulkDoor):
    @extend_schema(operation_id="listBulkRuns", parameters=[shapes.ResultQuery], responses=shapes.BulkResults)
    def get(self, request: Request, workspace: str, bulk_id: UUID) -> Response:
        """What became of each run."""
        return Response(selectors.result_page(self.bulk(workspace, bulk_id), **self.query(shapes.ResultQuery)))


class BulkStopView(BulkDoor):
    @extend_schema(operation_id="stopBulk", request=None, responses=shapes.Bulk)
    def post(self, request: Request, workspace: str, bulk_id: UUID) -> Response:
        """No further run is begun. What is done stays done."""
        stopped = services.stop_bulk(actor=self.actor, bulk=self.bulk(workspace, bulk_id))
        return Response(selectors.shapes_of([stopped])[0])


class BulkContinueView(BulkDoor):
    @extend_schema(operation_id="continueBulk", request=shapes.ContinueIn, responses=shapes.Bulk)
    def post(self, request: Request, workspace: str, bulk_id: UUID) -> Response:
        """Goes on with the runs that are left, in the name of whoever says so."""
        bulk = self.bulk(workspace, bulk_id)
        going = services.continue_bulk(
            actor=self.actor, bulk=bulk, **self.read(shapes.ContinueIn, needs=Permission.RUN)
        )
        return Response(selectors.shapes_of([going])[0])


def _run_ref(run: Run) -> dict[str, Any]:
    workflow = {"id": run.workflow_id, "name": run.workflow.name}
    return {"id": run.id, "number": run.number, "status": run.status, "workflow": workflow}


def _selection(wanted: dict[str, Any]) -> Selection:
    if "ids" in wanted:
        return Selection(ids=wanted["ids"])
    return Selection(filters=Filters(**wanted["filter"]))


def _as_asked(wanted: dict[str, Any]) -> dict[str, Any]:
    """As JSON values, without the id."""
    asked = {name: value for name, value in wanted.items() if name != "command_id" and value is not None}
    plain: dict[str, Any] = json.loads(json.dumps(asked, cls=DjangoJSONEncoder))
    return plain
