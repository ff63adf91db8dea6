"""Doors: how many may go on at once, in a workspace, of a workflow, of a lane."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.selectors import workflow_for
from runs import limits
from runs.api.shapes import Out, WorkflowRef
from teams.access import Permission
from teams.api.doors import Door, Input

SCOPES = ["workspace", "lane", "workflow", "key", "run_key"]


class LimitIn(Input):
    at_most = serializers.IntegerField(min_value=1, max_value=limits.LARGEST, help_text="So many at once.")


class LimitChanged(Out):
    at_most = serializers.IntegerField(allow_null=True, help_text="What holds now; null: no limit.")
    before = serializers.IntegerField(allow_null=True, help_text="What held until then; null: no limit.")


class RateUse(Out):
    starts = serializers.IntegerField(help_text="So many starts in any period.")
    per_s = serializers.FloatField(help_text="The period's seconds.")
    started = serializers.IntegerField(help_text="Starts in the period that ends now.")


class LimitOut(Out):
    scope = serializers.ChoiceField(
        choices=SCOPES,
        help_text="key: of steps, by their policy. run_key: of runs, by their start. lane: the installation's.",
    )
    lane = serializers.CharField(allow_null=True)
    workflow = WorkflowRef(allow_null=True)
    key = serializers.CharField(allow_null=True)
    at_most = serializers.IntegerField(allow_null=True)
    rate = RateUse(allow_null=True)
    used = serializers.IntegerField(help_text="This workspace's: steps that run, or runs that have begun.")
    waiting = serializers.IntegerField(
        help_text="Of lane and workspace: steps that are ready. Of the others: what this limit holds back."
    )
    set_at = serializers.DateTimeField(allow_null=True)
    set_by = serializers.CharField(allow_null=True)


class LimitList(Out):
    items = LimitOut(many=True)
    next = serializers.CharField(allow_null=True)


class LaneOut(Out):
    lane = serializers.CharField()
    at_most = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField(help_text="Steps that run, of all workspaces.")
    waiting = serializers.IntegerField(help_text="Steps that are ready, of all workspaces.")
    workers = serializers.IntegerField(help_text="Those that are alive and serve it.")
    set_at = serializers.DateTimeField(allow_null=True)
    set_by = serializers.CharField(allow_null=True)


class LaneList(Out):
    items = LaneOut(many=True)
    next = serializers.CharField(allow_null=True)


class LimitsView(Door):
    @extend_schema(operation_id="listLimits", responses=LimitList)
    def get(self, request: Request, workspace: str) -> Response:
        """What limits the workspace's steps and runs, and how much of it is used now."""
        return Response({"items": limits.limits_of(self.actor, self.workspace(workspace)), "next": None})


class WorkspaceLimitView(Door):
    @extend_schema(operation_id="limitWorkspace", request=LimitIn, responses=LimitChanged)
    def put(self, request: Request, workspace: str) -> Response:
        """At most so many steps of the workspace run at once. The same again changes nothing."""
        space = self.workspace(workspace)
        wanted = self.read(LimitIn, needs=Permission.MANAGE_WORKSPACE)
        return _answer(limits.limit_workspace(actor=self.actor, workspace=space, **wanted))

    @extend_schema(operation_id="unlimitWorkspace", responses=LimitChanged)
    def delete(self, request: Request, workspace: str) -> Response:
        """Takes the workspace's limit away."""
        space = self.workspace(workspace)
        return _answer(limits.limit_workspace(actor=self.actor, workspace=space, at_most=None))


class WorkflowLimitView(Door):
    @extend_schema(operation_id="limitWorkflow", request=LimitIn, responses=LimitChanged)
    def put(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """At most so many runs of the workflow go on at once. The same again changes nothing."""
        workflow = workflow_for(self.actor, self.workspace(workspace), workflow_id)
        wanted = self.read(LimitIn, needs=Permission.EDIT)
        return _answer(limits.limit_workflow(actor=self.actor, workflow=workflow, **wanted))

    @extend_schema(operation_id="unlimitWorkflow", responses=LimitChanged)
    def delete(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Takes the workflow's limit away."""
        workflow = workflow_for(self.actor, self.workspace(workspace), workflow_id)
        return _answer(limits.limit_workflow(actor=self.actor, workflow=workflow, at_most=None))


class LanesView(Door):
    @extend_schema(operation_id="listLanes", responses=LaneList)
    def get(self, request: Request) -> Response:
        """The lanes of the whole installation, for whoever runs it."""
        return Response({"items": limits.lanes_of(self.actor), "next": None})


class LaneLimitView(Door):
    @extend_schema(operation_id="limitLane", request=LimitIn, responses=LimitChanged)
    def put(self, request: Request, lane: str) -> Response:
        """At most so many steps of the lane run at once, in the whole installation. The same again changes nothing."""
        wanted = self.read(LimitIn, needs="installation")
        return _answer(limits.limit_lane(actor=self.actor, lane=lane, **wanted))

    @extend_schema(operation_id="unlimitLane", responses=LimitChanged)
    def delete(self, request: Request, lane: str) -> Response:
        """Takes the lane's limit away."""
        return _answer(limits.limit_lane(actor=self.actor, lane=lane, at_most=None))


def _answer(changed: limits.Changed) -> Response:
    return Response({"at_most": changed.at_most, "before": changed.before})
