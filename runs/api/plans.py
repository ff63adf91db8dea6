"""The token of a plan as programs get it: the engine's, which tells what would run, with a mark of what was asked.

Two answers to one question may run the same steps and still do something else: an effect under the same key or under a
new one. So a plan is good for the operation, and for the choices, that it was shown for.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from runs.core.plan import PlanChanged

CHOICES = {"fork": ("version", "same_effects"), "decide": ("decision",), "supply_output": ("port",)}


def told_plan(token: str, operation: str, asked: Mapping[str, Any]) -> str:
    return f"{token}.{_mark(operation, asked)}"


def plan_seen(told: str | None, operation: str, asked: Mapping[str, Any]) -> str | None:
    """The engine's token in one that was told. Raises PlanChanged where it was told of something else."""
    if told is None:
        return None
    token, _, mark = told.partition(".")
    if mark != _mark(operation, asked):
        raise PlanChanged("That plan was shown for something else than this. Preview this, then do it.")
    return token


def _mark(operation: str, asked: Mapping[str, Any]) -> str:
    chosen = [operation, *(asked[name] for name in CHOICES.get(operation, ()))]
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:8]
