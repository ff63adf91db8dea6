"""What watches over runs: sums by the hour for the overview, and alerts with what became of each."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from builder.workflows.models import Workflow
from kit.ids import new_id
from teams.models import Workspace


class Look(models.Model):
    """How far a loop of the sweeper has looked. Whoever looks holds the row, so two sweepers never look at once."""

    name = models.CharField(max_length=32, primary_key=True)
    looked_to = models.DateTimeField()


class RunHour(models.Model):
    """How many runs of a workflow were started in an hour, by how they stand. Made anew, whole, whenever one of them
    changed (runs/overview/roll.py): never added to.
    """

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    workflow_id = models.UUIDField()
    hour = models.DateTimeField()
    open = models.IntegerField()
    succeeded = models.IntegerField()
    failed = models.IntegerField()
    cancelled = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "hour", "workflow_id"], name="run_hour_once")]
        indexes = [models.Index(fields=["workflow_id", "hour"], name="run_hour_of_workflow")]


class AlertRule(models.Model):
    """Who is told of what. Its row is locked by whoever gathers its facts into a delivery."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alert_rules")
    workflow = models.ForeignKey(  # None: every workflow
        Workflow, null=True, on_delete=models.CASCADE, related_name="alert_rules"
    )
    name = models.CharField(max_length=100)
    events = models.CharField(max_length=100)  # runs/alerts/shapes.py, between spaces
    channel = models.CharField(max_length=16)  # mail | webhook
    recipients = models.TextField(default="[]")  # of a mail: JSON list of addresses
    connection = models.CharField(max_length=100, default="")  # of a mail: an SMTP one's name; empty: Pawl's own server
    url = models.TextField(default="")  # of a webhook
    secret = models.TextField(null=True)  # noqa: DJ001 - of a webhook, sealed as credentials are
    quiet_s = models.IntegerField()  # between two deliveries: what happens meanwhile is told together
    no_worker_s = models.IntegerField()  # for how long a step has to wait in a lane that nobody serves
    is_enabled = models.BooleanField(default=True)
    since = models.DateTimeField()  # it tells of nothing older
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()


class AlertDelivery(models.Model):
    """One mail or one request, with all facts that it tells. Sent after it is committed, tried again until it is taken
    or given up; `attempts` is the fence of whoever sends it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    status = models.CharField(max_length=16)  # waiting | sent | failed
    is_test = models.BooleanField(db_default=False)
    fact_count = models.IntegerField()
    attempts = models.IntegerField(db_default=0)
    not_before = models.DateTimeField()
    error = models.TextField(null=True)  # noqa: DJ001 - of the last attempt, in words
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["rule", "-created_at"], name="alert_delivery_newest"),
            models.Index(fields=["not_before"], name="alert_delivery_due", condition=Q(status="waiting")),
            models.Index(fields=["created_at"], name="alert_delivery_age"),
        ]


class AlertFact(models.Model):
    """Something that happened and that a rule tells of: once, whoever finds it, by its key."""

    id = models.BigAutoField(primary_key=True)
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="facts", db_index=False)
    key = models.CharField(max_length=200)  # run:<id>:<generation>, tick:<trigger>:<time>, lane:<lane>:<since>, ...
    kind = models.CharField(max_length=16)
    data = models.TextField()  # JSON: what it is told with
    at = models.DateTimeField()
    found_at = models.DateTimeField()
    delivery = models.ForeignKey(AlertDelivery, null=True, on_delete=models.CASCADE, related_name="facts")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "key"], name="alert_fact_once")]
        indexes = [
            models.Index(fields=["rule", "found_at"], name="alert_fact_new", condition=Q(delivery__isnull=True)),
        ]
