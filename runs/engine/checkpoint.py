"""What a body keeps while it runs: `once` values, partial outputs, and its log. Refused where the fence is not the
present one.
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


# Asked again after a lost reply, it finds its own row to be the last one and keeps no second: a body waits for each.
KEEP = """WITH mine AS (
    SELECT s.run_day, s.id, s.attempt, s.fence FROM runs_steprun s
    WHERE s.id = %(step)s AND s.fence = %(fence)s AND s.status = 'running' FOR UPDATE OF s
), last AS (
    SELECT c.fence, c.kind, c.key FROM runs_checkpoint c JOIN mine m ON c.step_run_id = m.id AND c.run_day = m.run_day
    ORDER BY c.number DESC LIMIT 1
), kept AS (
    INSERT INTO runs_checkpoint (run_day, step_run_id, attempt, fence, kind, key, value, at)
    SELECT m.run_day, m.id, m.attempt, m.fence, %(kind)s, %(key)s, %(value)s, statement_timestamp() FROM mine m
    WHERE %(kind)s = 'progress' OR NOT EXISTS (
        SELECT FROM last l WHERE l.fence = m.fence AND l.kind = %(kind)s AND l.key = %(key)s)
)
SELECT count(*) FROM mine"""
KEEP_LOG = """INSERT INTO runs_logchunk (run_day, step_run_id, attempt, "offset", text, at)
    SELECT s.run_day, s.id, %s, %s, %s, statement_timestamp() FROM runs_steprun s WHERE s.id = %s
    ON CONFLICT DO NOTHING"""
READ = """SELECT c.key, c.kind, c.value FROM runs_checkpoint c JOIN runs_steprun s ON s.id = c.step_run_id AND
s.run_day = c.run_day
    WHERE c.step_run_id = %s AND c.kind <> 'progress' ORDER BY c.number"""


def keep_checkpoint(connection: Connection, held: Held, *, kind: str, key: str, value: Any) -> None:
    """Stores one, durably, before it returns. Raises FencedOut."""
    values = {"step": held.step_run_id, "fence": held.fence, "kind": kind, "key": key, "value": json_text(value)}
    if connection.execute(KEEP, values).fetchone() != (1,):
        raise FencedOut("Another attempt owns this step now.", path=held.path)


def keep_log(connection: Connection, held: Held, *, offset: int, text: str) -> None:
    """Stores a piece of the log by its offset; the same piece again changes nothing. NUL cannot be stored: it is shown
    as ␀.
    """
    connection.execute(KEEP_LOG, (held.attempt, offset, text.replace("\x00", "␀"), held.step_run_id))


def checkpoints_of(connection: Connection, step_run_id: int) -> Sequence[tuple[str, str, str]]:
    """(key, kind, value as JSON text) of all earlier attempts, in the order in which they were kept; no progress."""
    return connection.execute(READ, (step_run_id,)).fetchall()
