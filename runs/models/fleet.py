"""The processes that execute runs."""

from django.db import models
from django.db.models import Q


class Worker(models.Model):
    """One worker process, from one boot. Only the sweeper sets `dead_at`."""

    id = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=200)
    boot_id = models.CharField(max_length=64)
    pid_namespace = models.CharField(max_length=64)
    pid = models.IntegerField()
    pid_started = models.BigIntegerField()  # clock ticks since boot, from /proc
    queues = models.TextField()
    kinds = models.TextField(default="", db_default="")  # that it can run, divided by commas; empty: not told
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


class ClusterEpoch(models.Model):
    """Raised after a failover that may have lost commits: every worker id from before it is invalid."""

    epoch = models.BigAutoField(primary_key=True)
    type = models.CharField(max_length=32, default="cluster.failover")
    actor = models.CharField(max_length=150)
    note = models.TextField(default="")
    workers = models.IntegerField()  # how many were declared dead by it
    at = models.DateTimeField()
