"""What starts runs without a person, and the ledger of what became of each time that it should."""

from django.conf import settings as django_settings
from django.db import models
from django.db.models import Q

from builder.workflows.models import Workflow
from kit.ids import new_id
from teams.models import Workspace


class Trigger(models.Model):
    """A schedule, a webhook, or another workflow's end. Its row is locked by whoever decides about its firings, so
    several sweepers and a person who edits it come one after the other.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="triggers")
    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="triggers")
    kind = models.CharField(max_length=16)  # schedule | webhook | run_end
    name = models.CharField(max_length=100)
    is_enabled = models.BooleanField(default=True)
    settings = models.TextField()  # JSON text, checked by kind (runs/triggers/shapes.py)
    secret = models.TextField(null=True)  # noqa: DJ001 - of a webhook, sealed as credentials are
    path = models.CharField(max_length=64, null=True, unique=True)  # noqa: DJ001 - of a webhook: random, never chosen
    source = models.ForeignKey(Workflow, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    ends = models.CharField(max_length=64, default="")  # which ends of the source's runs: statuses between spaces
    overlap = models.CharField(max_length=16, default="")  # of a schedule, for the sweeper's question
    decided_to = models.DateTimeField(null=True)  # every tick up to here is in the ledger, or was before its time
    next_at = models.DateTimeField(null=True)  # the next tick of an enabled schedule
    # of the runs that it starts, as a start through the API names them
    priority = models.SmallIntegerField(default=0, db_default=0)
    limit_key = models.CharField(max_length=100, null=True)  # noqa: DJ001
    limit_at_most = models.IntegerField(null=True)
    deadline_s = models.FloatField(null=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["next_at"], name="trigger_due", condition=Q(next_at__isnull=False)),
            models.Index(fields=["source"], name="trigger_source", condition=Q(source__isnull=False, is_enabled=True)),
        ]


class Firing(models.Model):
    """One time that a trigger was due, and what became of it: one row for each, whatever the number of sweepers, web
    processes and repeated deliveries. `key` is the tick, the delivery, or the end of the source's run.

    No constraint of the database leads to the trigger: a run that ends adds rows here, and must wait for nobody who
    deletes one.
    """

    id = models.BigAutoField(primary_key=True)
    trigger = models.ForeignKey(
        Trigger, on_delete=models.CASCADE, related_name="firings", db_constraint=False, db_index=False
    )
    key = models.CharField(max_length=200)
    status = models.CharField(max_length=16)  # runs/core/firings.py
    reason = models.TextField(null=True)  # noqa: DJ001 - why it is so, as a code; a failure's own words follow in detail
    detail = models.TextField(null=True)  # noqa: DJ001
    due_at = models.DateTimeField()
    is_backfill = models.BooleanField(db_default=False)
    run_id = models.UUIDField(null=True)  # the run that it started
    source_run_id = models.UUIDField(null=True)  # the run whose end it is
    digest = models.BinaryField(null=True)  # of a delivery, to tell a replay from another one under the same name
    signature = models.BinaryField(null=True)  # what was signed of a delivery, with its time: never taken twice
    created_at = models.DateTimeField()
    fired_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["trigger", "key"], name="firing_once"),
            models.UniqueConstraint(
                fields=["trigger", "signature"], name="firing_signature", condition=Q(signature__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["trigger", "-due_at", "-id"], name="firing_newest"),
            models.Index(fields=["trigger", "due_at", "id"], name="firing_queued", condition=Q(status="queued")),
            models.Index(fields=["trigger", "created_at"], name="firing_rate"),
            models.Index(fields=["created_at"], name="firing_age"),
            models.Index(
                fields=["trigger", "due_at"], name="firing_amiss", condition=Q(status__in=["missed", "failed"])
            ),
        ]
