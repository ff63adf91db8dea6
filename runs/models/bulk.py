"""One act on many runs: what was asked, and what became of each run."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from teams.models import Workspace


class BulkOperation(models.Model):
    """An operation on many runs. Known by the id of the request that asked for it. Sweepers carry it out, run by run,
    while its status is `running`; its row is locked meanwhile, so only one does.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(  # bulk_newest has it
        Workspace, on_delete=models.PROTECT, related_name="bulk_operations", db_index=False
    )
    operation = models.CharField(max_length=32)
    request = models.TextField()  # JSON of what was asked: the same id with another request is refused
    status = models.CharField(max_length=16, default="running")  # running | waiting | stopped | done
    reason = models.TextField(null=True)  # noqa: DJ001 - JSON {code, message}: why it waits or was stopped
    revision = models.IntegerField(default=1)  # +1 whenever it is stopped, waits or is continued; guards `continue`
    rate_per_s = models.FloatField(null=True)  # runs in any second; null: as fast as it goes
    canary = models.IntegerField(null=True)  # after so many runs it waits until a person continues it
    canary_passed = models.BooleanField(default=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.CharField(max_length=150)  # in whose name it acts: who asked for it, or continued it last
    total = models.IntegerField(default=0)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-created_at"], name="bulk_newest"),
            models.Index(fields=["created_at"], name="bulk_running", condition=Q(status="running")),
        ]


class BulkRun(models.Model):
    """One run of a bulk operation, and its result. Changes once, in the transaction of the act itself."""

    id = models.BigAutoField(primary_key=True)
    bulk = models.ForeignKey(BulkOperation, on_delete=models.CASCADE, related_name="runs", db_index=False)
    # By value: a foreign key's check would lock every chosen run at once, and the result outlives its run.
    run_id = models.UUIDField()
    number = models.BigIntegerField()
    position = models.IntegerField()
    generation = models.IntegerField()  # of the run when it was chosen
    command_id = models.UUIDField()
    status = models.CharField(max_length=16, default="pending")  # pending | done | refused | skipped
    code = models.CharField(max_length=64, null=True)  # noqa: DJ001 - why it was refused or skipped
    message = models.TextField(null=True)  # noqa: DJ001
    result = models.TextField(null=True)  # noqa: DJ001 - JSON
    actor = models.CharField(max_length=150, null=True)  # noqa: DJ001 - in whose name it was done
    acted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bulk", "position"], name="bulk_run_position"),
            models.UniqueConstraint(fields=["bulk", "run_id"], name="bulk_run_once"),
        ]
        indexes = [
            models.Index(fields=["bulk", "position"], name="bulk_run_pending", condition=Q(status="pending")),
            models.Index(fields=["bulk", "acted_at"], name="bulk_run_acted", condition=Q(acted_at__isnull=False)),
        ]
