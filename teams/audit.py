"""The audit trail: who did what, to what, when. Written in the transaction of the act itself; it can only grow."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from teams.access import Actor
from teams.models import AuditRecord, Workspace


def record(
    actor: Actor,
    action: str,
    *,
    target: Model,
    workspace: Workspace | None = None,
    data: Mapping[str, Any] | None = None,
) -> None:
    """Adds a line to the trail. Call it inside the transaction of the act, so that both happen or neither.

    `data` says what changed, as JSON values. Never put a secret or a whole document in it: a record is never deleted.
    """
    AuditRecord.objects.create(
        workspace_id=workspace.id if workspace else None,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name,
        action=action,
        target_kind=type(target).__name__.lower(),
        target_id=str(target.pk),
        data=dict(data or {}),
    )
