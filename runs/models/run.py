"""Executions of versions, and what people did to them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from builder.workflows.models import Version, Workflow
from kit.ids import new_id
from runs.core.states import RunStatus
from teams.models import Workspace


class Run(models.Model):
    """One execution of one version. Its row is locked by every transition of the run (promises P4, P6)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.BigIntegerField(unique=True)  # what people call it: from a sequence, gaps are possible
    # run_newest and run_newest_of_workflow have these two
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="runs", db_index=False)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="runs", db_index=False)
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="runs")
    trigger = models.CharField(
        max_length=16, default="manual"
    )  # manual | api | fork | schedule | webhook | run_end | workflow
    trigger_id = models.UUIDField(null=True)  # of the schedule, webhook, ...; it may be gone by now
    trigger_depth = models.SmallIntegerField(db_default=0)  # how many ends of runs led to this one
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.CharField(max_length=150)
    idempotency_key = models.CharField(max_length=200, null=True)  # noqa: DJ001 - unique where given
    forked_from = models.ForeignKey(  # the run whose finished steps it copied; it stays as long as a fork refers to it
        "self", null=True, on_delete=models.PROTECT, related_name="forks", db_index=False
    )
    # of a run that a step of another run has started; no constraint leads there: each is deleted by its own rules
    parent_run_id = models.UUIDField(null=True)
    parent_step_id = models.BigIntegerField(null=True)
    root_id = models.UUIDField(null=True)  # the first of the runs that it lies inside
    depth = models.SmallIntegerField(default=0, db_default=0)  # how many runs it lies inside
    key_root = models.UUIDField(null=True)  # of a fork with the same effects: the run whose idempotency keys it uses
    effects_of_id = models.UUIDField(null=True)  # the run whose effects it repeats; of a fork that is its source
    editions = models.TextField(null=True)  # noqa: DJ001 - JSON by path: of steps of that run which it makes later
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
    breakpoints = models.TextField(null=True)  # noqa: DJ001 - JSON list of {"node"} and {"path"}
    paused_at = models.TextField(null=True)  # noqa: DJ001 - JSON list of paths before which a breakpoint stopped it
    paused_by = models.CharField(max_length=8, null=True)  # noqa: DJ001 - parent | both; else itself, where it is paused
    deadline_s = models.FloatField(null=True)  # from the start, and again from each resume
    deadline_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)  # noqa: DJ001 - JSON {code, message, ...}: why it failed
    priority = models.SmallIntegerField(default=0)  # higher goes first
    limit_key = models.CharField(max_length=100, null=True)  # noqa: DJ001 - at most limit_at_most runs with it at once
    limit_at_most = models.IntegerField(null=True)
    begun_at = models.DateTimeField(null=True)  # since when it is counted under a limit of runs, until it ends
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
            models.Index(fields=["parent_step_id"], name="run_of_step", condition=Q(parent_step_id__isnull=False)),
            models.Index(fields=["parent_run_id"], name="run_children", condition=Q(parent_run_id__isnull=False)),
            models.Index(fields=["forked_from"], name="run_forks", condition=Q(forked_from__isnull=False)),
            models.Index(
                fields=["id"], name="run_open", condition=Q(status__in=["running", "paused", "cancelling"])
            ),  # few rows, however many runs there were
            models.Index(
                fields=["deadline_at"],
                name="run_deadline",
                condition=Q(deadline_at__isnull=False, status__in=["running", "paused"]),
            ),
            models.Index(fields=["run_day"], name="run_day"),
            models.Index(
                fields=["finished_at"],
                name="run_finished",
                condition=Q(status__in=["succeeded", "failed", "cancelled"]),
            ),
            models.Index(
                fields=["trigger_id"],
                name="run_open_of_trigger",
                condition=Q(trigger_id__isnull=False, status__in=["running", "paused", "cancelling"]),
            ),
            models.Index(fields=["workspace"], name="run_begun", condition=Q(begun_at__isnull=False)),
            # for the overview, without a look at the rows themselves
            models.Index(
                fields=["workspace", "created_at"], include=["workflow", "status", "finished_at"], name="run_measured"
            ),
            models.Index(fields=["workspace", "created_at"], name="run_resumed", condition=Q(generation__gt=1)),
            models.Index(fields=["finished_at"], name="run_failed", condition=Q(status="failed")),
        ]


class Command(models.Model):
    """A person's act on a run, known by the id that their client made: a repeat gets the first one's result."""

    id = models.UUIDField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="commands")
    operation = models.CharField(max_length=32)
    actor = models.CharField(max_length=150)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    result = models.TextField()
    created_at = models.DateTimeField()
