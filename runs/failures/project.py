"""Writes down how each failed run failed: sweepers do, any number of them, again and again without harm.

A turn looks at the runs that failed since the latest failure that is written down, and at those of a while before it: a
transition's time is that of its statement, and it may be seen later than one that began after it.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from runs.failures.fingerprint import Cause, fingerprint_of, pattern_of
from runs.payloads import json_text
from runs.store.read import Connection

BATCH = 200
KEPT = 500  # characters of a message

# Of the failed steps the innermost: a container fails because an item did. Index: run_failed, failure_once.
FIND = """SELECT r.id, r.workspace_id, r.number, r.generation, r.workflow_id, v.number, r.finished_at, r.error,
        s.path, s.key, s.kind, s.error
    FROM runs_run r JOIN workflows_version v ON v.id = r.version_id
    LEFT JOIN LATERAL (SELECT path, key, kind, error FROM runs_steprun WHERE run_id = r.id AND status = 'failed'
        AND handled IS NULL ORDER BY item_total IS NOT NULL, id LIMIT 1) s ON true
    WHERE r.status = 'failed' AND r.finished_at >= coalesce(
            (SELECT max(failed_at) FROM runs_runfailure) - interval '2 minutes', '-infinity')
        AND NOT EXISTS (SELECT FROM runs_runfailure f WHERE f.run_id = r.id AND f.generation = r.generation)
    ORDER BY r.finished_at LIMIT %s"""

# The failures and what they add to their groups, in one statement: a count is never of what is not there.
WRITE = """WITH made AS (
    INSERT INTO runs_runfailure (workspace_id, run_id, generation, number, workflow_id, version, path, step_key, kind,
        code, message, fingerprint, failed_at)
    SELECT g.workspace_id, g.run_id, g.generation, g.number, g.workflow_id, g.version, g.path, g.step_key, g.kind,
        g.code, g.message, g.fingerprint, g.failed_at
    FROM json_to_recordset(%s) AS g(workspace_id uuid, run_id uuid, generation int, number bigint, workflow_id uuid,
        version int, path text, step_key text, kind text, code text, message text, fingerprint text,
        failed_at timestamptz)
    ON CONFLICT (run_id, generation) DO NOTHING
    RETURNING workspace_id, fingerprint, kind, code, failed_at
), added AS (
    SELECT workspace_id, fingerprint, min(kind) AS kind, min(code) AS code, min(failed_at) AS first_at,
        max(failed_at) AS last_at, count(*) AS seen_count
    FROM made GROUP BY workspace_id, fingerprint ORDER BY workspace_id, fingerprint
)
INSERT INTO runs_failuregroup AS o (workspace_id, fingerprint, kind, code, pattern, first_at, last_at, seen_count)
SELECT workspace_id, fingerprint, kind, code, %s::json ->> fingerprint, first_at, last_at, seen_count FROM added
ON CONFLICT (workspace_id, fingerprint) DO UPDATE SET first_at = least(o.first_at, excluded.first_at),
    last_at = greatest(o.last_at, excluded.last_at), seen_count = o.seen_count + excluded.seen_count"""


class Failed(NamedTuple):
    """A failed run as FIND tells of it; errors are JSON texts."""

    run_id: UUID
    workspace_id: UUID
    number: int
    generation: int
    workflow_id: UUID
    version: int
    failed_at: datetime
    run_error: str | None
    path: str | None
    step_key: str | None
    kind: str | None
    step_error: str | None


def project(connection: Connection, *, again: bool = False) -> int:
    """One batch; how many runs were written down. `again` after a lost reply: what is there already stays as it is."""
    found = [Failed(*row) for row in connection.execute(FIND, (BATCH,)).fetchall()]
    if found:
        connection.execute(WRITE, _values(found))
    return len(found)


def cause_of(failed: Failed) -> Cause:
    """A run that failed without a failed step passed its deadline: its own error says so."""
    error = _decoded(failed.step_error if failed.path is not None else failed.run_error)
    return Cause(failed.kind or "run", _text(error.get("code"))[:100] or "unknown", _text(error.get("message")))


def _values(found: Sequence[Failed]) -> tuple[str, str]:
    rows, patterns = [], {}
    for each in found:
        cause = cause_of(each)
        fingerprint = fingerprint_of(cause)
        patterns[fingerprint] = pattern_of(cause.message)
        rows.append(
            {
                "workspace_id": str(each.workspace_id), "run_id": str(each.run_id), "generation": each.generation,
                "number": each.number, "workflow_id": str(each.workflow_id), "version": each.version,
                "path": each.path or "", "step_key": each.step_key or "", "kind": cause.kind, "code": cause.code,
                "message": cause.message[:KEPT], "fingerprint": fingerprint, "failed_at": each.failed_at.isoformat(),
            }
        )  # fmt: skip
    return json_text(rows), json_text(patterns)


def _decoded(text: str | None) -> dict[str, Any]:
    value = json.loads(text) if text else {}
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    """As a column of text takes it: without NUL characters and lone surrogates."""
    return "" if value is None else str(value).replace("\0", "").encode("utf-8", "replace").decode()
