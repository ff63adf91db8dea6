"""What comes from outside while a step waits: people's votes, and the links by which programs call back."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from runs.models.run import Run
from runs.models.step import StepRun, Wait


class Vote(models.Model):
    """One person's answer to an approval, counted once. It belongs to one question: another question, other votes."""

    wait = models.ForeignKey(Wait, on_delete=models.CASCADE, related_name="votes", db_index=False)  # vote_once has it
    voter = models.CharField(max_length=150)  # the person's id; the actor's name where it is no person
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=150)
    decision = models.CharField(max_length=16)  # approved | rejected
    comment = models.TextField(default="")
    shown_hash = models.CharField(max_length=64)  # of what the person was shown
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["wait", "voter"], name="vote_once")]


class Callback(models.Model):
    """A link by which a program answers one wait of one step run, and what came by it. Its token is kept as a hash."""

    token_hash = models.BinaryField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="callbacks")
    step_run = models.ForeignKey(StepRun, on_delete=models.CASCADE, related_name="callbacks")
    round = models.IntegerField()  # how many waits of the step run were closed without an answer before
    issued_at = models.DateTimeField()
    received_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)  # received and not used: it came before its wait opened
    body = models.TextField(null=True)  # noqa: DJ001 - JSON, until it is used

    class Meta:
        indexes = [
            models.Index(
                fields=["step_run", "round"],
                name="callback_early",
                condition=Q(received_at__isnull=False, used_at__isnull=True),
            ),
        ]
