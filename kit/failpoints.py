"""Named points where a test makes a process die, sleep, raise or pause. Nothing happens unless PAWL_FAILPOINTS is set.

    PAWL_FAILPOINTS="after_claim:exit9;before_finish@3:sleep=2;in_sweep:raise;before_effect?marker=/tmp/m:pause=/tmp/go"

`name@N` acts at the N-th hit of this process only; `name?marker=/path` acts once among all processes that share the
marker (the first one to create that file); both may be joined: `name@N?marker=/path`. Actions: `exit9` (SIGKILL to
itself: no clean-up of any kind runs), `sleep=SECONDS`, `raise` (FailpointHit), `pause=/path` (until that file exists).
"""

import os
import signal
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

VARIABLE = "PAWL_FAILPOINTS"
PAUSE_POLL_S = 0.01


class FailpointHit(Exception):
    """Raised by a point whose action is `raise`."""


class BadFailpoint(Exception):
    """PAWL_FAILPOINTS cannot be read; the message quotes the part."""


@dataclass
class _Point:
    action: str
    argument: str
    nth: int | None
    marker: str | None
    hits: "count[int]" = field(default_factory=lambda: count(1))  # next() is atomic under the GIL: no lock needed


_armed: dict[str, list[_Point]] = {}


def failpoint(name: str) -> None:
    """Acts as the environment says. Costs one test of an empty dict where nothing is armed."""
    if _armed:
        for point in [point for point in _armed.get(name, ()) if _is_due(point)]:
            _act(point, name=name)


def arm(text: str) -> None:
    """Replaces what is armed in this process; an empty text disarms. Tests call it, processes read the environment."""
    points: dict[str, list[_Point]] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, point = _parse(part)
        points.setdefault(name, []).append(point)
    _armed.clear()
    _armed.update(points)


def _parse(part: str) -> tuple[str, _Point]:
    where, colon, what = part.partition(":")
    where, _, marker = where.partition("?marker=")
    name, _, nth = where.partition("@")
    action, _, argument = what.partition("=")
    needs_argument = action in ("sleep", "pause")
    readable = action in ("exit9", "raise", "sleep", "pause") and bool(argument) == needs_argument
    if not (name and colon and readable and nth.isdecimal() == bool(nth)):
        raise BadFailpoint(
            f"{VARIABLE} has {part!r}: it should look like name[@N][?marker=/path]:exit9|raise|sleep=S|pause=/path."
        )
    return name, _Point(action=action, argument=argument, nth=int(nth) if nth else None, marker=marker or None)


def _is_due(point: _Point) -> bool:
    number = next(point.hits)
    return (point.nth is None or number == point.nth) and (point.marker is None or _takes(point.marker))


def _act(point: _Point, *, name: str) -> None:
    match point.action:
        case "exit9":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise FailpointHit(name)
        case "sleep":
            time.sleep(float(point.argument))
        case _:
            while not Path(point.argument).exists():
                time.sleep(PAUSE_POLL_S)


def _takes(marker: str) -> bool:
    """Whether this process is the first to create the marker: O_EXCL lets exactly one of many through."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    return True


arm(os.environ.get(VARIABLE, ""))
