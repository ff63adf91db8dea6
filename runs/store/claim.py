"""Gives a worker its next step: one statement that takes a ready step run and its run, and starts the step."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.store.read import Connection


@dataclass(frozen=True)
class Held:
    """A step run that a worker holds, under a fence."""

    step_run_id: int
    run_id: UUID
    run_number: int
    workspace_id: UUID
    version_id: UUID
    path: str
    node_id: str
    parent_id: int | None
    item_index: int | None
    attempt: int
    fence: int
    edition: int
    claim: UUID


HELD = """s.id, s.run_id, r.number, r.workspace_id, r.version_id, s.path, s.node_id, s.parent_id, s.item_index,
s.attempt, s.fence,
    s.edition, s.claim"""

# Index: step_run_ready. Both rows are taken with SKIP LOCKED, so a claim never waits; a run that is locked by another
# transition
# is passed over. A worker that was declared dead gets nothing: it must start again under a new id.
CLAIM = """WITH candidate AS (
    SELECT s.id, s.run_id FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status = 'ready' AND s.queue = %(queue)s AND s.kind = ANY(%(kinds)s)
        AND s.not_before <= statement_timestamp() AND r.status = 'running'
        AND EXISTS (SELECT FROM runs_worker w WHERE w.id = %(worker)s AND w.dead_at IS NULL)
    ORDER BY s.priority DESC, s.not_before, s.id LIMIT 1
    FOR UPDATE OF s, r SKIP LOCKED
), counted AS (
    UPDATE runs_run r SET event_seq = event_seq + 1, running_count = running_count + 1 FROM candidate c WHERE r.id =
    c.run_id
    RETURNING r.id, r.event_seq, r.run_day, r.number, r.workspace_id, r.version_id
), started AS (
    UPDATE runs_steprun s SET status = 'running', attempt = attempt + 1, tries = tries + 1, fence = n.event_seq,
        changed_seq = n.event_seq, worker = %(worker)s, claim = %(claim)s, started_at = statement_timestamp(),
        finished_at = NULL, error = NULL
    FROM candidate c, counted n WHERE s.id = c.id RETURNING s.*
), told AS (
    INSERT INTO runs_event (run_day, run_id, seq, type, path, attempt, actor, data, at)
    SELECT n.run_day, n.id, n.event_seq, 'step.running', s.path, s.attempt, 'system',
        '{"fence":' || n.event_seq || ',"worker":"' || %(worker)s::text || '"}', statement_timestamp()
    FROM started s, counted n
)
SELECT s.id, s.run_id, n.number, n.workspace_id, n.version_id, s.path, s.node_id, s.parent_id, s.item_index, s.attempt,
    s.fence, s.edition, s.claim FROM started s, counted n
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    WHERE NOT EXISTS (SELECT FROM candidate) AND EXISTS (
        SELECT FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
        WHERE s.status = 'ready' AND s.queue = %(queue)s AND s.kind = ANY(%(kinds)s)
            AND s.not_before <= statement_timestamp() AND r.status = 'running')"""

# The same claim again, when the reply to it was lost. Index: step_run_running.
CLAIMED = f"""SELECT {HELD} FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.worker = %s AND s.status = 'running' AND s.claim = %s"""


class Contended:
    """Something is ready, and was passed over because its run was locked just then."""


def claim(
    connection: Connection, *, worker: UUID, claim_id: UUID, queue: str, kinds: Sequence[str]
) -> Held | Contended | None:
    """The next ready step, now running for this worker; None where there is none. Never waits for a lock."""
    parameters = {"worker": worker, "claim": claim_id, "queue": queue, "kinds": list(kinds)}
    values = connection.execute(CLAIM, parameters).fetchone()
    if values is None:
        return None
    return Contended() if values[0] is None else Held(*values)


def claimed(connection: Connection, *, worker: UUID, claim_id: UUID) -> Held | None:
    """What this claim took, if it took anything and still holds it."""
    values = connection.execute(CLAIMED, (worker, claim_id)).fetchone()
    return Held(*values) if values else None
