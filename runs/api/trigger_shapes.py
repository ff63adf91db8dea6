"""The API's shapes of triggers: what comes in is checked, what goes out is described for openapi.yaml."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from runs.api.shapes import RUN_STATUSES, Out, WorkflowRef
from runs.api.turn_shapes import RunLimitOut, TurnChange
from runs.core.firings import Status
from runs.triggers.shapes import KINDS
from teams.api.doors import Input, PageInput

TRIGGER_KINDS = list(KINDS)
FIRING_STATUSES = [status.value for status in Status]
CLOCKS = ["forward", "back"]
FIRST_YEAR, LAST_YEAR = 1900, 9900


class SettingsField(serializers.DictField):
    """A trigger's settings: which there are depends on its kind (docs/architecture.md, Triggers)."""

    child = serializers.JSONField(allow_null=True)


class TriggerCreate(TurnChange):
    kind = serializers.ChoiceField(choices=TRIGGER_KINDS)
    name = serializers.CharField(max_length=100)
    enabled = serializers.BooleanField(required=False, default=True)
    settings = SettingsField()


class TriggerUpdate(TurnChange):
    name = serializers.CharField(max_length=100, required=False)
    enabled = serializers.BooleanField(required=False)
    settings = SettingsField(required=False, help_text="All of them, the changed ones included.")


class FiringQuery(PageInput):
    status = serializers.ChoiceField(required=False, choices=FIRING_STATUSES, default="")


class MomentField(serializers.DateTimeField):
    """A time around which a schedule may be read: years before and after it are still dates."""

    def to_internal_value(self, value: Any) -> datetime:
        moment: datetime = super().to_internal_value(value)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise serializers.ValidationError(f"Name a time from {FIRST_YEAR} to {LAST_YEAR}.")
        return moment


class BackfillIn(Input):
    begin = MomentField(help_text="From here on, this moment included.")
    end = MomentField(help_text="Up to here, or to now where that is earlier.")
    preview = serializers.BooleanField(required=False, default=False, help_text="Only count them: nothing is queued.")


class PreviewScheduleIn(Input):
    cron = serializers.CharField(max_length=200)
    zone = serializers.CharField(max_length=100, required=False, default="UTC")
    after = MomentField(required=False, allow_null=True, default=None)


# ---------------------------------------------------------------------- out


class Upcoming(Out):
    at = serializers.DateTimeField()
    local = serializers.CharField(help_text="The same moment on the zone's clock.")
    clock = serializers.ChoiceField(
        choices=CLOCKS,
        allow_null=True,
        help_text="forward: the clock skips this time, so it is due at the change. back: the clock shows it twice.",
    )


class UpcomingList(Out):
    items = Upcoming(many=True)


class FiredRun(Out):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RUN_STATUSES)


class FiringOut(Out):
    id = serializers.IntegerField()
    due_at = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=FIRING_STATUSES)
    reason = serializers.CharField(allow_null=True)
    detail = serializers.CharField(allow_null=True)
    is_backfill = serializers.BooleanField()
    is_late = serializers.BooleanField()
    fired_at = serializers.DateTimeField(allow_null=True)
    run = FiredRun(allow_null=True)


class FiringList(Out):
    items = FiringOut(many=True)
    next = serializers.CharField(allow_null=True)


class TriggerOut(Out):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=TRIGGER_KINDS)
    name = serializers.CharField()
    workflow = WorkflowRef()
    enabled = serializers.BooleanField()
    settings = SettingsField()
    priority = serializers.IntegerField(help_text="Of its runs.")
    limit = RunLimitOut(allow_null=True)
    deadline_s = serializers.FloatField(allow_null=True)
    path = serializers.CharField(allow_null=True, help_text="Of a webhook, for those who may start runs.")
    upcoming = Upcoming(many=True)
    last_firing = FiringOut(allow_null=True)
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class TriggerMade(TriggerOut):
    secret = serializers.CharField(allow_null=True, help_text="Of a webhook. It is shown this once.")


class SecretOut(Out):
    secret = serializers.CharField()


class TriggerList(Out):
    items = TriggerOut(many=True)
    next = serializers.CharField(allow_null=True)


class Backfilled(Out):
    ticks = serializers.IntegerField(help_text="Times of the schedule in that span.")
    queued = serializers.IntegerField(help_text="How many of them will run now that had not run before.")
