"""What the page of a run is told while somebody watches (runs.selectors.watching)."""

from rest_framework import serializers

from runs.api.shapes import Out


class ProgressOut(Out):
    done = serializers.FloatField()
    total = serializers.FloatField(allow_null=True)
    text = serializers.CharField()
    attempt = serializers.IntegerField(help_text="Which told it; it may be an earlier one than the present.")
    at = serializers.DateTimeField()


class PulseOut(Out):
    path = serializers.CharField()
    attempt = serializers.IntegerField()
    heard_s = serializers.FloatField(
        allow_null=True, help_text="Of a running one: seconds since the worker that holds it was heard."
    )
    progress = ProgressOut(allow_null=True)


class PulseList(Out):
    items = PulseOut(many=True)


class UsualOut(Out):
    """Medians, in milliseconds, over the last runs of the workflow."""

    node = serializers.CharField()
    runs = serializers.IntegerField(help_text="How many runs it was seen in.")
    took_ms = serializers.FloatField(help_text="The last attempt, from its start to its end; of a wait, the wait.")
    took_p95_ms = serializers.FloatField()
    queued_ms = serializers.FloatField(allow_null=True)
    began_ms = serializers.FloatField(help_text="Since the run's start.")


class UsualList(Out):
    items = UsualOut(many=True)
