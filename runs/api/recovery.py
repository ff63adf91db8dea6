"""Doors: what may be done to a run that cannot go on, and the preview of each operation."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from kit.errors import Conflict
from runs import recovery
from runs.api import shapes
from runs.api.shapes import ActIn
from runs.api.views import RunDoor
from teams.api.doors import AnyJson, Input

OF_A_STEP = ("decide", "edit_input", "skip", "supply_output", "retry_now")


class PreviewIn(Input):
    operation = serializers.ChoiceField(choices=["resume", *OF_A_STEP])
    paths = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True, default=None)
    path = serializers.CharField(required=False, allow_null=True, default=None)
    decision = serializers.ChoiceField(required=False, default="happened", choices=shapes.DECISIONS)
    input = AnyJson(required=False, allow_null=True, default=None)
    port = serializers.CharField(required=False, allow_null=True, default=None)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["operation"] in OF_A_STEP and attrs["path"] is None:
            raise serializers.ValidationError({"path": ["Name the step."]})
        return attrs


class EditInputIn(ActIn):
    input = AnyJson(source="given")


class SkipIn(ActIn):
    pass


class SupplyIn(ActIn):
    output = AnyJson(allow_null=True)
    port = serializers.CharField(required=False, allow_null=True, default=None)


class RetryNowIn(ActIn):
    pass


class PreviewView(RunDoor):
    @extend_schema(operation_id="previewRun", request=PreviewIn, responses=shapes.Preview)
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """What an operation would do. Changes nothing."""
        run = self.run(workspace, run_id)
        try:
            shown = recovery.preview(actor=self.actor, run=run, asked=self.read(PreviewIn))
        except Conflict as refusal:
            nothing: dict[str, Any] = {"kept": [], "again": [], "effects": [], "nodes": [], "saved_s": 0.0}
            refused = {"allowed": False, "refusal": refusal.message, "generation": run.generation, "plan": None}
            return Response({**refused, **nothing})
        plan = shown.plan
        return Response(
            {"allowed": True, "refusal": None, "generation": shown.generation, "kept": plan.kept, "again": plan.again,
             "effects": [vars(effect) for effect in plan.effects], "nodes": [vars(node) for node in plan.nodes],
             "saved_s": shown.saved_s, "plan": plan.token}
        )  # fmt: skip


class EditInputView(RunDoor):
    @extend_schema(operation_id="editStepInput", request=EditInputIn, responses=shapes.Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The failed step runs again on these settings, under a new idempotency key."""
        run = self.run(workspace, run_id)
        return Response(recovery.edit_input(actor=self.actor, run=run, path=path, **self.read(EditInputIn)))


class SkipView(RunDoor):
    @extend_schema(operation_id="skipStep", request=SkipIn, responses=shapes.Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The flow goes on as if the step were not there."""
        run = self.run(workspace, run_id)
        return Response(recovery.skip_step(actor=self.actor, run=run, path=path, **self.read(SkipIn)))


class SupplyView(RunDoor):
    @extend_schema(operation_id="supplyOutput", request=SupplyIn, responses=shapes.Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The step succeeds with this output, by hand."""
        run = self.run(workspace, run_id)
        return Response(recovery.supply_output(actor=self.actor, run=run, path=path, **self.read(SupplyIn)))


class RetryNowView(RunDoor):
    @extend_schema(operation_id="retryStepNow", request=RetryNowIn, responses=shapes.Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The next attempt starts at once."""
        run = self.run(workspace, run_id)
        return Response(recovery.retry_now(actor=self.actor, run=run, path=path, **self.read(RetryNowIn)))
