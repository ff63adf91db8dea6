"""What a body keeps while it runs: `once` values, partial outputs, cursors, acts, and its log. Refused where the fence
is not the present one.
"""

from collections.abc import Sequence
from typing import Any

from kit.errors import Conflict
from runs.payloads import json_text
from runs.store.claim import Held
from runs.store.read import Connection


class FencedOut(Conflict):
    """Another attempt owns the step now: this one must stop, and nothing of it is kept."""

    code = "fenced_out"


# Asked again after a lost reply, even while the first asking still waits for the row, it keeps no second: what is kept
# has a name, and its name is unique. What has a state (a cursor, the progress, an act) gets the newer one.
KEEP = """WITH mine AS (
    SELECT s.run_day, s.id, s.attempt, s.fence FROM runs_steprun s
    WHERE s.id = %(step)s AND s.fence = %(fence)s AND s.status = 'running' FOR UPDATE OF s
), kept AS (
    INSERT INTO runs_checkpoint AS c (run_day, step_run_id, attempt, fence, ordinal, kind, key, value, at)
    SELECT m.run_day, m.id, m.attempt, m.fence, %(ordinal)s, %(kind)s, %(key)s, %(value)s, statement_timestamp()
    FROM mine m
    ON CONFLICT (step_run_id, kind, key, run_day) DO UPDATE SET attempt = excluded.attempt, fence = excluded.fence,
        ordinal = excluded.ordinal, value = excluded.value, at = excluded.at
        WHERE c.kind IN ('cursor', 'progress', 'act') AND (excluded.fence, excluded.ordinal) > (c.fence, c.ordinal)
)
SELECT count(*) FROM mine"""
KEEP_LOG = """INSERT INTO runs_logchunk (run_day, step_run_id, attempt, "offset", text, at)
    SELECT s.run_day, s.id, %s, %s, %s, statement_timestamp() FROM runs_steprun s WHERE s.id = %s
    ON CONFLICT DO NOTHING"""
READ = """SELECT c.key, c.kind, c.value, c.attempt FROM runs_checkpoint c JOIN runs_steprun s ON s.id = c.step_run_id
    AND s.run_day = c.run_day WHERE c.step_run_id = %s AND c.kind <> 'progress' ORDER BY c.number"""
# Index: primary key. The attempt before the present one, as it ended.
READ_PREVIOUS = """SELECT a.number, a.outcome, a.error FROM runs_attempt a JOIN runs_steprun s ON s.id = a.step_run_id
    AND s.run_day = a.run_day WHERE a.step_run_id = %s AND a.number < %s ORDER BY a.number DESC LIMIT 1"""


def keep_checkpoint(connection: Connection, held: Held, *, kind: str, key: str, value: Any, ordinal: int = 0) -> None:
    """Stores one, durably, before it returns. `ordinal` grows within an attempt. Raises FencedOut."""
    values = {
        "step": held.step_run_id, "fence": held.fence, "ordinal": ordinal, "kind": kind, "key": key,
        "value": json_text(value),
    }  # fmt: skip
    if connection.execute(KEEP, values).fetchone() != (1,):
        raise FencedOut("Another attempt owns this step now.", path=held.path)


def keep_log(connection: Connection, held: Held, *, offset: int, text: str) -> None:
    """Stores a piece of the log by its offset; the same piece again changes nothing. NUL cannot be stored: it is shown
    as ␀.
    """
    connection.execute(KEEP_LOG, (held.attempt, offset, text.replace("\x00", "␀"), held.step_run_id))


def checkpoints_of(connection: Connection, step_run_id: int) -> Sequence[tuple[str, str, str, int]]:
    """(key, kind, value as JSON text, attempt) of all earlier attempts, in the order in which they were kept; no
    progress.
    """
    return connection.execute(READ, (step_run_id,)).fetchall()


def previous_of(connection: Connection, held: Held) -> tuple[int, str, str | None] | None:
    """(number, outcome, error as JSON text) of the attempt before this one; None of the first."""
    found: tuple[int, str, str | None] | None = connection.execute(
        READ_PREVIOUS, (held.step_run_id, held.attempt)
    ).fetchone()
    return found
