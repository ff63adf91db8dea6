"""Event data of a bounded size: events are read again and again, by every page that looks at the run. The whole of what
was cut here is in the step's own row and attempt.
"""

import json
from collections.abc import Mapping
from typing import Any

EVENT_BYTES = 4096  # of an event's data as JSON in ASCII
CUTS = ((1500, 50), (300, 20), (60, 5))  # characters of a text and entries of a list, ever less until it fits


def fitted(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data itself where it is small enough; else with `cut: true`, without its error's details, and with shorter
    texts and lists.
    """
    found = dict(data)
    if _fits(found):
        return found
    found = {**found, "cut": True}
    if isinstance(error := found.get("error"), Mapping):
        found["error"] = {name: value for name, value in error.items() if name != "data"}
    for characters, entries in CUTS:
        if _fits(found):
            return found
        found = {name: _shorter(value, characters, entries) for name, value in found.items()}
    return found if _fits(found) else {"cut": True}


def _fits(data: Mapping[str, Any]) -> bool:
    return len(json.dumps(data, separators=(",", ":"))) <= EVENT_BYTES


def _shorter(value: Any, characters: int, entries: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else value[:characters] + "…"
    if isinstance(value, list):
        return [_shorter(each, characters, entries) for each in value[:entries]]
    if isinstance(value, Mapping):
        return {name: _shorter(each, characters, entries) for name, each in value.items()}
    return value
