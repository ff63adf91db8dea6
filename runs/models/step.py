"""Step runs, the checkpoints of a run, and the questions that they wait for."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from kit.ids import new_id
from runs.core.states import StepStatus
from runs.models.run import Run
from teams.models import Workspace


class StepRun(models.Model):
    """One node instance in a run. The row of a succeeded one is frozen by a trigger (promise P1)."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps", db_index=False)  # step_run_path has it
    run_day = models.DateField()
    workspace_id = models.UUIDField(null=True)  # the run's; a trigger sets it where an insert does not
    node_id = models.CharField(max_length=100)
    key = models.CharField(max_length=100)
    kind = models.CharField(max_length=64)
    path = models.TextField()
    parent = models.ForeignKey(  # step_run_items has it: an index that top-level rows do not enter
        "self", null=True, on_delete=models.CASCADE, related_name="children", db_index=False
    )
    item_index = models.IntegerField(null=True)
    status = models.CharField(max_length=16, default=StepStatus.PENDING)
    attempt = models.IntegerField(default=0)
    tries = models.IntegerField(default=0)  # attempts since the last resume that count against the retry policy
    crash_count = models.IntegerField(default=0)  # since the last resume; a budget of its own
    fence = models.BigIntegerField(null=True)  # event number of the present attempt's start
    worker = models.UUIDField(null=True)
    claim = models.UUIDField(null=True)  # made by the worker, so that a lost reply can be asked again
    edition = models.IntegerField(default=1)  # of the input; part of the idempotency key
    changed_seq = models.BigIntegerField(default=0)  # the run's event number when the row was last written
    not_before = models.DateTimeField(null=True)  # ready since, next retry, or the timer's end
    queue = models.CharField(max_length=32, default="default")
    priority = models.SmallIntegerField(default=0)  # the run's; one more is as good as a minute of waiting
    limit_key = models.CharField(max_length=100, null=True)  # noqa: DJ001 - whose limits its start is counted under
    limit_at_most = models.IntegerField(null=True)
    rate_starts = models.IntegerField(null=True)
    rate_per_s = models.FloatField(null=True)
    held_by = models.CharField(max_length=200, null=True)  # noqa: DJ001 - why no claim sees it: a full limit, 'paused'
    delivery = models.CharField(max_length=16, default="at_least_once")
    origin = models.CharField(max_length=16, default="executed")  # executed | manual | copied | reused
    port = models.TextField(null=True)  # noqa: DJ001 - the port that the flow left by
    handled = models.CharField(max_length=16, null=True)  # noqa: DJ001 - fallback | port: the failure was caught
    reason = models.CharField(max_length=32, null=True)  # noqa: DJ001 - why it was skipped, blocked or cancelled
    wait_kind = models.CharField(max_length=16, null=True)  # noqa: DJ001 - timer | approval | children
    input = models.TextField(null=True)  # noqa: DJ001 - resolved config, inline up to 8 kB
    input_ref = models.BinaryField(null=True)
    override = models.TextField(null=True)  # noqa: DJ001 - settings that a person gave in place of the resolved ones
    override_ref = models.BinaryField(null=True)
    output = models.TextField(null=True)  # noqa: DJ001
    output_ref = models.BinaryField(null=True)
    error = models.TextField(null=True)  # noqa: DJ001
    input_hash = models.BinaryField(null=True)  # where the node's policy allows reuse (runs.core.reuse)
    reused_from = models.TextField(null=True)  # noqa: DJ001 - JSON {run, number, path} of the step whose result this is
    # a container's own: its items are its `items` payload, its output is a view over its item rows
    items = models.TextField(null=True)  # noqa: DJ001
    items_ref = models.BinaryField(null=True)
    item_total = models.IntegerField(null=True)
    item_cursor = models.IntegerField(default=0)  # next index that was never opened
    item_open = models.IntegerField(default=0)
    item_failed = models.IntegerField(default=0)
    item_window = models.IntegerField(default=0)
    item_policy = models.CharField(max_length=16, null=True)  # noqa: DJ001 - fail_fast | fail_at_end | continue
    item_tolerated = models.IntegerField(default=0, db_default=0)  # so many failed items do not fail the container
    item_mode = models.CharField(max_length=8, default="each", db_default="each")  # each | rounds | once
    item_gather = models.CharField(max_length=8, default="list", db_default="list")  # list | last
    reopen = models.TextField(null=True)  # noqa: DJ001 - JSON list of item indexes that a resume will open again
    queue_limit_s = models.FloatField(null=True)  # of waiting for a worker; from the node's policy
    queue_until = models.DateTimeField(null=True)  # while ready: then it fails
    total_limit_s = models.FloatField(null=True)  # of all attempts and the pauses between them
    total_until = models.DateTimeField(null=True)  # since its first start after the run's or a person's; then it fails
    ready_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)  # of the present or last attempt
    finished_at = models.DateTimeField(null=True)
    source = models.ForeignKey(  # of a copy: the step run that was executed; it stays as long as copies refer to it
        "self", null=True, on_delete=models.PROTECT, related_name="copies", db_index=False
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="step_run_path")]
        indexes = [
            models.Index(fields=["source"], name="step_run_copies", condition=Q(source__isnull=False)),
            # step_run_turn, by an expression, is made in SQL: what a claim takes next
            models.Index(
                fields=["held_by", "id"],
                name="step_run_held",
                condition=Q(status="ready", held_by__isnull=False),
            ),
            models.Index(
                fields=["workspace_id", "limit_key"],
                name="step_run_limited",
                condition=Q(status="ready", limit_key__isnull=False),
            ),
            models.Index(fields=["run", "id"], name="step_run_ready_of_run", condition=Q(status="ready")),
            models.Index(fields=["worker"], name="step_run_running", condition=Q(status="running")),
            models.Index(  # what falls due by itself
                fields=["not_before"],
                name="step_run_timed",
                condition=Q(status="retry_wait") | Q(status="waiting", wait_kind="timer"),
            ),
            models.Index(  # what of a run waits, also for a person
                fields=["run"],
                name="step_run_asks",
                condition=Q(status__in=["waiting", "needs_decision", "blocked"]),
            ),
            models.Index(fields=["parent", "item_index"], name="step_run_items", condition=Q(parent__isnull=False)),
            models.Index(
                fields=["input_hash", "-finished_at"],
                name="step_run_reusable",
                condition=Q(input_hash__isnull=False, origin="executed", status="succeeded"),
            ),
            # few rows: a sweep of payloads asks whether anything refers to them
            models.Index(fields=["output_ref"], name="step_run_output_ref", condition=Q(output_ref__isnull=False)),
            models.Index(fields=["input_ref"], name="step_run_input_ref", condition=Q(input_ref__isnull=False)),
            models.Index(
                fields=["override_ref"], name="step_run_override_ref", condition=Q(override_ref__isnull=False)
            ),
            models.Index(fields=["items_ref"], name="step_run_items_ref", condition=Q(items_ref__isnull=False)),
            models.Index(
                fields=["queue_until"],
                name="step_run_queue_limit",
                condition=Q(status="ready", queue_until__isnull=False),
            ),
            models.Index(
                fields=["total_until"],
                name="step_run_total_limit",
                condition=Q(status__in=["ready", "retry_wait", "waiting"], total_until__isnull=False),
            ),
            models.Index(  # what the overview counts by step
                fields=["workspace_id", "finished_at"],
                name="step_run_failures",
                condition=Q(status="failed", handled__isnull=True),
            ),
        ]


class Wait(models.Model):
    """An open question of a step run that a person answers. Closed by cancel; a resume opens a new one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="waits")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="waits")
    step_run = models.ForeignKey(  # wait_of_step has it
        StepRun, on_delete=models.CASCADE, related_name="waits", db_index=False
    )
    kind = models.CharField(max_length=16)
    status = models.CharField(max_length=16, default="open")  # open | answered | expired | closed
    data = models.TextField(default="{}")
    attempt = models.IntegerField()
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    answer = models.TextField(null=True)  # noqa: DJ001
    answered_at = models.DateTimeField(null=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "opened_at"], name="wait_open", condition=Q(status="open")),
            models.Index(fields=["step_run"], name="wait_of_step"),
            models.Index(fields=["expires_at"], name="wait_expiry", condition=Q(status="open")),
        ]
