"""One look at everything that a sweeper might have to do: an idle sweep is this statement and nothing else.

Each question is that of the scan which then does the work, for one row. What grows with what merely waits is not asked
here: a thousand open questions cost what none costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.core.limits import PAUSED
from runs.store import fleet, limits, outbox
from runs.store.read import Connection


def _is_any(scan: str) -> str:
    """Whether the scan would find something, by its own way: as a subquery of its own it keeps its order and limit."""
    return f"EXISTS (SELECT FROM ({scan.replace('%s', '1')}) found)"


def _is_held(compared: str) -> str:
    """Whether a ready step is held by a name that compares so with that of paused runs. Index: step_run_held."""
    return f"EXISTS (SELECT FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by {compared} '{PAUSED}')"


QUESTIONS: dict[str, str] = {
    "dead": _is_any(fleet.HELD_BY_DEAD),
    "due": _is_any(fleet.DUE),
    "expired": _is_any(fleet.EXPIRED_WAITS),
    "post": _is_any(outbox.DUE),
    "overdue": _is_any(fleet.OVERDUE),
    # By a limit: names before and after the one that stands for paused runs, so that none of theirs is read.
    "held": f"({_is_held('<')} OR {_is_held('>')})",
    "aside": _is_held("="),
    "starts": _is_any(limits.EXPIRED_STARTS),
    "over_limit": f"({_is_any(fleet.TOTAL_OVER)} OR {_is_any(fleet.QUEUE_OVER)})",
    "unclaimed": _is_any(fleet.UNCLAIMED_STEPS),
}
LOOK = f"""WITH me AS ({fleet.SWEEPER_SEEN})
SELECT me.*, {", ".join(QUESTIONS.values())},
    w.id, w.boot_id, w.pid_namespace, w.pid, w.pid_started, extract(epoch FROM statement_timestamp() - w.heartbeat_at)
FROM me LEFT JOIN runs_worker w ON w.dead_at IS NULL"""


@dataclass(frozen=True)
class Look:
    """What a sweeper found. `contact_s`: for how long it has had unbroken contact with a PostgreSQL that was up.
    `alive` are rows as fleet.ALIVE has them, `wanted` the questions that are to be followed.
    """

    contact_s: float
    alive: Sequence[tuple[Any, ...]]
    wanted: frozenset[str]


def look(connection: Connection, *, sweeper: UUID, host: str) -> Look:
    """Tells as well that this sweeper is there."""
    rows = connection.execute(LOOK, (sweeper, host)).fetchall()
    first, end = rows[0], 2 + len(QUESTIONS)
    answers = zip(QUESTIONS, first[2:end], strict=True)
    return Look(
        contact_s=min(float(first[0]), float(first[1])),
        alive=[row[end:] for row in rows if row[end] is not None],
        wanted=frozenset(name for name, answer in answers if answer),
    )
