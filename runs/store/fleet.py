"""Workers and sweepers: who is alive, who is dead, and what falls due."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.store.read import Connection

# Asked again where the reply was lost: an id is of one life of one process. If it was buried meanwhile it stays dead.
REGISTER = """INSERT INTO runs_worker (id, host, boot_id, pid_namespace, pid, pid_started, queues, kinds, threads,
started_at, heartbeat_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, statement_timestamp(), statement_timestamp())
    ON CONFLICT (id) DO NOTHING"""

# One statement per worker process and second. It names what the worker holds; a row of its that it has not named for
# 5 s is a claim whose reply never came. It answers what to stop, whether the worker itself was declared dead, and which
# lanes and workspaces have a limit.
HEARTBEAT = """WITH me AS (
    UPDATE runs_worker SET heartbeat_at = statement_timestamp() WHERE id = %(worker)s AND dead_at IS NULL RETURNING id
), held AS (
    SELECT * FROM unnest(%(steps)s::bigint[], %(fences)s::bigint[]) AS h(id, fence)
)
SELECT 'alive', NULL::bigint, NULL::bigint, NULL::text FROM me
UNION ALL
SELECT 'limit', NULL, NULL, l.name FROM runs_limit l WHERE l.name LIKE 'queue:%%' OR l.name LIKE 'workspace:%%'
UNION ALL
SELECT 'stop', h.id, h.fence, NULL FROM held h
    LEFT JOIN runs_steprun s ON s.id = h.id LEFT JOIN runs_run r ON r.id = s.run_id
    WHERE s.id IS NULL OR s.status <> 'running' OR s.fence <> h.fence OR r.status = 'cancelling'
UNION ALL
SELECT 'unnamed', s.id, s.fence, NULL FROM runs_steprun s
    WHERE s.worker = %(worker)s AND s.status = 'running' AND s.started_at < statement_timestamp() - interval '5 seconds'
        AND NOT EXISTS (SELECT FROM held h WHERE h.id = s.id AND h.fence = s.fence)"""

# A sweeper that was itself away (a frozen process, a laptop that slept) has seen nobody's silence: it begins anew.
SWEEPER_SEEN = """INSERT INTO runs_sweeper (id, host, started_at, seen_at)
    VALUES (%s, %s, statement_timestamp(), statement_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = statement_timestamp(), started_at = CASE
        WHEN runs_sweeper.seen_at < statement_timestamp() - interval '5 seconds' THEN statement_timestamp()
        ELSE runs_sweeper.started_at END
    RETURNING extract(epoch FROM statement_timestamp() - started_at), extract(epoch FROM statement_timestamp() -
    pg_postmaster_start_time())"""

ALIVE = """SELECT id, boot_id, pid_namespace, pid, pid_started, extract(epoch FROM statement_timestamp() - heartbeat_at)
    FROM runs_worker WHERE dead_at IS NULL"""
BURY = "UPDATE runs_worker SET dead_at = statement_timestamp() WHERE id = %s AND dead_at IS NULL"

# Index: step_run_running. A worker that nobody knows: a failover lost its registration.
HELD_BY_DEAD = """SELECT s.id, s.run_id, s.fence FROM runs_steprun s LEFT JOIN runs_worker w ON w.id = s.worker
    WHERE s.status = 'running' AND (w.id IS NULL OR w.dead_at IS NOT NULL) ORDER BY s.id LIMIT %s"""
# Index: step_run_timed. What waits for a person, a callback or its items is not in it, however much that is.
DUE = """SELECT s.id, s.run_id, s.status FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE (s.status = 'retry_wait' OR (s.status = 'waiting' AND s.wait_kind = 'timer'))
        AND s.not_before <= statement_timestamp() AND r.status = 'running'
    ORDER BY s.not_before LIMIT %s"""
# Index: wait_expiry.
EXPIRED_WAITS = """SELECT w.step_run_id, w.run_id FROM runs_wait w WHERE w.status = 'open' AND w.expires_at <=
statement_timestamp()
    ORDER BY w.expires_at LIMIT %s"""
# Index: step_run_turn. What has been ready for a while without being claimed: its wake-up was lost, or all workers
# are busy.
UNCLAIMED_STEPS = """SELECT s.queue FROM runs_steprun s
    CROSS JOIN LATERAL (SELECT r.status FROM runs_run r WHERE r.id = s.run_id OFFSET 0) r
    WHERE s.status = 'ready' AND s.held_by IS NULL AND r.status = 'running'
        AND s.not_before <= statement_timestamp() - interval '300 milliseconds' LIMIT %s"""
UNCLAIMED = f"SELECT queue, count(*) FROM ({UNCLAIMED_STEPS}) found GROUP BY queue"
# Index: step_run_queue_limit.
QUEUE_OVER = """SELECT s.id, s.run_id FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status = 'ready' AND s.queue_until <= statement_timestamp() AND r.status = 'running'
    ORDER BY s.queue_until LIMIT %s"""
# Index: step_run_total_limit.
TOTAL_OVER = """SELECT s.id, s.run_id FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status IN ('ready', 'retry_wait', 'waiting') AND s.total_until <= statement_timestamp()
        AND r.status = 'running' ORDER BY s.total_until LIMIT %s"""
# Index: run_deadline.
OVERDUE = """SELECT id FROM runs_run WHERE deadline_at <= statement_timestamp() AND status IN ('running', 'paused')
    ORDER BY deadline_at LIMIT %s"""
# Index: run_open. Open runs of which nothing runs just now: which of them stand still, runs/engine/stuck.py tells.
STANDING = """SELECT id, status, event_seq FROM runs_run r WHERE status IN ('running', 'paused', 'cancelling')
    AND running_count = 0 AND created_at < statement_timestamp() - interval '5 seconds' AND id > %s
    ORDER BY id LIMIT %s"""
# Index: step_run_asks, run_of_step, outbox_of_step. Steps that wait for a run which has ended, or never was, and of
# which nothing is on its way to them: must never happen.
UNHEARD = """SELECT s.id, s.run_id,
        (SELECT c.id FROM runs_run c WHERE c.parent_step_id = s.id ORDER BY c.number DESC LIMIT 1)
    FROM runs_steprun s WHERE s.run_id = %s AND s.status = 'waiting' AND s.wait_kind = 'child'
        AND NOT EXISTS (SELECT FROM runs_outbox o WHERE o.step_run_id = s.id)
        AND NOT EXISTS (SELECT FROM runs_run c WHERE c.parent_step_id = s.id
            AND c.status IN ('running', 'paused', 'cancelling'))"""


@dataclass(frozen=True)
class WorkerIdentity:
    """Where a worker process lives, so that a sweeper on the same host can tell whether it still does."""

    id: UUID
    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    pid_started: int


@dataclass(frozen=True)
class Heard:
    """The database's answer to a heartbeat. `stop` and `unnamed` are (step run id, fence) pairs, `limited` the names of
    limits of lanes and workspaces: their steps are never taken by a finish.
    """

    alive: bool
    stop: frozenset[tuple[int, int]]
    unnamed: frozenset[tuple[int, int]]
    limited: frozenset[str] = frozenset()


def register(
    connection: Connection, identity: WorkerIdentity, *, queues: Sequence[str], kinds: Sequence[str] = (), threads: int
) -> None:
    connection.execute(
        REGISTER,
        (identity.id, identity.host, identity.boot_id, identity.pid_namespace, identity.pid, identity.pid_started,
         ",".join(queues), ",".join(kinds), threads),
    )  # fmt: skip


def heartbeat(connection: Connection, *, worker: UUID, held: Sequence[tuple[int, int]]) -> Heard:
    parameters = {"worker": worker, "steps": [step for step, _ in held], "fences": [fence for _, fence in held]}
    rows = connection.execute(HEARTBEAT, parameters).fetchall()
    return Heard(
        alive=any(row[0] == "alive" for row in rows),
        stop=frozenset((row[1], row[2]) for row in rows if row[0] == "stop"),
        unnamed=frozenset((row[1], row[2]) for row in rows if row[0] == "unnamed"),
        limited=frozenset(row[3] for row in rows if row[0] == "limit"),
    )


def bury(connection: Connection, worker: UUID) -> bool:
    """Declares a worker dead, once. From now on its claims get nothing and its results are refused by the fence."""
    return connection.execute(BURY, (worker,)).rowcount == 1
