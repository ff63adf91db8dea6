"""Doors: the failure inbox."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runs.api.list_shapes import RunCount
from runs.api.shapes import Out, RunRef, WorkflowRef
from runs.failures import services
from runs.models import FailureGroup
from runs.selectors import failures as selectors
from teams.access import Permission
from teams.api.doors import Door, Input, PageInput


class FailureQuery(PageInput):
    show = serializers.ChoiceField(required=False, choices=selectors.SHOWN, default="open")


class FailureStateIn(Input):
    state = serializers.ChoiceField(choices=services.STATES)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=500)


class FailingWorkflow(WorkflowRef):
    count = serializers.IntegerField()


class FailureExample(Out):
    run = RunRef()
    path = serializers.CharField(help_text="Empty where no step failed: the run's deadline passed.")
    message = serializers.CharField()
    failed_at = serializers.DateTimeField()


class ResolvedBy(Out):
    operation = serializers.CharField()
    actor = serializers.CharField()
    at = serializers.DateTimeField()
    bulk = serializers.UUIDField(allow_null=True)


class FailureGroupOut(Out):
    fingerprint = serializers.CharField()
    kind = serializers.CharField(help_text="The kind of the failed step; `run` where the run itself failed.")
    code = serializers.CharField()
    pattern = serializers.CharField(help_text="The message without numbers, ids, times, addresses and paths.")
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    seen_count = serializers.IntegerField(help_text="How many failures there ever were.")
    standing = RunCount(help_text="Runs that stand failed at it, of the latest 500 failures.")
    recovered = RunCount(help_text="Runs that failed so and have succeeded since, of the latest 500 failures.")
    workflows = FailingWorkflow(many=True)
    workflow_count = serializers.IntegerField()
    example = FailureExample(allow_null=True)
    state = serializers.ChoiceField(choices=services.STATES)
    state_by = serializers.CharField()
    state_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField()
    resolved_by = ResolvedBy(
        allow_null=True, help_text="Where no run stands failed: what a person did to the last one after its failure."
    )


class FailureGroupList(Out):
    items = FailureGroupOut(many=True)
    next = serializers.CharField(allow_null=True)


class FailuresView(Door):
    @extend_schema(operation_id="listFailures", parameters=[FailureQuery], responses=FailureGroupList)
    def get(self, request: Request, workspace: str) -> Response:
        """Failures by what they have in common, the latest first."""
        return Response(selectors.group_page(self.actor, self.workspace(workspace), **self.query(FailureQuery)))


class FailureCountView(Door):
    @extend_schema(operation_id="countFailures", responses=RunCount)
    def get(self, request: Request, workspace: str) -> Response:
        """How many groups have runs that stand failed, and nobody who sees to them."""
        return Response(selectors.open_count(self.actor, self.workspace(workspace)))


class FailureView(Door):
    def _group(self, workspace: str, fingerprint: str) -> FailureGroup:
        return selectors.group_for(self.actor, self.workspace(workspace), fingerprint)

    def _told(self, group: FailureGroup) -> Response:
        return Response(selectors.shapes_of(self.actor, group.workspace, [group])[0])

    @extend_schema(operation_id="getFailure", responses=FailureGroupOut)
    def get(self, request: Request, workspace: str, fingerprint: str) -> Response:
        """One group of failures, with its examples."""
        return self._told(self._group(workspace, fingerprint))

    @extend_schema(operation_id="setFailureState", request=FailureStateIn, responses=FailureGroupOut)
    def put(self, request: Request, workspace: str, fingerprint: str) -> Response:
        """Says who sees to it, or that nobody needs to. Resuming its runs is a bulk operation by `fingerprint`."""
        group = self._group(workspace, fingerprint)
        wanted = self.read(FailureStateIn, needs=Permission.RUN)
        return self._told(services.set_state(actor=self.actor, group=group, **wanted))
