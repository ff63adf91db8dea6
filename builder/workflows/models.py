"""Workflows: one draft each, and numbered versions that never change."""

from django.conf import settings
from django.db import models

from kit.ids import new_id
from teams.models import Workspace


class Workflow(models.Model):
    """A named thing with one draft and numbered, immutable published versions."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="workflows")
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)  # of its name or its draft, whichever came last
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["workspace", "-updated_at", "-id"], name="workflows_by_last_change")]

    def __str__(self) -> str:
        return self.name


class Draft(models.Model):
    """What is being edited. `revision` grows by one at each save; a save must name the one it started from."""

    workflow = models.OneToOneField(Workflow, on_delete=models.CASCADE, primary_key=True, related_name="draft")
    revision = models.PositiveIntegerField(default=1)
    graph = models.TextField()  # the document as JSON text (any JSON value comes back equal)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return f"draft of {self.workflow_id}, revision {self.revision}"


class Version(models.Model):
    """A published graph. A trigger in the database refuses every change of it.

    The one exception: who published it becomes empty when that user is deleted.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    graph = models.TextField()  # what runs
    drawn_graph = models.TextField(blank=True, default="", db_default="")  # what was drawn, where that differs
    note = models.CharField(max_length=500, blank=True)
    published_at = models.DateTimeField(auto_now_add=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workflow", "number"], name="version_numbers_are_unique")]

    def __str__(self) -> str:
        return f"version {self.number} of {self.workflow_id}"

    @property
    def drawn(self) -> str:
        """The draft that was published, as JSON text: what a canvas shows, compares and brings back."""
        return self.drawn_graph or self.graph
