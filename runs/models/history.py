"""What only grows: partitioned by the day of the run (made in SQL), and the payloads."""

from django.db import models


class Payload(models.Model):
    """A JSON text too large for a row, known by its SHA-256: written before the transaction that refers to it."""

    hash = models.BinaryField(primary_key=True)
    body = models.TextField()
    size = models.BigIntegerField()
    touched_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["touched_at"], name="payload_touched")]


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
    input_ref = models.BinaryField(null=True)
    ready_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "runs_attempt"


class Checkpoint(models.Model):
    """What a body keeps while it runs, by kind and name, one row each. It outlives its attempt.

    A `once` value and a `partial` output stay as they are; a cursor, the progress and an act have their latest state,
    with the attempt that told it. `ordinal` grows within an attempt: an older write never replaces a newer one.
    """

    pk = models.CompositePrimaryKey("run_day", "step_run_id", "number")
    run_day = models.DateField()
    step_run_id = models.BigIntegerField()
    number = models.BigIntegerField()
    attempt = models.IntegerField()
    fence = models.BigIntegerField()
    ordinal = models.BigIntegerField()
    kind = models.TextField()  # once | partial | cursor | progress | act
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
