"""The API's shapes of breakpoints, and of commands that need nothing but their id."""

from typing import Any

from rest_framework import serializers

from runs.core.states import RunStatus
from teams.api.doors import Input

BREAKPOINTS_LIMIT = 200


class BreakpointIn(Input):
    node = serializers.CharField(required=False, max_length=100, help_text="A node's id: each step run of that node.")
    path = serializers.CharField(required=False, max_length=1_000, help_text="One step run, e.g. `each[17].ocr`.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Name either a node or a path.")
        return attrs


class BreakpointList(serializers.ListField):
    child = BreakpointIn()

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=BREAKPOINTS_LIMIT, **options)


class CommandIn(Input):
    command_id = serializers.UUIDField()


class BreakpointsIn(Input):
    command_id = serializers.UUIDField()
    breakpoints = BreakpointList()


class BreakpointOut(serializers.Serializer[Any]):
    node = serializers.CharField(required=False)
    path = serializers.CharField(required=False)


class BreakpointsOut(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=[status.value for status in RunStatus])
    breakpoints = BreakpointOut(many=True)
    paused_at = serializers.ListField(child=serializers.CharField())
