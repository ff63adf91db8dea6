"""Questions about what is kept: how long a workspace keeps its runs."""

from typing import Any

from django.conf import settings

from runs.models import Retention
from teams.access import Actor, visible_to
from teams.models import Workspace


def retention_of(actor: Actor, workspace: Workspace) -> dict[str, Any]:
    """`days` is the workspace's own choice (0: for ever; None: as the installation says), `effective_days` what
    holds.
    """
    own = visible_to(actor, Retention.objects.all(), workspace).first()
    days = own.days if own else None
    return {
        "days": days,
        "effective_days": settings.RETENTION_DAYS if days is None else days,
        "changed_at": own.changed_at if own else None,
        "changed_by": own.changed_by if own else None,
    }
