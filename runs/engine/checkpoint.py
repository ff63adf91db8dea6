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


KEEP = """INSERT INTO runs_checkpoint (run_day, step_run_id, attempt, fence, kind, key, value, at)
    SELECT s.run_day, s.id, s.attempt, s.fence, %s, %s, %s, statement_timestamp()
    FROM runs_steprun s WHERE s.id = %s AND s.fence = %s AND s.status = 'running' FOR UPDATE OF s"""
KEEP_LOG = """INSERT INTO runs_logchunk (run_day, step_run_id, attempt, "offset", text, at)
    SELECT s.run_day, s.id, %s, %s, %s, statement_timestamp() FROM runs_steprun s WHERE s.id = %s
    ON CONFLICT DO NOTHING"""
READ = """SELECT c.key, c.kind, c.value FROM runs_checkpoint c JOIN runs_steprun s ON s.id = c.step_run_id AND
s.run_day = c.run_day
    WHERE c.step_run_id = %s ORDER BY c.number"""


def keep_checkpoint(connection: Connection, held: Held, *, kind: str, key: str, value: Any) -> None:
    """Stores one, durably, before it returns. Raises FencedOut."""
    done = connection.execute(KEEP, (kind, key, json_text(value), held.step_run_id, held.fence))
    if done.rowcount != 1:
        raise FencedOut("Another attempt owns this step now.", path=held.path)


def keep_log(connection: Connection, held: Held, *, offset: int, text: str) -> None:
    """Stores a piece of the log by its offset; the same piece again changes nothing. NUL cannot be stored: it is shown
    as ␀.
    """
    connection.execute(KEEP_LOG, (held.attempt, offset, text.replace("\x00", "␀"), held.step_run_id))


def checkpoints_of(connection: Connection, step_run_id: int) -> Sequence[tuple[str, str, str]]:
    """(key, kind, value as JSON text) of all earlier attempts, in the order in which they were kept."""
    return connection.execute(READ, (step_run_id,)).fetchall()
