"""The API's shapes of the runs list: its filters, its pages, and how many runs it has."""

from rest_framework import serializers

from runs.api.shapes import RUN_STATUSES, Out, RunRow
from teams.api.doors import Input, PageInput

TRIGGERS = ["manual", "api", "fork", "schedule", "webhook", "run_end", "workflow"]


class RunFilters(Input):
    status = serializers.CharField(required=False, help_text="One or more statuses, separated by commas.")
    workflow = serializers.UUIDField(required=False)
    version = serializers.IntegerField(required=False, min_value=1)
    trigger = serializers.CharField(required=False, help_text="One or more kinds of start, separated by commas.")
    starter = serializers.CharField(required=False, max_length=150, help_text="The name of whoever started it.")
    longer_than_s = serializers.FloatField(required=False, min_value=0, max_value=1e9)
    shorter_than_s = serializers.FloatField(required=False, min_value=0, max_value=1e9)
    failed_step = serializers.CharField(
        required=False, max_length=100, help_text="The key of the step that a run stands failed at."
    )
    error = serializers.CharField(
        required=False, max_length=200, help_text="A part of the message or the code of the failure it stands at."
    )
    fingerprint = serializers.CharField(required=False, max_length=16, help_text="Of that failure's group.")
    label = serializers.CharField(  # type: ignore[assignment]
        required=False, help_text="One or more labels, separated by commas: all of them."
    )
    forked_from = serializers.UUIDField(required=False, help_text="The forks of this run.")
    started_after = serializers.DateTimeField(required=False)
    started_before = serializers.DateTimeField(required=False)
    q = serializers.CharField(
        required=False, max_length=200, help_text="A run's number, or a part of its workflow's name."
    )
    waits = serializers.ChoiceField(
        required=False,
        choices=["person", "nobody"],
        help_text="Open runs that wait for a person, or the other open ones.",
    )

    def validate_status(self, value: str) -> list[str]:
        wanted = [each.strip() for each in value.split(",") if each.strip()]
        unknown = [each for each in wanted if each not in RUN_STATUSES]
        if unknown:
            raise serializers.ValidationError(
                f"There is no run status '{unknown[0]}'. There are: {', '.join(RUN_STATUSES)}."
            )
        return wanted

    def validate_trigger(self, value: str) -> list[str]:
        wanted = [each.strip() for each in value.split(",") if each.strip()]
        unknown = [each for each in wanted if each not in TRIGGERS]
        if unknown:
            raise serializers.ValidationError(f"No run starts by '{unknown[0]}'. There are: {', '.join(TRIGGERS)}.")
        return wanted

    def validate_label(self, value: str) -> list[str]:
        return [each.strip() for each in value.split(",") if each.strip()]


class RunQuery(RunFilters, PageInput):
    pass


class RunList(Out):
    items = RunRow(many=True)
    next = serializers.CharField(allow_null=True)
    looked_back_to = serializers.DateTimeField(
        allow_null=True,
        help_text="Set where the page ends because enough runs were looked at; `next` looks further back.",
    )


class RunCount(Out):
    count = serializers.IntegerField(help_text="Exact, or at least so many.")
    is_exact = serializers.BooleanField()
