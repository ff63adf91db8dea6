"""What a start says about the run's time: its deadline, and its turn among others."""

from rest_framework import serializers

from teams.api.doors import Input

DEADLINE_LIMIT_S = 10 * 366 * 24 * 3600.0


class RunLimit(Input):
    key = serializers.RegexField(r"^\S(.{0,98}\S)?$", help_text="Runs of the workspace with the same key share it.")
    at_most = serializers.IntegerField(min_value=1, max_value=100_000)


DEADLINE = "The run fails when it has not ended so many seconds after its start, or after its last resume."
PRIORITY = "Higher goes first, within the workspace. A level is worth a minute of waiting."
LIMIT = "How many such runs may go on at once."


class TurnInput(Input):
    deadline_s = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=1, max_value=DEADLINE_LIMIT_S, help_text=DEADLINE
    )
    priority = serializers.IntegerField(required=False, default=0, min_value=-10, max_value=10, help_text=PRIORITY)
    limit = RunLimit(required=False, allow_null=True, default=None, help_text=LIMIT)


class TurnChange(Input):
    """Of the runs that come: what is left out stays, null takes it away."""

    deadline_s = serializers.FloatField(
        required=False, allow_null=True, min_value=1, max_value=DEADLINE_LIMIT_S, help_text=DEADLINE
    )
    priority = serializers.IntegerField(required=False, min_value=-10, max_value=10, help_text=PRIORITY)
    limit = RunLimit(required=False, allow_null=True, help_text=LIMIT)


class RunLimitOut(serializers.Serializer[object]):
    key = serializers.CharField()
    at_most = serializers.IntegerField()
