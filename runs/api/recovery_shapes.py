"""The API's shapes of what may be done to a run that cannot go on."""

from typing import Any

from rest_framework import serializers

from runs.api import shapes
from runs.api.shapes import ActIn, Out
from teams.api.doors import AnyJson, Input

FATES = ["kept", "again", "new", "removed"]
OF_A_STEP = ("decide", "edit_input", "skip", "supply_output", "retry_now")


class PreviewIn(Input):
    operation = serializers.ChoiceField(choices=["resume", "fork", "cancel", "pause", "unpause", *OF_A_STEP])
    paths = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True, default=None)
    path = serializers.CharField(required=False, allow_null=True, default=None)
    decision = serializers.ChoiceField(required=False, default="happened", choices=shapes.DECISIONS)
    input = AnyJson(required=False, allow_null=True, default=None)
    port = serializers.CharField(required=False, allow_null=True, default=None)
    version = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    same_effects = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["operation"] in OF_A_STEP and attrs["path"] is None:
            raise serializers.ValidationError({"path": ["Name the step."]})
        return attrs


class EditInputIn(ActIn):
    operation = "edit_input"
    input = AnyJson(source="given")


class SkipIn(ActIn):
    operation = "skip"


class SupplyIn(ActIn):
    operation = "supply_output"
    output = AnyJson(allow_null=True)
    port = serializers.CharField(required=False, allow_null=True, default=None)


class RetryNowIn(ActIn):
    operation = "retry_now"


class ForkIn(ActIn):
    operation = "fork"
    path = serializers.CharField(
        required=False, allow_null=True, default=None, help_text="The step from which everything runs again."
    )
    version = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, help_text="Left out: the run's own."
    )
    same_effects = serializers.BooleanField(
        required=False, default=False, help_text="The outside sees the same idempotency keys as of the forked run."
    )


# ---------------------------------------------------------------------- out


class NodeFateOut(Out):
    key = serializers.CharField()
    action = serializers.ChoiceField(choices=FATES)
    reason = serializers.CharField()


class EffectOut(Out):
    path = serializers.CharField()
    delivery = serializers.CharField(help_text="`keyed` or `at_most_once`.")
    may_happen_twice = serializers.BooleanField()


class Preview(Out):
    allowed = serializers.BooleanField()
    refusal = serializers.CharField(allow_null=True)
    generation = serializers.IntegerField()
    kept = serializers.ListField(
        child=serializers.CharField(), help_text="Finished steps that stay, without those inside containers."
    )
    again = serializers.ListField(child=serializers.CharField())
    effects = EffectOut(many=True)
    nodes = NodeFateOut(many=True)
    saved_s = serializers.FloatField(
        help_text="What the steps that stay took, of a container its items; not what waited for a person or a callback."
    )
    child_runs = serializers.IntegerField(
        help_text="Of cancel, pause and unpause: how many runs inside this one, at any depth, do so with it."
    )
    plan = serializers.CharField(
        allow_null=True, help_text="Sent with the act: it does just this, or answers 409 `plan_changed`."
    )
