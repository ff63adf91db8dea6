"""Questions about labels."""

from django.db.models import Max

from runs.models import RunLabel
from teams.access import Actor, visible_to
from teams.models import Workspace

LATEST = 10_000  # labellings that are looked at
SHOWN = 200


def known_labels(actor: Actor, workspace: Workspace) -> list[str]:
    """Those of the newest runs that have any, by the alphabet."""
    latest = visible_to(actor, RunLabel.objects.all(), workspace).order_by("-id").values("id")[:LATEST]
    rows = RunLabel.objects.filter(id__in=latest).values("label").annotate(newest=Max("id")).order_by("-newest")
    return sorted(row["label"] for row in rows[:SHOWN])
