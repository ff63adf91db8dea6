"""What a run's events and commands tell beside its row: since when and by whom it is paused, where it was forked."""

import json
from typing import Any

from runs.core.states import RunStatus
from runs.models import Command, Event, Run

PAUSED = f"run.{RunStatus.PAUSED}"


def pause_of(run: Run) -> dict[str, Any] | None:
    """Of a paused run: when the pause began, by whom, and `at` which step where a breakpoint did it. None of others.

    A step that is held while the run is paused is told by the same event again, so the first one after what came before
    the pause counts. Read backwards by the events' key; little happens in a paused run.
    """
    if run.status != RunStatus.PAUSED:
        return None
    told = Event.objects.filter(run_day=run.run_day, run_id=run.id, type__startswith="run.")
    before = told.exclude(type=PAUSED).order_by("-seq").values_list("seq", flat=True).first()
    first = told.filter(type=PAUSED, seq__gt=before or 0).order_by("seq").first()
    if first is None:
        return None
    return {"since": first.at, "by": first.actor, "at": json.loads(first.data or "{}").get("at")}


def forked_at(run: Run) -> str | None:
    """The path of the step from which a fork runs again; None where it was forked onto another version alone. The
    command that made it, in the run that was forked, says so.
    """
    if run.forked_from_id is None:
        return None
    made = Command.objects.filter(run_id=run.forked_from_id, operation="fork", result__contains=str(run.id))
    for text in made.values_list("result", flat=True):
        kept = json.loads(text)
        if kept["result"]["run"] == str(run.id):
            path: str | None = json.loads(kept["subject"])[0]
            return path
    return None
