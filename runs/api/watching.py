"""Doors: what the page of a run asks while somebody watches."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from runs.api.views import RunDoor
from runs.api.watch_shapes import PulseList, UsualList
from runs.selectors import watching
from runs.selectors.values import decoded


class PulseView(RunDoor):
    @extend_schema(operation_id="getPulse", responses=PulseList)
    def get(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """When the workers that hold its steps were last heard, and how far each step says that it got. At most 200
        steps, those at work first.
        """
        return Response(watching.pulse_of(self.run(workspace, run_id)))


class UsualView(RunDoor):
    @extend_schema(operation_id="getUsual", responses=UsualList)
    def get(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """How long the steps of this run usually take, queue and begin: of the last 20 other runs of its workflow."""
        run = self.run(workspace, run_id)
        return Response(watching.usual_of(run, decoded(run.version.graph)))
