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
    key_root: UUID  # the run of which its idempotency key is made
    run_is_counted: bool = False  # under a limit of runs


HELD = """s.id, s.run_id, r.number, r.workspace_id, r.version_id, s.path, s.node_id, s.parent_id, s.item_index,
    s.attempt, s.fence, s.edition, s.claim, coalesce(r.key_root, r.id),
    r.begun_at IS NOT NULL"""

# Ready, and not waiting for room under a limit. Index: step_run_turn.
READY = "s.status = 'ready' AND s.held_by IS NULL"
# Who is first of a workspace. As time goes by all grow older alike, so the order stays, and the index has it.
TURN = "((s.not_before AT TIME ZONE 'UTC') - s.priority * interval '1 minute')"
MAY_GO = """s.kind = ANY(%(kinds)s) AND s.not_before <= statement_timestamp() AND r.status = 'running'"""
# Whether the start is counted under a limit: then it takes a transaction of its own (runs/engine/limits.py).
IS_LIMITED = """s.limit_key IS NOT NULL
    OR EXISTS (SELECT FROM runs_limit l WHERE l.name IN ('queue:' || s.queue, 'workspace:' || s.workspace_id))
    OR (r.begun_at IS NULL AND (r.limit_key IS NOT NULL
        OR EXISTS (SELECT FROM runs_limit l WHERE l.name = 'workflow:' || r.workflow_id)))"""


def starting(begins: str = "") -> str:
    """The parts that start the step of `candidate`, for this worker; `begins` is what becomes of its run besides."""
    return f"""counted AS (
    UPDATE runs_run r SET event_seq = event_seq + 1, running_count = running_count + 1{begins} FROM candidate c
    WHERE r.id = c.run_id
    RETURNING r.id, r.event_seq, r.run_day, r.number, r.workspace_id, r.version_id, r.begun_at,
        r.key_root
), started AS (
    UPDATE runs_steprun s SET status = 'running', attempt = attempt + 1, tries = tries + 1, fence = n.event_seq,
        changed_seq = n.event_seq, worker = %(worker)s, claim = %(claim)s, started_at = statement_timestamp(),
        finished_at = NULL, error = NULL,
        total_until = coalesce(s.total_until, statement_timestamp() + make_interval(secs => s.total_limit_s))
    FROM candidate c, counted n WHERE s.id = c.id RETURNING s.*
), told AS (
    INSERT INTO runs_event (run_day, run_id, seq, type, path, attempt, actor, data, at)
    SELECT n.run_day, n.id, n.event_seq, 'step.running', s.path, s.attempt, 'system',
        '{{"fence":' || n.event_seq || ',"worker":"' || %(worker)s::text || '"}}', statement_timestamp()
    FROM started s, counted n
)"""


STARTED = """SELECT s.id, s.run_id, n.number, n.workspace_id, n.version_id, s.path, s.node_id, s.parent_id,
    s.item_index, s.attempt, s.fence, s.edition, s.claim, coalesce(n.key_root, n.id), n.begun_at IS NOT NULL
    FROM started s, counted n"""

# Goes round the workspaces that have something ready in the lane, from the one after the last that this thread served,
# and takes the first step that it can lock: so one workspace's flood costs another one step's wait. `ring` is walked
# only as far as is needed, two looks into the index each. Both rows are taken with SKIP LOCKED, so a claim never waits;
# a run that is locked by another transition is passed over. A worker that was declared dead gets nothing: it must start
# again under a new id.
CLAIM = f"""WITH RECURSIVE ring AS (
    SELECT %(after)s::uuid AS workspace_id, false AS is_round, false AS is_turn
    UNION ALL
    SELECT n.workspace_id, n.is_round, n.workspace_id <> ALL(%(full)s::uuid[]) FROM ring CROSS JOIN LATERAL (
        (SELECT s.workspace_id, ring.is_round FROM runs_steprun s
            WHERE {READY} AND s.queue = %(queue)s AND s.workspace_id > ring.workspace_id
            ORDER BY s.workspace_id LIMIT 1)
        UNION ALL
        (SELECT s.workspace_id, true FROM runs_steprun s
            WHERE {READY} AND s.queue = %(queue)s AND NOT ring.is_round
            ORDER BY s.workspace_id LIMIT 1)
        LIMIT 1
    ) n WHERE NOT n.is_round OR n.workspace_id <= %(after)s::uuid
), chosen AS (
    SELECT c.* FROM ring CROSS JOIN LATERAL (
        SELECT s.id, s.run_id, s.workspace_id, ({IS_LIMITED}) AS is_limited
        FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
        WHERE {READY} AND s.queue = %(queue)s AND s.workspace_id = ring.workspace_id AND {MAY_GO}
        ORDER BY {TURN}, s.id LIMIT 1
        FOR UPDATE OF s, r SKIP LOCKED
    ) c
    WHERE ring.is_turn AND EXISTS (SELECT FROM runs_worker w WHERE w.id = %(worker)s AND w.dead_at IS NULL)
    LIMIT 1
), candidate AS (
    SELECT id, run_id FROM chosen WHERE NOT is_limited
), {starting()}
{STARTED}
UNION ALL
SELECT c.id, c.run_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM chosen c
    WHERE c.is_limited
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    WHERE NOT EXISTS (SELECT FROM chosen) AND EXISTS (
        SELECT FROM (SELECT s.* FROM runs_steprun s WHERE {READY} AND s.queue = %(queue)s OFFSET 0) s
        CROSS JOIN LATERAL (SELECT r.status FROM runs_run r WHERE r.id = s.run_id OFFSET 0) r
        WHERE s.workspace_id <> ALL(%(full)s::uuid[]) AND {MAY_GO})"""

# The same claim again, when the reply to it was lost. Index: step_run_running.
CLAIMED = f"""SELECT {HELD} FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.worker = %s AND s.status = 'running' AND s.claim = %s"""


FIRST = UUID(int=0)


class Contended:
    """Something is ready, and was passed over because its run was locked just then."""


@dataclass(frozen=True)
class Limited:
    """A ready step whose start is counted under a limit: nothing was started."""

    step_run_id: int
    run_id: UUID


@dataclass(frozen=True)
class Claim:
    """What a worker asks for. `after` is the workspace that its thread served last, `full` are those to pass over."""

    worker: UUID
    id: UUID
    queue: str
    kinds: Sequence[str]
    after: UUID = FIRST
    full: tuple[UUID, ...] = ()


def claim(connection: Connection, wanted: Claim) -> Held | Limited | Contended | None:
    """The next ready step, now running for this worker; None where there is none. Never waits for a lock."""
    parameters = {
        "worker": wanted.worker, "claim": wanted.id, "queue": wanted.queue, "kinds": list(wanted.kinds),
        "after": wanted.after, "full": list(wanted.full),
    }  # fmt: skip
    values = connection.execute(CLAIM, parameters).fetchone()
    if values is None:
        return None
    if values[0] is None:
        return Contended()
    return Held(*values) if values[2] is not None else Limited(values[0], values[1])


def claimed(connection: Connection, *, worker: UUID, claim_id: UUID) -> Held | None:
    """What this claim took, if it took anything and still holds it."""
    values = connection.execute(CLAIMED, (worker, claim_id)).fetchone()
    return Held(*values) if values else None
