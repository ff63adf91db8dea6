"""Doors: what may be done to a run that cannot go on, and the preview of each operation."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from kit.errors import Conflict
from runs import recovery
from runs.api import recovery_shapes as shapes
from runs.api.plans import told_plan
from runs.api.shapes import Resumed, RunRow
from runs.api.views import RunDoor
from runs.selectors import runs as selectors
from teams.access import Permission


class PreviewView(RunDoor):
    @extend_schema(operation_id="previewRun", request=shapes.PreviewIn, responses=shapes.Preview)
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """What an operation would do. Changes nothing."""
        run = self.run(workspace, run_id)
        asked = self.read(shapes.PreviewIn, needs=Permission.VIEW)
        try:
            shown = recovery.preview(actor=self.actor, run=run, asked=asked)
        except Conflict as refusal:
            nothing: dict[str, Any] = {
                "kept": [],
                "again": [],
                "effects": [],
                "nodes": [],
                "saved_s": 0.0,
                "child_runs": 0,
            }
            refused = {"allowed": False, "refusal": refusal.message, "generation": run.generation, "plan": None}
            return Response({**refused, **nothing})
        plan = shown.plan
        return Response(
            {"allowed": True, "refusal": None, "generation": shown.generation, "kept": plan.kept, "again": plan.again,
             "effects": [vars(effect) for effect in plan.effects], "nodes": [vars(node) for node in plan.nodes],
             "saved_s": shown.saved_s, "child_runs": shown.child_runs,
             "plan": told_plan(plan.token, asked["operation"], asked)}
        )  # fmt: skip


class EditInputView(RunDoor):
    @extend_schema(operation_id="editStepInput", request=shapes.EditInputIn, responses=Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The failed step runs again on these settings, under a new idempotency key."""
        run = self.run(workspace, run_id)
        return Response(
            recovery.edit_input(
                actor=self.actor, run=run, path=path, **self.read(shapes.EditInputIn, needs=Permission.RUN)
            )
        )


class SkipView(RunDoor):
    @extend_schema(operation_id="skipStep", request=shapes.SkipIn, responses=Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The flow goes on as if the step were not there."""
        run = self.run(workspace, run_id)
        return Response(
            recovery.skip_step(actor=self.actor, run=run, path=path, **self.read(shapes.SkipIn, needs=Permission.RUN))
        )


class SupplyView(RunDoor):
    @extend_schema(operation_id="supplyOutput", request=shapes.SupplyIn, responses=Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The step succeeds with this output, by hand."""
        run = self.run(workspace, run_id)
        return Response(
            recovery.supply_output(
                actor=self.actor, run=run, path=path, **self.read(shapes.SupplyIn, needs=Permission.RUN)
            )
        )


class ForkView(RunDoor):
    @extend_schema(operation_id="forkRun", request=shapes.ForkIn, responses={201: RunRow})
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """A new run that takes finished steps over from this one, and runs the rest again."""
        run = self.run(workspace, run_id)
        made = recovery.fork_run(actor=self.actor, run=run, **self.read(shapes.ForkIn, needs=Permission.RUN))
        fork = selectors.run_for(self.actor, run.workspace, made)
        return Response(selectors.rows_of([fork])[0], status=201)


class RetryNowView(RunDoor):
    @extend_schema(operation_id="retryStepNow", request=shapes.RetryNowIn, responses=Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The next attempt starts at once."""
        run = self.run(workspace, run_id)
        return Response(
            recovery.retry_now(
                actor=self.actor, run=run, path=path, **self.read(shapes.RetryNowIn, needs=Permission.RUN)
            )
        )
