"""Doors: triggers, and the ledger of what became of each time that they were due."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.selectors import workflow_for
from runs.api import trigger_shapes as shapes
from runs.core.ticks import read_cron
from runs.models import Trigger
from runs.triggers import selectors, services
from runs.triggers.turn import NAMES
from teams.access import Permission
from teams.api.doors import Door, PageInput


class TriggerDoor(Door):
    def trigger(self, workspace: str, trigger_id: UUID) -> Trigger:
        return selectors.trigger_for(self.actor, self.workspace(workspace), trigger_id)


def _without_turn(wanted: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is the trigger's own, and which turn its runs get."""
    turn = {name: value for name, value in wanted.items() if name in NAMES}
    return {name: value for name, value in wanted.items() if name not in NAMES}, turn


class WorkflowTriggersView(Door):
    @extend_schema(operation_id="listTriggersOfWorkflow", parameters=[PageInput], responses=shapes.TriggerList)
    def get(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Triggers of one workflow."""
        space = self.workspace(workspace)
        workflow, wanted = workflow_for(self.actor, space, workflow_id), self.query(PageInput)
        page = selectors.trigger_page(
            self.actor, space, workflow=workflow, limit=wanted["limit"], cursor=wanted.get("cursor", "")
        )
        return Response(page)

    @extend_schema(operation_id="createTrigger", request=shapes.TriggerCreate, responses={201: shapes.TriggerMade})
    def post(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """A new trigger. A webhook's secret is in this answer alone."""
        space = self.workspace(workspace)
        workflow = workflow_for(self.actor, space, workflow_id)
        wanted, turn = _without_turn(self.read(shapes.TriggerCreate, needs=Permission.EDIT))
        made = services.create_trigger(actor=self.actor, workflow=workflow, turn=turn, **wanted)
        shown = selectors.trigger_detail(self.actor, selectors.trigger_for(self.actor, space, made.id))
        return Response({**shown, "secret": services.secret_of(made)}, status=201)


class TriggersView(Door):
    @extend_schema(operation_id="listTriggers", parameters=[PageInput], responses=shapes.TriggerList)
    def get(self, request: Request, workspace: str) -> Response:
        """Those of all workflows."""
        space, wanted = self.workspace(workspace), self.query(PageInput)
        page = selectors.trigger_page(self.actor, space, limit=wanted["limit"], cursor=wanted.get("cursor", ""))
        return Response(page)


class TriggerView(TriggerDoor):
    @extend_schema(operation_id="getTrigger", responses=shapes.TriggerOut)
    def get(self, request: Request, workspace: str, trigger_id: UUID) -> Response:
        """One trigger."""
        return Response(selectors.trigger_detail(self.actor, self.trigger(workspace, trigger_id)))

    @extend_schema(operation_id="updateTrigger", request=shapes.TriggerUpdate, responses=shapes.TriggerOut)
    def patch(self, request: Request, workspace: str, trigger_id: UUID) -> Response:
        """Changes a trigger. What is left out stays; `settings` are given whole."""
        trigger = self.trigger(workspace, trigger_id)
        wanted, turn = _without_turn(self.read(shapes.TriggerUpdate, needs=Permission.EDIT))
        services.change_trigger(actor=self.actor, trigger=trigger, turn=turn, **wanted)
        return Response(selectors.trigger_detail(self.actor, self.trigger(workspace, trigger_id)))

    @extend_schema(operation_id="deleteTrigger", responses={204: None})
    def delete(self, request: Request, workspace: str, trigger_id: UUID) -> Response:
        """Deletes a trigger and its ledger. The runs that it started stay."""
        services.delete_trigger(actor=self.actor, trigger=self.trigger(workspace, trigger_id))
        return Response(status=204)


class FiringsView(TriggerDoor):
    @extend_schema(operation_id="listFirings", parameters=[shapes.FiringQuery], responses=shapes.FiringList)
    def get(self, request: Request, workspace: str, trigger_id: UUID) -> Response:
        """What became of each time that the trigger was due, the latest first."""
        trigger, wanted = self.trigger(workspace, trigger_id), self.query(shapes.FiringQuery)
        return Response(
            selectors.firing_page(
                trigger, limit=wanted["limit"], cursor=wanted.get("cursor", ""), status=wanted["status"]
            )
        )


class BackfillView(TriggerDoor):
    @extend_schema(operation_id="backfillTrigger", request=shapes.BackfillIn, responses=shapes.Backfilled)
    def post(self, request: Request, workspace: str, trigger_id: UUID) -> Response:
        """Queues the times of a schedule that had no run. The same request again queues nothing."""
        trigger = self.trigger(workspace, trigger_id)
        done = services.backfill(
            actor=self.actor, trigger=trigger, **self.read(shapes.BackfillIn, needs=Permission.RUN)
        )
        return Response({"ticks": done.ticks, "queued": done.queued})


class SecretView(TriggerDoor):
    @extend_schema(operation_id="changeTriggerSecret", request=None, responses=shapes.SecretOut)
    def post(self, request: Request, workspace: str, trigger_id: UUID) -> Response:
        """Makes a new secret of a webhook, and shows it this once."""
        trigger = self.trigger(workspace, trigger_id)
        return Response({"secret": services.change_secret(actor=self.actor, trigger=trigger)})


class PreviewScheduleView(Door):
    @extend_schema(operation_id="previewSchedule", request=shapes.PreviewScheduleIn, responses=shapes.UpcomingList)
    def post(self, request: Request, workspace: str) -> Response:
        """The next five times of an expression."""
        self.workspace(workspace)
        wanted = self.read(shapes.PreviewScheduleIn, needs=Permission.VIEW)
        timing = read_cron(wanted["cron"], wanted["zone"])
        return Response({"items": selectors.upcoming_shapes(timing, after=wanted["after"])})
