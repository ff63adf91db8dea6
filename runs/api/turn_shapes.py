"""What a start says about the run's time: its deadline, and its turn among others."""

from rest_framework import serializers

from teams.api.doors import Input

DEADLINE_LIMIT_S = 10 * 366 * 24 * 3600.0


class RunLimit(Input):
    key = serializers.RegexField(r"^\S(.{0,98}\S)?$", help_text="Runs of the workspace with the same key share it.")
    at_most = serializers.IntegerField(min_value=1, max_value=100_000)


class TurnInput(Input):
    deadline_s = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=1, max_value=DEADLINE_LIMIT_S,
        help_text="The run fails when it has not ended so many seconds after its start, or after its last resume.",
    )  # fmt: skip
    priority = serializers.IntegerField(
        required=False, default=0, min_value=-10, max_value=10,
        help_text="Higher goes first, within the workspace. A level is worth a minute of waiting.",
    )  # fmt: skip
    limit = RunLimit(required=False, allow_null=True, default=None, help_text="How many such runs may go on at once.")
