"""What people do with a group of failures: say that somebody sees to it, that nobody needs to, or neither."""

from typing import Literal

from django.db import transaction
from django.db.models.functions import Now

from runs.masking import masker_for, refuse_secrets
from runs.models import FailureGroup
from teams import audit
from teams.access import Actor, Permission, require

State = Literal["open", "handled", "ignored"]
STATES: tuple[State, ...] = ("open", "handled", "ignored")


def set_state(*, actor: Actor, group: FailureGroup, state: State, note: str = "") -> FailureGroup:
    """Whoever says so is who it is handled or ignored by. Does nothing to the runs. Raises HoldsSecret."""
    require(actor, Permission.RUN, group.workspace)
    refuse_secrets(masker_for(group.workspace_id, note), {"note": note})
    with transaction.atomic():
        rows = FailureGroup.objects.select_for_update(of=("self",)).filter(id=group.id)
        before = rows.get().state
        rows.update(state=state, state_by=actor.name, state_at=Now(), note=note)  # of a group, not of a run
        data = {"fingerprint": group.fingerprint, "before": before, "after": state}
        audit.record(actor, "failures.state", target=group, workspace=group.workspace, data=data)
    group.refresh_from_db()
    return group
