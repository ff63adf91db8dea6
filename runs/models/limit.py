"""Limits that an installation or a workspace sets, and the starts that a rate is counted from."""

from django.db import models


class Limit(models.Model):
    """At most so many at once: running steps of a queue or a workspace, runs of a workflow. A node's own limits are in
    its policy, a run's in its row.
    """

    name = models.CharField(max_length=200, primary_key=True)  # as runs/core/limits.py makes it
    workspace_id = models.UUIDField(null=True)  # whose it is; none: the installation's
    at_most = models.IntegerField()
    set_at = models.DateTimeField()
    set_by = models.CharField(max_length=150)


class LimitStart(models.Model):
    """That a step with a rate started: counted as long as the rate's period has not passed, then swept."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=200)
    at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["name", "at"], name="limit_start_by_name"),
            models.Index(fields=["expires_at"], name="limit_start_expiry"),
        ]
