"""Rows of running workflows. Written by runs/store.py and runs/engine only; everybody else reads.

JSON values are kept as text: any JSON value comes back equal (NUL characters, lone surrogates, 64-bit integers). All
times are the database's clock. The tables that grow (event, attempt, checkpoint, log chunk) are partitioned by the day
on which their run was created; `run_day` is part of every key of theirs, and no foreign key points at them.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from builder.workflows.models import Version, Workflow
from kit.ids import new_id
from runs.core.states import RunStatus, StepStatus
from teams.models import Workspace


class Run(models.Model):
    """One execution of one version. Its row is locked by every transition of the run (promises P4, P6)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.BigIntegerField(unique=True)  # what people call it: from a sequence, gaps are possible
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="runs")
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="runs")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="runs")
    trigger = models.CharField(max_length=16, default="manual")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.CharField(max_length=150)
    idempotency_key = models.CharField(max_length=200, null=True)  # noqa: DJ001 - unique where given
    status = models.CharField(max_length=16, default=RunStatus.RUNNING)
    generation = models.IntegerField(default=1)  # +1 at each resume; guards commands
    event_seq = models.BigIntegerField(default=0)  # the last event's number; the next fence
    open_count = models.IntegerField(default=0)  # step runs in an open status
    running_count = models.IntegerField(default=0)
    waiting_count = models.IntegerField(default=0)  # waiting, needs_decision or blocked
    failed_count = models.IntegerField(default=0)  # failed and not handled
    succeeded_count = models.IntegerField(default=0)
    total_count = models.IntegerField(default=0)
    input = models.TextField(default="null")
    priority = models.SmallIntegerField(default=0)
    run_day = models.DateField()
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workflow", "idempotency_key"],
                condition=Q(idempotency_key__isnull=False),
                name="run_idempotency_key",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-number"], name="run_newest"),
            models.Index(fields=["workflow", "-number"], name="run_newest_of_workflow"),
            models.Index(fields=["workspace", "status", "-number"], name="run_by_status"),
            models.Index(
                fields=["id"], name="run_open", condition=Q(status__in=["running", "paused", "cancelling"])
            ),  # few rows, however many runs there were
        ]


class Payload(models.Model):
    """A JSON text too large for a row, known by its SHA-256: written before the transaction that refers to it."""

    hash = models.BinaryField(primary_key=True)
    body = models.TextField()
    size = models.BigIntegerField()
    touched_at = models.DateTimeField()


class StepRun(models.Model):
    """One node instance in a run. The row of a succeeded one is frozen by a trigger (promise P1)."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps", db_index=False)  # step_run_path has it
    run_day = models.DateField()
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
    not_before = models.DateTimeField(null=True)  # ready since, next retry, or the timer's end
    queue = models.CharField(max_length=32, default="default")
    priority = models.SmallIntegerField(default=0)
    delivery = models.CharField(max_length=16, default="at_least_once")
    origin = models.CharField(max_length=16, default="executed")  # executed | manual | copied | reused
    port = models.TextField(null=True)  # noqa: DJ001 - the port that the flow left by
    handled = models.CharField(max_length=16, null=True)  # noqa: DJ001 - fallback | port: the failure was caught
    reason = models.CharField(max_length=32, null=True)  # noqa: DJ001 - why it was skipped, blocked or cancelled
    wait_kind = models.CharField(max_length=16, null=True)  # noqa: DJ001 - timer | approval | children
    input = models.TextField(null=True)  # noqa: DJ001 - resolved config, inline up to 8 kB
    input_ref = models.BinaryField(null=True)
    output = models.TextField(null=True)  # noqa: DJ001
    output_ref = models.BinaryField(null=True)
    error = models.TextField(null=True)  # noqa: DJ001
    # a container's own: its items are its `items` payload, its output is a view over its item rows
    items = models.TextField(null=True)  # noqa: DJ001
    items_ref = models.BinaryField(null=True)
    item_total = models.IntegerField(null=True)
    item_cursor = models.IntegerField(default=0)  # next index that was never opened
    item_open = models.IntegerField(default=0)
    item_failed = models.IntegerField(default=0)
    item_window = models.IntegerField(default=0)
    item_policy = models.CharField(max_length=16, null=True)  # noqa: DJ001 - fail_fast | fail_at_end | continue
    reopen = models.TextField(null=True)  # noqa: DJ001 - JSON list of item indexes that a resume will open again
    ready_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)  # of the present or last attempt
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="step_run_path")]
        indexes = [
            models.Index(
                fields=["queue", "-priority", "not_before", "id"], name="step_run_ready", condition=Q(status="ready")
            ),
            models.Index(fields=["run", "id"], name="step_run_ready_of_run", condition=Q(status="ready")),
            models.Index(fields=["worker"], name="step_run_running", condition=Q(status="running")),
            models.Index(fields=["not_before"], name="step_run_due", condition=Q(status__in=["retry_wait", "waiting"])),
            models.Index(fields=["parent", "item_index"], name="step_run_items", condition=Q(parent__isnull=False)),
        ]


class Wait(models.Model):
    """An open question of a step run that a person answers. Closed by cancel; a resume opens a new one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="waits")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="waits")
    step_run = models.ForeignKey(StepRun, on_delete=models.CASCADE, related_name="waits")
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


class Command(models.Model):
    """A person's act on a run, known by the id that their client made: a repeat gets the first one's result."""

    id = models.UUIDField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="commands")
    operation = models.CharField(max_length=32)
    actor = models.CharField(max_length=150)
    result = models.TextField()
    created_at = models.DateTimeField()


class Worker(models.Model):
    """One worker process, from one boot. Only the sweeper sets `dead_at`."""

    id = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=200)
    boot_id = models.CharField(max_length=64)
    pid_namespace = models.CharField(max_length=64)
    pid = models.IntegerField()
    pid_started = models.BigIntegerField()  # clock ticks since boot, from /proc
    queues = models.TextField()
    threads = models.IntegerField()
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()
    dead_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["heartbeat_at"], name="worker_alive", condition=Q(dead_at__isnull=True))]


class Sweeper(models.Model):
    """That a sweeper runs, and since when it has had unbroken contact with the database."""

    id = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()


class Event(models.Model):
    """What happened in a run, numbered 1..n without a gap; append-only by trigger (promise P6)."""

    pk = models.CompositePrimaryKey("run_day", "run_id", "seq")
    run_day = models.DateField()
    run_id = models.UUIDField()
    seq = models.BigIntegerField()
    type = models.TextField()
    path = models.TextField(null=True)  # noqa: DJ001
    attempt = models.IntegerField(null=True)
    actor = models.TextField()
    data = models.TextField()
    at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "runs_event"


class Attempt(models.Model):
    """One try to execute a step run, inserted once, at its end."""

    pk = models.CompositePrimaryKey("run_day", "step_run_id", "number")
    run_day = models.DateField()
    step_run_id = models.BigIntegerField()
    number = models.IntegerField()
    run_id = models.UUIDField()
    fence = models.BigIntegerField(null=True)
    worker = models.UUIDField(null=True)
    outcome = models.TextField()  # succeeded | failed | timed_out | lost | cancelled | fenced_out
    error = models.TextField(null=True)  # noqa: DJ001
    input = models.TextField(null=True)  # noqa: DJ001
    ready_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "runs_attempt"


class Checkpoint(models.Model):
    """A partial result inside a body: `once` values and `partial` outputs. It outlives its attempt."""

    pk = models.CompositePrimaryKey("run_day", "step_run_id", "number")
    run_day = models.DateField()
    step_run_id = models.BigIntegerField()
    number = models.BigIntegerField()
    attempt = models.IntegerField()
    fence = models.BigIntegerField()
    kind = models.TextField()  # once | partial
    key = models.TextField()
    value = models.TextField()
    at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "runs_checkpoint"


class LogChunk(models.Model):
    """A piece of what an attempt printed, by its offset in bytes of UTF-8."""

    pk = models.CompositePrimaryKey("run_day", "step_run_id", "attempt", "offset")
    run_day = models.DateField()
    step_run_id = models.BigIntegerField()
    attempt = models.IntegerField()
    offset = models.BigIntegerField()
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "runs_logchunk"
