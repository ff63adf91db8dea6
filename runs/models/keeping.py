"""Files that attempts made, and how long a workspace keeps its runs."""

from django.db import models

from runs.models.step import StepRun
from teams.models import Workspace


class ArtifactFile(models.Model):
    """Content, known by its SHA-256 inside its workspace. The file itself is written after this row, and removed before
    it, so that a row that is referred to always has its file.
    """

    workspace = models.ForeignKey(  # artifact_file_content has it
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    sha256 = models.BinaryField()
    size = models.BigIntegerField()
    touched_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "sha256"], name="artifact_file_content")]
        indexes = [models.Index(fields=["touched_at"], name="artifact_file_touched")]


class Artifact(models.Model):
    """A file made by an attempt. The same name in a later attempt is another artifact."""

    step_run = models.ForeignKey(  # artifact_name has it
        StepRun, on_delete=models.CASCADE, related_name="artifacts", db_index=False
    )
    attempt = models.IntegerField()
    fence = models.BigIntegerField()
    name = models.CharField(max_length=200)
    media_type = models.CharField(max_length=200)
    file = models.ForeignKey(ArtifactFile, on_delete=models.PROTECT, related_name="artifacts")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["step_run", "attempt", "name"], name="artifact_name")]


class Retention(models.Model):
    """How many days a workspace keeps its final runs. Without a row, or with null: as the installation's setting
    says.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="retention")
    days = models.IntegerField(null=True)
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=150)
