"""Doors: what the doctor says of a draft before it is published."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.selectors import workflow_for
from runs.api.shapes import Out
from runs.api.trigger_shapes import Upcoming
from runs.doctor.examine import examine
from teams.api.doors import Door

STATES = ["ok", "warning", "error"]


class DoctorFinding(Out):
    state = serializers.ChoiceField(choices=STATES)
    message = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    trigger = serializers.CharField(allow_null=True)
    upcoming = Upcoming(many=True, help_text="Of a schedule.")


class DoctorCheck(Out):
    check = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES)
    findings = DoctorFinding(many=True)


class DoctorAnswer(Out):
    revision = serializers.IntegerField(help_text="Of the draft that was looked at.")
    state = serializers.ChoiceField(choices=STATES, help_text="The worst of all.")
    checks = DoctorCheck(many=True)


class DoctorView(Door):
    @extend_schema(operation_id="examineDraft", responses=DoctorAnswer)
    def get(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """What somebody should know before the draft is published. Changes nothing, and sends nothing."""
        found: dict[str, Any] = examine(workflow_for(self.actor, self.workspace(workspace), workflow_id))
        return Response(DoctorAnswer(found).data)
