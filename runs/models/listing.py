"""What the lists keep beside the runs: labels, failures by their fingerprint, and the views that people save.

None of it is the engine's. Runs are named by value: a foreign key's check would lock them; a trigger takes these rows
away with their run.
"""

from django.conf import settings
from django.db import models

from kit.ids import new_id
from teams.models import Workspace

LONGEST_LABEL = 50


class RunLabel(models.Model):
    """A word that a person put on a run. `number` is the run's, so that a label's runs are read newest first."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(  # run_label_newest has it
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    run_id = models.UUIDField()
    number = models.BigIntegerField()
    label = models.CharField(max_length=LONGEST_LABEL)
    added_by = models.CharField(max_length=150)
    added_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run_id", "label"], name="run_label_once")]
        indexes = [models.Index(fields=["workspace", "label", "-number"], name="run_label_newest")]


class RunFailure(models.Model):
    """That a run failed, once for each generation: at which step first, and of which kind (runs.failures). Written by
    sweepers after the fact: nothing of the engine waits for it.
    """

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(  # failure_newest has it
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    run_id = models.UUIDField()
    generation = models.IntegerField()
    number = models.BigIntegerField()
    workflow_id = models.UUIDField()
    version = models.IntegerField()
    path = models.TextField()  # '' where no step failed: the run's deadline passed
    step_key = models.CharField(max_length=100)
    kind = models.CharField(max_length=64)
    code = models.CharField(max_length=100)
    message = models.TextField()  # its beginning
    fingerprint = models.CharField(max_length=16)
    failed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run_id", "generation"], name="failure_once")]
        indexes = [
            models.Index(fields=["workspace", "-number"], name="failure_newest"),
            models.Index(fields=["workspace", "fingerprint", "-number"], name="failure_of_group"),
            models.Index(fields=["workspace", "step_key", "-number"], name="failure_of_step"),
            models.Index(fields=["failed_at"], name="failure_latest"),
        ]


class FailureGroup(models.Model):
    """Failures of one fingerprint in a workspace, and what people said about them. `seen_count` grows in the statement
    that adds the failures: it is how many there ever were.
    """

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(  # failure_group_once has it
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    fingerprint = models.CharField(max_length=16)
    kind = models.CharField(max_length=64)
    code = models.CharField(max_length=100)
    pattern = models.TextField()  # the message without numbers, ids, paths
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    seen_count = models.BigIntegerField()
    state = models.CharField(max_length=16, default="open", db_default="open")  # open | handled | ignored
    state_by = models.CharField(max_length=150, default="", db_default="")
    state_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=500, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "fingerprint"], name="failure_group_once")]
        indexes = [models.Index(fields=["workspace", "-last_at", "-id"], name="failure_group_newest")]


class SavedView(models.Model):
    """Filters of the runs list under a name: a person's own, or shared with everybody in the workspace."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(  # saved_view_once has it
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000)  # as it stands in the address of the list
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "owner", "name"], name="saved_view_once")]
