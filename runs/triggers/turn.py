"""Which turn the runs of a trigger get among others: priority, a limit that they share, a deadline."""

from collections.abc import Mapping
from typing import Any

from runs.models import Trigger

NAMES = ("priority", "limit", "deadline_s")


def columns_of(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The trigger's columns for what `turn` names: `priority`, `limit` ({key, at_most} or None), `deadline_s`."""
    plain = {name: turn[name] for name in ("priority", "deadline_s") if name in turn}
    if "limit" not in turn:
        return plain
    limit = turn["limit"] or {"key": None, "at_most": None}
    return {**plain, "limit_key": limit["key"], "limit_at_most": limit["at_most"]}


def turn_of(trigger: Trigger) -> dict[str, Any]:
    """As people see it."""
    limit = None
    if trigger.limit_key is not None:
        limit = {"key": trigger.limit_key, "at_most": trigger.limit_at_most}
    return {"priority": trigger.priority, "limit": limit, "deadline_s": trigger.deadline_s}
