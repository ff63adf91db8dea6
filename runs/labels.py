"""Labels: words that people put on runs, to find them again and to act on all that have one."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from kit.errors import BadInput
from runs.masking import masker_for, refuse_secrets
from runs.models import Run, RunLabel
from runs.models.listing import LONGEST_LABEL
from runs.publish import hint
from runs.selectors.runs import labels_of
from teams import audit
from teams.access import Actor, Permission, require

LABELS_OF_A_RUN = 20


class BadLabel(BadInput):
    code = "bad_label"


class TooManyLabels(BadInput):
    code = "too_many_labels"


def cleaned(labels: Iterable[str]) -> list[str]:
    """Each once, without space around it, by the alphabet. Raises BadLabel: a comma separates labels in an address."""
    found = sorted({" ".join(label.split()) for label in labels})
    for label in found:
        if not label or len(label) > LONGEST_LABEL or "," in label or not label.isprintable():
            problem = f"A label has 1 to {LONGEST_LABEL} printable characters and no comma: '{label[:20]}' has not."
            raise BadLabel(problem, fields=[{"field": "labels", "message": problem}])
    return found


def change_labels(*, actor: Actor, run: Run, add: Iterable[str] = (), remove: Iterable[str] = ()) -> list[str]:
    """The run's labels afterwards. Says nothing to the run itself: it goes on as it would have.

    Raises BadLabel, TooManyLabels, HoldsSecret.
    """
    require(actor, Permission.RUN, run.workspace)
    added, removed = cleaned(add), cleaned(remove)
    refuse_secrets(masker_for(run.workspace_id, added), {"add": added})
    with transaction.atomic():
        before = labels_of([run.id]).get(run.id, [])
        RunLabel.objects.filter(run_id=run.id, label__in=removed).delete()
        RunLabel.objects.bulk_create([_row(actor, run, label) for label in added], ignore_conflicts=True)
        after = labels_of([run.id]).get(run.id, [])
        if len(after) > LABELS_OF_A_RUN:
            raise TooManyLabels(f"A run has at most {LABELS_OF_A_RUN} labels: take some away first.")
        if after != before:
            data = {"number": run.number, "before": before, "after": after}
            audit.record(actor, "run.labels", target=run, workspace=run.workspace, data=data)
    transaction.on_commit(lambda: _tell(run))
    return after


def _row(actor: Actor, run: Run, label: str) -> RunLabel:
    values: dict[str, Any] = {"added_at": Now()}
    return RunLabel(
        workspace_id=run.workspace_id, run_id=run.id, number=run.number, label=label, added_by=actor.name, **values
    )


def _tell(run: Run) -> None:
    """Lists that are open show it in its row."""
    hint(run.id, workspace_id=run.workspace_id, seq=run.event_seq, status=run.status)
