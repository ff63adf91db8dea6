"""How the place of a wrong field is told: as a pointer into what was sent (RFC 6901), and in a person's words."""

import re
from collections.abc import Mapping
from typing import Any

_PART = re.compile(r"[^.\[\]]+")
UNITS = {"s": "seconds", "ms": "milliseconds"}


def pointer_of(field: str) -> str:
    """`graph.nodes[2].key` -> `/graph/nodes/2/key`; of the whole: an empty text."""
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in _PART.findall(field))


def below(name: str, path: str) -> str:
    """A place as a schema check names it (`$`, `a.b`, `[0].c`), inside the field of that name: `input[0].c`."""
    if path == "$":
        return name
    return f"{name}{path}" if path.startswith("[") else f"{name}.{path}"


def label_of(field: str) -> str:
    """`limit.at_most` -> `Limit, at most`; `nodes[2].key` -> `Nodes 3, key`; `wait_s` -> `Wait (seconds)`."""
    told: list[str] = []
    for part in _PART.findall(field):
        if part.isdecimal() and told:
            told[-1] += f" {int(part) + 1}"
        else:
            told.append(_words(part))
    label = ", ".join(told)
    return label[:1].upper() + label[1:]


def _words(name: str) -> str:
    words, _, unit = name.rpartition("_")
    if words and unit in UNITS:
        return f"{words.replace('_', ' ')} ({UNITS[unit]})"
    return name.replace("_", " ").strip() or name


def told_whole(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a problem, each of its `fields` with a `pointer`, and a `label` where it brings none itself."""
    fields = data.get("fields")
    if not isinstance(fields, list):
        return dict(data)
    whole = [
        {"label": label_of(str(each.get("field", ""))), "pointer": pointer_of(str(each.get("field", ""))), **each}
        for each in fields
    ]
    return {**data, "fields": whole}
