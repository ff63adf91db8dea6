"""The API's shapes of runs: what comes in is checked, what goes out is described for openapi.yaml."""

from typing import Any, ClassVar

from rest_framework import serializers

from runs.api.breakpoint_shapes import BreakpointList, BreakpointOut
from runs.api.inbox_shapes import Follows
from runs.api.kept_shapes import ArtifactOut, CheckpointOut, ReusedFrom, Value
from runs.api.plans import plan_seen
from runs.api.turn_shapes import RunLimitOut, TurnInput
from runs.core.states import RunStatus, StepStatus
from teams.api.doors import AnyJson, Input, PageInput

RUN_STATUSES = [status.value for status in RunStatus]
LONGEST_KEY = 200
STEP_STATUSES = [status.value for status in StepStatus]
DECISIONS = ["happened", "not_happened", "run_again", "skip"]


class Out(serializers.Serializer[Any]):
    """Describes an answer."""


# ---------------------------------------------------------------------- in


class RunStart(TurnInput):
    input = AnyJson(required=False, default=None, allow_null=True)
    version = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    idempotency_key = serializers.CharField(required=False, allow_null=True, default=None, max_length=LONGEST_KEY)
    breakpoints = BreakpointList(required=False, default=list, help_text="Steps before which the run pauses.")


class EventQuery(Input):
    after = serializers.IntegerField(required=False, default=0, min_value=0)


class LogQuery(Input):
    attempt = serializers.IntegerField(required=False, default=None, min_value=1, allow_null=True)
    after = serializers.IntegerField(required=False, default=0, min_value=0)


class ItemQuery(PageInput):
    status = serializers.ChoiceField(required=False, choices=STEP_STATUSES, default="")


class WaitQuery(PageInput):
    kind = serializers.ChoiceField(required=False, choices=["approval", "form"])


class ActIn(Input):
    """An operation that was previewed: `plan` is the preview's token, and the act does just that or answers 409."""

    command_id = serializers.UUIDField()
    generation = serializers.IntegerField(min_value=1)
    plan = serializers.CharField(required=False, allow_null=True, default=None, max_length=64, source="seen")

    operation: ClassVar[str]  # as a preview calls it

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {**attrs, "seen": plan_seen(attrs["seen"], self.operation, attrs)}


class ResumeIn(ActIn):
    operation = "resume"
    paths = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True, default=None)


class CancelIn(Input):
    command_id = serializers.UUIDField()


class DecideIn(ActIn):
    operation = "decide"
    decision = serializers.ChoiceField(choices=DECISIONS)
    output = AnyJson(required=False, allow_null=True, default=None)


class AnswerIn(Input):
    command_id = serializers.UUIDField()
    decision = serializers.ChoiceField(choices=["approved", "rejected", "submitted"])
    comment = serializers.CharField(required=False, default="", allow_blank=True, max_length=10_000)
    data = AnyJson(required=False, allow_null=True, default=None)  # type: ignore[assignment]
    seen = serializers.CharField(
        required=False, allow_null=True, default=None, max_length=64, help_text="The `shown_hash` of what was answered."
    )


# ---------------------------------------------------------------------- out


class WorkflowRef(Out):
    id = serializers.UUIDField()
    name = serializers.CharField()


class StepError(Out):
    code = serializers.CharField()
    message = serializers.CharField()
    data = AnyJson(required=False)  # type: ignore[assignment]


class RunError(Out):
    code = serializers.CharField(help_text="`steps_failed` or `run_deadline`.")
    message = serializers.CharField()


class FailedStep(Out):
    path = serializers.CharField()
    error = StepError(allow_null=True)


class WaitsFor(Out):
    path = serializers.CharField()
    kind = serializers.CharField()


class Counts(Out):
    total = serializers.IntegerField()
    open = serializers.IntegerField()
    running = serializers.IntegerField()
    waiting = serializers.IntegerField()
    failed = serializers.IntegerField()
    succeeded = serializers.IntegerField()


class ForkedFrom(Out):
    id = serializers.UUIDField()
    number = serializers.IntegerField()


class RunRow(Out):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RUN_STATUSES)
    generation = serializers.IntegerField()
    workflow = WorkflowRef()
    version = serializers.IntegerField()
    trigger = serializers.CharField(help_text="manual, api, fork, schedule, webhook or run_end")
    trigger_id = serializers.UUIDField(allow_null=True)
    forked_from = ForkedFrom(allow_null=True)
    started_by = serializers.CharField()
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    counts = Counts()
    failed_step = FailedStep(allow_null=True)
    waits_for = WaitsFor(allow_null=True)
    error = RunError(allow_null=True)
    labels = serializers.ListField(child=serializers.CharField())
    deadline_at = serializers.DateTimeField(allow_null=True)
    paused_at = serializers.ListField(
        child=serializers.CharField(), help_text="Of a paused run: the steps before which a breakpoint stopped it."
    )
    paused_by = serializers.ChoiceField(
        choices=["itself", "parent", "both"],
        allow_null=True,
        help_text="Of a paused run: by a person or a breakpoint of its own, with the run that waits for it, or both.",
    )


class RunOutput(Out):
    """What a run that has succeeded answers: of its output steps the last to end."""

    value = AnyJson()
    size = serializers.IntegerField()
    truncated = serializers.BooleanField()


class ParentStep(Out):
    run = serializers.UUIDField()
    number = serializers.IntegerField()
    workflow = WorkflowRef()
    path = serializers.CharField()


class Pause(Out):
    since = serializers.DateTimeField()
    by = serializers.CharField()
    at = serializers.CharField(allow_null=True, help_text="The step before which a breakpoint paused it.")


class RunWithInput(RunRow):
    input = AnyJson()
    pause = Pause(allow_null=True, help_text="Of a paused run: since when, and by whom.")
    forked_at = serializers.CharField(allow_null=True, help_text="Of a fork: the step from which it runs again.")
    parent = ParentStep(allow_null=True)
    breakpoints = BreakpointOut(many=True)
    deadline_s = serializers.FloatField(allow_null=True)
    priority = serializers.IntegerField()
    limit = RunLimitOut(allow_null=True)
    output = RunOutput(allow_null=True)


class MapCounts(Out):
    total = serializers.IntegerField()
    opened = serializers.IntegerField()
    settled = serializers.IntegerField()
    failed = serializers.IntegerField()


class ChildRun(Out):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RUN_STATUSES)
    workflow = WorkflowRef()


class Step(Out):
    path = serializers.CharField()
    node = serializers.CharField()
    key = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    index = serializers.IntegerField(allow_null=True)
    kind = serializers.CharField()
    status = serializers.ChoiceField(choices=STEP_STATUSES)
    attempt = serializers.IntegerField()
    crash_count = serializers.IntegerField()
    port = serializers.CharField(allow_null=True)
    handled = serializers.ChoiceField(choices=["fallback", "port"], allow_null=True)
    reason = serializers.CharField(allow_null=True)
    wait = serializers.ChoiceField(
        choices=["timer", "approval", "form", "callback", "children", "child"], allow_null=True
    )
    origin = serializers.CharField()
    reused_from = ReusedFrom(allow_null=True)
    error = StepError(allow_null=True)
    not_before = serializers.DateTimeField(allow_null=True)
    ready_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    duration_ms = serializers.FloatField(allow_null=True)
    delivery = serializers.CharField(
        help_text="`at_most_once`, or `at_least_once`: it may run again after a crash, its kind being pure or keyed."
    )
    idempotency_key = serializers.CharField()
    fence = serializers.IntegerField(allow_null=True)
    map = MapCounts(allow_null=True)
    child = ChildRun(allow_null=True)


class Snapshot(Out):
    run = RunWithInput()
    graph = AnyJson()
    steps = Step(many=True)
    seq = serializers.IntegerField()


class EventOut(Out):
    seq = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.DateTimeField()
    path = serializers.CharField(allow_null=True)
    attempt = serializers.IntegerField(allow_null=True)
    actor = serializers.CharField()
    data = AnyJson()  # type: ignore[assignment]


class EventList(Out):
    items = EventOut(many=True)
    last = serializers.IntegerField()


class AttemptOut(Out):
    number = serializers.IntegerField()
    fence = serializers.IntegerField(allow_null=True)
    worker = serializers.UUIDField(allow_null=True)
    outcome = serializers.ChoiceField(choices=["succeeded", "failed", "timed_out", "lost", "cancelled", "skipped"])
    ready_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField()
    error = StepError(allow_null=True)
    input = Value(allow_null=True)


class VoteOut(Out):
    name = serializers.CharField()
    decision = serializers.ChoiceField(choices=["approved", "rejected"])
    comment = serializers.CharField()
    at = serializers.DateTimeField()


class WaitOut(Out):
    id = serializers.UUIDField()
    kind = serializers.CharField()
    status = serializers.ChoiceField(choices=["open", "answered", "expired", "closed"])
    attempt = serializers.IntegerField()
    data = AnyJson()  # type: ignore[assignment]
    opened_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    answer = AnyJson(allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    answered_by = serializers.CharField(allow_null=True)
    shown_hash = serializers.CharField()
    votes = VoteOut(many=True)


class CopiedFrom(Out):
    run = ForkedFrom()
    path = serializers.CharField()


class StepDetail(Out):
    step = Step()
    input = Value()
    edition = serializers.IntegerField()
    copied_from = CopiedFrom(allow_null=True)
    override = Value(allow_null=True)
    output = Value()
    attempts = AttemptOut(many=True)
    checkpoints = CheckpointOut(many=True)
    artifacts = ArtifactOut(many=True)
    waits = WaitOut(many=True)
    why = serializers.CharField(allow_null=True)


class StepList(Out):
    items = Step(many=True)
    next = serializers.CharField(allow_null=True)


class Resumed(Out):
    generation = serializers.IntegerField()
    status = serializers.ChoiceField(choices=RUN_STATUSES)
    again = serializers.ListField(child=serializers.CharField())


class StatusOut(Out):
    status = serializers.CharField()


class Answered(Out):
    decision = serializers.CharField()
    decided = serializers.CharField(
        required=False, allow_null=True, help_text="What the votes came to; null while more are needed."
    )
    approvals = serializers.IntegerField(required=False)
    rejections = serializers.IntegerField(required=False)


class CallbackTaken(Out):
    result = serializers.ChoiceField(choices=["taken", "kept", "already"])


class CallbackLink(Out):
    url = serializers.CharField()


class RunRef(Out):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    workflow = WorkflowRef()
    version = serializers.IntegerField()


class InboxWait(WaitOut):
    path = serializers.CharField()
    follows = Follows()
    run = RunRef()


class WaitList(Out):
    items = InboxWait(many=True)
    next = serializers.CharField(allow_null=True)
