"""What stands beside the steps: notes and groups. They say how a graph looks, never what it does, and travel unchanged.

    "notes": [{"id": "s1", "text": "**Markdown**", "colour": "yellow", "position": {"x": 0, "y": 0},
               "size": {"width": 240, "height": 140}}]
    "groups": [{"id": "g1", "name": "Reading", "members": ["n1", "s1"], "collapsed": false}]

Members are ids of nodes and notes; one that is gone is no fault. Fields that this version does not know are kept.
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

MOST = 1_000  # notes, and groups
LONGEST_NOTE = 10_000  # characters
LONGEST_NAME = 200
Fault = tuple[str, str]  # where, what


def margin_faults(root: Mapping[Any, Any]) -> Iterator[Fault]:
    """What is wrong with the notes and groups of a document. Raises nothing; what they hold else is checked as JSON."""
    yield from listed(root, "notes", note_faults)
    yield from listed(root, "groups", group_faults)


def listed(root: Mapping[Any, Any], name: str, faults_of: Any) -> Iterator[Fault]:
    things = root.get(name, [])
    if not isinstance(things, list):
        yield name, "must be a list"
        return
    if len(things) > MOST:
        yield name, f"has {len(things)} entries; at most {MOST} are allowed"
        return
    seen: set[str] = set()
    for index, thing in enumerate(things):
        at = f"{name}[{index}]"
        if not isinstance(thing, Mapping):
            yield at, "must be an object"
            continue
        id_ = thing.get("id")
        if not isinstance(id_, str) or not is_name(id_):
            yield f"{at}.id", f"must be a text of 1 to {LONGEST_NAME} characters"
        elif id_ in seen:
            yield f"{at}.id", "is the id of another one too"
        else:
            seen.add(id_)
        yield from faults_of(thing, at)


def note_faults(note: Mapping[Any, Any], at: str) -> Iterator[Fault]:
    text = note.get("text")
    if not isinstance(text, str) or len(text) > LONGEST_NOTE:
        yield f"{at}.text", f"must be a text of at most {LONGEST_NOTE} characters"
    if not is_name(note.get("colour")):
        yield f"{at}.colour", "must be a text"
    for name, axes in (("position", ("x", "y")), ("size", ("width", "height"))):
        place = note.get(name)
        if not isinstance(place, Mapping) or not all(is_number(place.get(axis)) for axis in axes):
            yield f"{at}.{name}", f"must be an object with the numbers {' and '.join(axes)}"


def group_faults(group: Mapping[Any, Any], at: str) -> Iterator[Fault]:
    if not is_name(group.get("name")):
        yield f"{at}.name", f"must be a text of 1 to {LONGEST_NAME} characters"
    members = group.get("members")
    if not isinstance(members, list) or not all(is_name(member) for member in members):
        yield f"{at}.members", "must be a list of ids"
    if not isinstance(group.get("collapsed", False), bool):
        yield f"{at}.collapsed", "must be true or false"


def is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value)
