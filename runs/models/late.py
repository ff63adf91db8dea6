"""What attempts did that were no longer theirs to do."""

from django.db import models

from runs.models.step import StepRun


class LateEffect(models.Model):
    """An act of an attempt whose results were refused: somebody else had been given its step meanwhile, so the outside
    may have seen the effect late, or twice (with the same idempotency key). Counted by /api/health.
    """

    step_run = models.ForeignKey(StepRun, on_delete=models.CASCADE, related_name="late_effects", db_index=False)
    attempt = models.IntegerField()
    fence = models.BigIntegerField()
    worker = models.UUIDField(null=True)  # as whose it was refused
    act = models.CharField(max_length=200)
    outcome = models.CharField(max_length=16)  # done | failed | unknown: as far as the attempt itself told
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["step_run", "fence", "act"], name="late_effect_once")]
        indexes = [models.Index(fields=["-at"], name="late_effect_newest")]
