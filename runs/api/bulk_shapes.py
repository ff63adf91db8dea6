"""The API's shapes of bulk operations."""

from typing import Any

from rest_framework import serializers

from runs.api.list_shapes import RunFilters
from runs.api.shapes import RUN_STATUSES, Out, WorkflowRef
from runs.bulk.operations import OPERATIONS
from runs.bulk.services import RUNS_LIMIT
from runs.labels import LABELS_OF_A_RUN, cleaned
from runs.selectors.bulk import STATUSES
from teams.api.doors import AnyJson, Input, PageInput

OPERATION_NAMES = list(OPERATIONS)
BULK_STATUSES = ["running", "waiting", "stopped", "done"]


class LabelChange(Input):
    """At most so many as a run may have."""

    add = serializers.ListField(child=serializers.CharField(max_length=200), default=list, max_length=LABELS_OF_A_RUN)
    remove = serializers.ListField(child=serializers.CharField(max_length=200), default=list, max_length=100)


class BulkSelection(Input):
    operation = serializers.ChoiceField(choices=OPERATION_NAMES)
    filter = RunFilters(required=False, help_text="The filters of the runs list; without any: every run.")
    ids = serializers.ListField(
        child=serializers.UUIDField(), required=False, min_length=1, max_length=RUNS_LIMIT, help_text="These runs."
    )
    labels = LabelChange(required=False, help_text="What `label` adds to each run and takes away from it.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("filter" in attrs) == ("ids" in attrs):
            raise serializers.ValidationError("Name the runs either by a filter or by their ids.")
        change = attrs.get("labels")
        if (attrs["operation"] == "label") != bool(change and (change["add"] or change["remove"])):
            raise serializers.ValidationError({"labels": "The operation 'label' needs labels, and no other takes any."})
        if change:
            attrs["labels"] = {name: cleaned(names) for name, names in change.items()}
        return attrs


class BulkIn(BulkSelection):
    command_id = serializers.UUIDField()
    rate_per_s = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=0.01, max_value=1_000,
        help_text="At most so many runs in any second. Without: as fast as it goes.",
    )  # fmt: skip
    canary = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=RUNS_LIMIT,
        help_text="After so many runs it waits until a person continues it.",
    )  # fmt: skip
    expected_count = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1,
        help_text="The count of the preview: refused where other runs match by now.",
    )  # fmt: skip


class ContinueIn(Input):
    revision = serializers.IntegerField(min_value=1)


class ResultQuery(PageInput):
    status = serializers.ChoiceField(required=False, choices=STATUSES, default="")


class BulkRunRef(Out):
    """The run as it is now. Of one that retention took away, only what the operation kept of it."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RUN_STATUSES, allow_null=True)
    workflow = WorkflowRef(allow_null=True)


class PlanOfRunOut(Out):
    run = BulkRunRef()
    allowed = serializers.BooleanField()
    refusal = serializers.CharField(allow_null=True)
    again = serializers.ListField(child=serializers.CharField())
    again_count = serializers.IntegerField()
    kept_count = serializers.IntegerField()
    may_happen_twice = serializers.ListField(child=serializers.CharField())
    stops_count = serializers.IntegerField()
    saved_s = serializers.FloatField()


class BulkPreview(Out):
    count = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="So many of them are in a status in which they would not be tried.")
    by_status = serializers.DictField(child=serializers.IntegerField())
    plans = PlanOfRunOut(many=True)


class BulkReason(Out):
    code = serializers.ChoiceField(choices=["canary", "by_person", "permission_lost"])
    message = serializers.CharField()


class BulkCounts(Out):
    total = serializers.IntegerField()
    pending = serializers.IntegerField()
    done = serializers.IntegerField()
    refused = serializers.IntegerField()
    skipped = serializers.IntegerField()


class Bulk(Out):
    id = serializers.UUIDField()
    operation = serializers.ChoiceField(choices=OPERATION_NAMES)
    status = serializers.ChoiceField(choices=BULK_STATUSES)
    reason = BulkReason(allow_null=True)
    revision = serializers.IntegerField()
    rate_per_s = serializers.FloatField(allow_null=True)
    canary = serializers.IntegerField(allow_null=True)
    counts = BulkCounts()
    actor = serializers.CharField()
    request = AnyJson()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class BulkList(Out):
    items = Bulk(many=True)
    next = serializers.CharField(allow_null=True)


class BulkResult(Out):
    run = BulkRunRef()
    status = serializers.ChoiceField(choices=STATUSES)
    code = serializers.CharField(allow_null=True)
    message = serializers.CharField(allow_null=True)
    result = AnyJson(allow_null=True)
    actor = serializers.CharField(allow_null=True)
    acted_at = serializers.DateTimeField(allow_null=True)


class BulkResults(Out):
    items = BulkResult(many=True)
    next = serializers.CharField(allow_null=True)
