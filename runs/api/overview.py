"""Door: how a workspace, or one workflow, has done of late."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.selectors import workflow_for
from runs.api.shapes import Out, WorkflowRef
from runs.overview.page import PERIODS, overview
from teams.api.doors import Door, Input


class OverviewQuery(Input):
    period = serializers.ChoiceField(required=False, choices=list(PERIODS), default="24h")
    workflow = serializers.UUIDField(required=False, help_text="Only this one.")


class RunSums(Out):
    total = serializers.IntegerField()
    open = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    success_rate = serializers.FloatField(
        allow_null=True, help_text="0 to 1, of those that succeeded or failed; null where none did."
    )


class DurationSums(Out):
    p50_s = serializers.FloatField(allow_null=True)
    p95_s = serializers.FloatField(allow_null=True)
    sampled = serializers.IntegerField(help_text="So many runs that succeeded were looked at.")
    is_exact = serializers.BooleanField(help_text="Whether these are all.")


class Column(Out):
    at = serializers.DateTimeField(help_text="Its beginning. It counts runs by when they were started.")
    open = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    p50_s = serializers.FloatField(allow_null=True)
    p95_s = serializers.FloatField(allow_null=True)


class WorkflowSums(Out):
    workflow = WorkflowRef()
    archived = serializers.BooleanField()
    open = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    success_rate = serializers.FloatField(allow_null=True)


class FailedStepSums(Out):
    workflow = WorkflowRef()
    key = serializers.CharField()
    kind = serializers.CharField()
    steps = serializers.IntegerField(help_text="How many step runs stand failed: items of a map are one each.")
    runs = serializers.IntegerField()
    last_at = serializers.DateTimeField()


class FailedSteps(Out):
    items = FailedStepSums(many=True)
    is_exact = serializers.BooleanField()


class Saved(Out):
    runs = serializers.IntegerField(help_text="Runs that somebody resumed.")
    seconds = serializers.FloatField(help_text="What their steps had taken that did not run again.")
    steps = serializers.IntegerField()
    is_exact = serializers.BooleanField()


class LaneNow(Out):
    lane = serializers.CharField()
    workers = serializers.IntegerField()
    running = serializers.IntegerField(help_text="Of this workspace.")
    waiting = serializers.IntegerField(help_text="Ready and not yet taken by a worker; at most 10,000 are counted.")
    oldest_at = serializers.DateTimeField(allow_null=True, help_text="Since when the oldest of them waits.")


class TriggerName(Out):
    id = serializers.UUIDField()
    name = serializers.CharField()
    workflow = WorkflowRef()


class NextFiring(Out):
    trigger = TriggerName()
    at = serializers.DateTimeField()


class AmissFiring(Out):
    trigger = TriggerName()
    due_at = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=["missed", "failed"])
    reason = serializers.CharField(allow_null=True)
    detail = serializers.CharField(allow_null=True)


class Amiss(Out):
    items = AmissFiring(many=True)
    count = serializers.IntegerField(help_text="Of each trigger at most 1,000.")


class OverviewOut(Out):
    period = serializers.ChoiceField(choices=list(PERIODS))
    since = serializers.DateTimeField()
    now = serializers.DateTimeField()
    step_s = serializers.IntegerField(help_text="The width of a column, in seconds.")
    runs = RunSums()
    durations = DurationSums()
    columns = Column(many=True)
    workflows = WorkflowSums(many=True)
    failed_steps = FailedSteps()
    saved = Saved()
    lanes = LaneNow(many=True)
    next = NextFiring(many=True)
    amiss = Amiss()


class OverviewView(Door):
    @extend_schema(operation_id="getOverview", parameters=[OverviewQuery], responses=OverviewOut)
    def get(self, request: Request, workspace: str) -> Response:
        """Counts are of runs that were started in the period."""
        space = self.workspace(workspace)
        wanted = self.query(OverviewQuery)
        workflow = workflow_for(self.actor, space, wanted["workflow"]) if "workflow" in wanted else None
        return Response(overview(self.actor, space, period=wanted["period"], workflow=workflow))
