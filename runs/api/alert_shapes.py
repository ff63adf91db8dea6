"""The API's shapes of alerts."""

from rest_framework import serializers

from runs.alerts.shapes import CHANNELS, EVENTS, NO_WORKER_S, QUIET_S
from runs.api.shapes import Out, WorkflowRef
from teams.api.doors import Input

DELIVERY_STATUSES = ["waiting", "sent", "failed"]


class AlertChange(Input):
    """What is left out stays."""

    name = serializers.CharField(max_length=100, required=False)
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS), required=False)
    recipients = serializers.ListField(child=serializers.CharField(max_length=320), required=False)
    connection = serializers.CharField(
        max_length=100, required=False, allow_blank=True, help_text="Of a mail: an SMTP one. Empty: Pawl's own server."
    )
    url = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    quiet_s = serializers.IntegerField(
        required=False, min_value=QUIET_S[0], max_value=QUIET_S[1], help_text="Between two deliveries."
    )
    no_worker_s = serializers.IntegerField(
        required=False,
        min_value=NO_WORKER_S[0],
        max_value=NO_WORKER_S[1],
        help_text="How long a step must wait in a lane that no worker serves.",
    )
    enabled = serializers.BooleanField(required=False)


class AlertCreate(AlertChange):
    name = serializers.CharField(max_length=100)
    workflow = serializers.UUIDField(required=False, allow_null=True, default=None, help_text="None: every workflow.")
    channel = serializers.ChoiceField(choices=CHANNELS)
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS))
    recipients = serializers.ListField(child=serializers.CharField(max_length=320), required=False, default=list)
    connection = serializers.CharField(max_length=100, required=False, allow_blank=True, default="")
    url = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    quiet_s = serializers.IntegerField(required=False, default=300, min_value=QUIET_S[0], max_value=QUIET_S[1])
    no_worker_s = serializers.IntegerField(
        required=False, default=120, min_value=NO_WORKER_S[0], max_value=NO_WORKER_S[1]
    )
    enabled = serializers.BooleanField(required=False, default=True)


class AlertQuery(Input):
    workflow = serializers.UUIDField(required=False, help_text="Those that tell of it: its own and those of all.")


class AlertFactOut(Out):
    kind = serializers.ChoiceField(choices=EVENTS)
    at = serializers.DateTimeField()
    text = serializers.CharField()
    run = serializers.UUIDField(allow_null=True)


class AlertDeliveryOut(Out):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=DELIVERY_STATUSES)
    is_test = serializers.BooleanField()
    facts = AlertFactOut(many=True, help_text="The newest few.")
    fact_count = serializers.IntegerField()
    attempts = serializers.IntegerField()
    error = serializers.CharField(allow_null=True, help_text="Of the last attempt.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried next.")
    created_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True)


class AlertOut(Out):
    id = serializers.UUIDField()
    name = serializers.CharField()
    workflow = WorkflowRef(allow_null=True)
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS))
    channel = serializers.ChoiceField(choices=CHANNELS)
    recipients = serializers.ListField(child=serializers.CharField())
    connection = serializers.CharField()
    url = serializers.CharField(help_text="Whoever may not change it sees only where it leads.")
    quiet_s = serializers.IntegerField()
    no_worker_s = serializers.IntegerField()
    enabled = serializers.BooleanField()
    untold = serializers.IntegerField(help_text="What happened and goes with the next delivery; at most 1,000.")
    deliveries = AlertDeliveryOut(many=True, help_text="The latest few.")
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class AlertMade(AlertOut):
    secret = serializers.CharField(allow_null=True, help_text="Of a webhook. It is shown this once.")


class AlertList(Out):
    items = AlertOut(many=True)
    has_own_mail = serializers.BooleanField(help_text="Whether this Pawl has a mail server of its own.")


class AlertDeliveryList(Out):
    items = AlertDeliveryOut(many=True)
    next = serializers.CharField(allow_null=True)
