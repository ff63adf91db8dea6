"""Small words for the line that a node shows. They take raw settings: unfinished, with expressions, or plain wrong."""

from collections.abc import Mapping
from typing import Any

LONGEST = 60


def shorten(text: object, *, longest: int = LONGEST) -> str:
    """One line, cut with an ellipsis. An expression keeps its inside only: '{{ run.input.x }}' reads 'run.input.x'."""
    line = " ".join(str(text).split())
    if line.startswith("{{") and line.endswith("}}") and line.count("{{") == 1:
        line = line[2:-2].strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"


def setting(config: Mapping[str, Any], name: str, default: str = "") -> str:
    """A setting as a short text, or the default where it is missing or empty."""
    value = config.get(name)
    return default if value in (None, "", [], {}) else shorten(value)


def names(config: Mapping[str, Any], name: str) -> str:
    """The keys of a mapping, or the number of a list's entries, as a short text."""
    value = config.get(name)
    if isinstance(value, Mapping):
        return shorten(", ".join(str(key) for key in value))
    return shorten(value) if isinstance(value, str) else ""
