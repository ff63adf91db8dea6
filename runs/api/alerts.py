"""Doors: who is told of what, and what became of each delivery."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.selectors import workflow_for
from runs.alerts import selectors, services
from runs.api import alert_shapes as shapes
from runs.api.trigger_shapes import SecretOut
from runs.models import AlertRule
from teams.access import Permission
from teams.api.doors import Door, PageInput


class AlertDoor(Door):
    def alert(self, workspace: str, alert_id: UUID) -> AlertRule:
        return selectors.alert_for(self.actor, self.workspace(workspace), alert_id)


class AlertsView(Door):
    @extend_schema(operation_id="listAlerts", parameters=[shapes.AlertQuery], responses=shapes.AlertList)
    def get(self, request: Request, workspace: str) -> Response:
        """All of them, by name."""
        space = self.workspace(workspace)
        wanted = self.query(shapes.AlertQuery)
        return Response(selectors.alert_list(self.actor, space, workflow=wanted.get("workflow")))

    @extend_schema(operation_id="createAlert", request=shapes.AlertCreate, responses={201: shapes.AlertMade})
    def post(self, request: Request, workspace: str) -> Response:
        """A new alert."""
        space = self.workspace(workspace)
        wanted = self.read(shapes.AlertCreate, needs=Permission.EDIT)
        named, channel = wanted.pop("workflow"), wanted.pop("channel")
        workflow = workflow_for(self.actor, space, named) if named else None
        made = services.create_alert(
            actor=self.actor, workspace=space, workflow=workflow, channel=channel, wanted=wanted
        )
        shown = selectors.alert_detail(self.actor, selectors.alert_for(self.actor, space, made.id))
        return Response({**shown, "secret": services.secret_of(made)}, status=201)


class AlertView(AlertDoor):
    @extend_schema(operation_id="updateAlert", request=shapes.AlertChange, responses=shapes.AlertOut)
    def patch(self, request: Request, workspace: str, alert_id: UUID) -> Response:
        """Changes an alert."""
        rule = self.alert(workspace, alert_id)
        wanted = self.read(shapes.AlertChange, needs=Permission.EDIT)
        services.change_alert(actor=self.actor, rule=rule, wanted=wanted)
        return Response(selectors.alert_detail(self.actor, self.alert(workspace, alert_id)))

    @extend_schema(operation_id="deleteAlert", responses={204: None})
    def delete(self, request: Request, workspace: str, alert_id: UUID) -> Response:
        """Deletes an alert."""
        services.delete_alert(actor=self.actor, rule=self.alert(workspace, alert_id))
        return Response(status=204)


class AlertTestView(AlertDoor):
    @extend_schema(operation_id="testAlert", request=None, responses={201: shapes.AlertDeliveryOut})
    def post(self, request: Request, workspace: str, alert_id: UUID) -> Response:
        """Sends a delivery that says it is a test. Its outcome stands in the list of deliveries."""
        made = services.send_test(actor=self.actor, rule=self.alert(workspace, alert_id))
        return Response(selectors.delivery_shapes([made])[0], status=201)


class AlertSecretView(AlertDoor):
    @extend_schema(operation_id="changeAlertSecret", request=None, responses=SecretOut)
    def post(self, request: Request, workspace: str, alert_id: UUID) -> Response:
        """Makes a new secret of an alert by webhook, and shows it this once."""
        return Response({"secret": services.change_secret(actor=self.actor, rule=self.alert(workspace, alert_id))})


class AlertDeliveriesView(AlertDoor):
    @extend_schema(operation_id="listAlertDeliveries", parameters=[PageInput], responses=shapes.AlertDeliveryList)
    def get(self, request: Request, workspace: str, alert_id: UUID) -> Response:
        """The latest first."""
        rule, wanted = self.alert(workspace, alert_id), self.query(PageInput)
        return Response(selectors.delivery_page(rule, limit=wanted["limit"], cursor=wanted.get("cursor", "")))
