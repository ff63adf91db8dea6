"""Connections: credentials of outside systems, encrypted, never in a graph and never readable back."""

from django.conf import settings
from django.db import models

from kit.ids import new_id
from teams.models import Workspace


class Connection(models.Model):
    """Named credentials of one kind ('http', 'sql', 'smtp'); a node names it in its field `connection`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="connections")
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=32)
    sealed = models.TextField()  # Fernet token of the JSON of all settings
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="connection_names_are_unique")]

    def __str__(self) -> str:
        return self.name
