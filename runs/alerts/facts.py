"""What happened that a rule tells of. Any number of sweepers, one look at a time; a fact has a key, so that one is told
once, whoever finds it, and however often.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from runs.payloads import json_text
from runs.selectors.values import decoded
from runs.store.limit_use import HEARD_S
from runs.store.read import Connection

NAME = "alerts"
MARGIN = timedelta(minutes=10)  # a transition's time is that of its statement; it may commit so much later
AT_ONCE = 1_000  # facts of a sort in one look
LATE_S = 120.0  # a tick that is due for so long, and of which the ledger knows nothing
MESSAGE = 500  # characters of an error's message

LOOK = "SELECT EXISTS (SELECT FROM runs_alertrule WHERE is_enabled)"
BEGIN = """INSERT INTO runs_look (name, looked_to) VALUES (%s, statement_timestamp()) ON CONFLICT (name) DO NOTHING"""
TAKE = """SELECT looked_to, statement_timestamp() FROM runs_look WHERE name = %s FOR UPDATE SKIP LOCKED"""
LOOKED = "UPDATE runs_look SET looked_to = %s WHERE name = %s"
KEEP = """INSERT INTO runs_alertfact (rule_id, key, kind, data, at, found_at)
    VALUES (%s, %s, %s, %s, %s, statement_timestamp()) ON CONFLICT (rule_id, key) DO NOTHING"""

UNTOLD = "NOT EXISTS (SELECT FROM runs_alertfact f WHERE f.rule_id = a.id AND f.key = {key} OFFSET 0)"
OF_WORKFLOW = "(a.workflow_id IS NULL OR a.workflow_id = {workflow})"

# A run inside another one is told by a rule of its own workflow alone: for all others the outer one failed. Indexes:
# run_failed, step_run_path, alert_fact_once.
FAILED_RUNS = f"""SELECT a.id, a.events, r.id, r.number, r.generation, w.id, w.name, r.error, r.finished_at, s.path,
        s.error
    FROM runs_run r
    JOIN runs_alertrule a ON a.workspace_id = r.workspace_id AND a.is_enabled AND a.since <= r.finished_at
        AND (a.workflow_id = r.workflow_id OR (a.workflow_id IS NULL AND r.parent_run_id IS NULL))
        AND (a.events LIKE '%% failed %%' OR (a.events LIKE '%% deadline %%' AND r.error LIKE '%%"run_deadline"%%'))
    JOIN workflows_workflow w ON w.id = r.workflow_id
    LEFT JOIN LATERAL (SELECT path, error FROM runs_steprun WHERE run_id = r.id AND status = 'failed'
        AND handled IS NULL ORDER BY id LIMIT 1) s ON true
    WHERE r.status = 'failed' AND r.finished_at > %(since)s
        AND {UNTOLD.format(key="'run:' || r.id || ':' || r.generation")}
    ORDER BY r.finished_at LIMIT %(most)s"""

TICK = "'tick:' || t.id || ':' || floor(extract(epoch FROM {at}))::bigint"
# Indexes: runs_trigger's of its workspace, firing_amiss, alert_fact_once.
AMISS = f"""SELECT a.id, t.id, t.name, t.kind, w.id, w.name, f.due_at, f.status, f.reason, f.detail
    FROM runs_alertrule a
    JOIN runs_trigger t ON t.workspace_id = a.workspace_id AND {OF_WORKFLOW.format(workflow="t.workflow_id")}
    JOIN workflows_workflow w ON w.id = t.workflow_id
    CROSS JOIN LATERAL (
        SELECT g.due_at, g.status, g.reason, g.detail FROM runs_firing g
        WHERE g.trigger_id = t.id AND g.status IN ('missed', 'failed')
            AND g.due_at > greatest(a.since, statement_timestamp() - interval '1 day')
            AND {UNTOLD.format(key=TICK.format(at="g.due_at"))} ORDER BY g.due_at LIMIT %(most)s) f
    WHERE a.is_enabled AND a.events LIKE '%% silent %%' LIMIT %(most)s"""
# Index: trigger_due.
OVERDUE = f"""SELECT a.id, t.id, t.name, t.kind, w.id, w.name, t.next_at, 'overdue', NULL, NULL
    FROM runs_trigger t
    JOIN runs_alertrule a ON a.workspace_id = t.workspace_id AND {OF_WORKFLOW.format(workflow="t.workflow_id")}
    JOIN workflows_workflow w ON w.id = t.workflow_id
    WHERE t.next_at <= statement_timestamp() - make_interval(secs => %(late_s)s) AND t.is_enabled AND a.is_enabled
        AND a.events LIKE '%% silent %%' AND t.next_at > a.since
        AND {UNTOLD.format(key=TICK.format(at="t.next_at"))} LIMIT %(most)s"""

# Lane after lane: those that no worker serves. Indexes: step_run_turn, the table of workers.
UNSERVED = f"""WITH RECURSIVE lanes AS (
    (SELECT s.queue FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by IS NULL ORDER BY s.queue LIMIT 1)
    UNION ALL
    SELECT (SELECT s.queue FROM runs_steprun s WHERE s.status = 'ready' AND s.held_by IS NULL AND s.queue > l.queue
        ORDER BY s.queue LIMIT 1) FROM lanes l WHERE l.queue IS NOT NULL
), heard AS (
    SELECT lane, max(heartbeat_at) AS at, bool_or(dead_at IS NULL
        AND heartbeat_at >= statement_timestamp() - make_interval(secs => %(heard_s)s)) AS is_served
    FROM runs_worker, unnest(string_to_array(queues, ',')) AS lane GROUP BY lane
)
SELECT a.id, l.queue, h.at, c.oldest, c.steps
    FROM lanes l LEFT JOIN heard h ON h.lane = l.queue
    JOIN runs_alertrule a ON a.is_enabled AND a.events LIKE '%% no_worker %%'
        AND coalesce(h.at < statement_timestamp() - make_interval(secs => a.no_worker_s), true)
    CROSS JOIN LATERAL (
        SELECT min(x.not_before) AS oldest, count(*) AS steps FROM (
            SELECT s.not_before FROM runs_steprun s WHERE s.queue = l.queue AND s.workspace_id = a.workspace_id
                AND s.status = 'ready' AND s.held_by IS NULL AND (a.workflow_id IS NULL OR EXISTS (
                    SELECT FROM runs_run r WHERE r.id = s.run_id AND r.workflow_id = a.workflow_id OFFSET 0))
            ORDER BY (s.not_before AT TIME ZONE 'UTC') - s.priority * interval '1 minute', s.id LIMIT %(most)s) x) c
    WHERE l.queue IS NOT NULL AND NOT coalesce(h.is_served, false)
        AND c.oldest <= statement_timestamp() - make_interval(secs => a.no_worker_s)
        AND {UNTOLD.format(key="'lane:' || l.queue || ':' || coalesce(floor(extract(epoch FROM h.at))::bigint, 0)")}"""

# Index: wait_open.
QUESTIONS = f"""SELECT a.id, q.id, q.kind, q.data, q.opened_at, q.expires_at, r.id, r.number, w.id, w.name, s.path
    FROM runs_alertrule a
    JOIN runs_wait q ON q.workspace_id = a.workspace_id AND q.status = 'open' AND q.kind IN ('approval', 'form')
        AND q.opened_at > greatest(a.since, statement_timestamp() - interval '1 day')
    JOIN runs_run r ON r.id = q.run_id AND {OF_WORKFLOW.format(workflow="r.workflow_id")}
    JOIN runs_steprun s ON s.id = q.step_run_id
    JOIN workflows_workflow w ON w.id = r.workflow_id
    WHERE a.is_enabled AND a.events LIKE '%% question %%' AND {UNTOLD.format(key="'wait:' || q.id")}
    ORDER BY q.opened_at LIMIT %(most)s"""

Fact = tuple[Any, str, str, dict[str, Any], Any]  # (rule, key, kind, data, at)


def gather(connection: Connection) -> int:
    """Keeps what is new; how many facts. 0 also where another sweeper looks just now. `connection` is in autocommit
    mode.
    """
    if connection.execute(LOOK).fetchone() == (False,):
        return 0
    connection.execute(BEGIN, (NAME,))
    with connection.transaction():
        taken = connection.execute(TAKE, (NAME,)).fetchone()
        if taken is None:
            return 0
        looked_to, now = taken
        values = {"since": looked_to - MARGIN, "most": AT_ONCE, "late_s": LATE_S, "heard_s": HEARD_S}
        runs = connection.execute(FAILED_RUNS, values).fetchall()
        facts = [
            *_of_runs(runs), *_of_ticks(connection.execute(AMISS, values).fetchall()),
            *_of_ticks(connection.execute(OVERDUE, values).fetchall()),
            *_of_lanes(connection.execute(UNSERVED, values).fetchall()),
            *_of_questions(connection.execute(QUESTIONS, values).fetchall()),
        ]  # fmt: skip
        with connection.cursor() as cursor:
            cursor.executemany(KEEP, [(rule, key, kind, json_text(data), at) for rule, key, kind, data, at in facts])
        if len(runs) < AT_ONCE:  # else there are more from then on
            connection.execute(LOOKED, (now, NAME))
    return len(facts)


def _second(at: datetime) -> int:
    return int(at.timestamp())


def _of_runs(rows: Iterable[Sequence[Any]]) -> Iterable[Fact]:
    for rule, events, run, number, generation, workflow, name, error, at, path, step_error in rows:
        told: Mapping[str, Any] = decoded(error) or {}
        is_late = told.get("code") == "run_deadline"
        why = told if is_late else (decoded(step_error) or told)
        kind = "deadline" if is_late and " deadline " in events else "failed"
        data = {
            "run": {"id": str(run), "number": number}, "workflow": {"id": str(workflow), "name": name}, "step": path,
            "code": why.get("code"), "message": str(why.get("message") or "")[:MESSAGE],
        }  # fmt: skip
        yield rule, f"run:{run}:{generation}", kind, data, at


def _of_ticks(rows: Iterable[Sequence[Any]]) -> Iterable[Fact]:
    for rule, trigger, name, kind, workflow, workflow_name, due_at, status, reason, detail in rows:
        data = {
            "trigger": {"id": str(trigger), "name": name, "kind": kind},
            "workflow": {"id": str(workflow), "name": workflow_name},
            "status": status, "code": reason, "message": str(detail or "")[:MESSAGE],
        }  # fmt: skip
        yield rule, f"tick:{trigger}:{_second(due_at)}", "silent", data, due_at


def _of_lanes(rows: Iterable[Sequence[Any]]) -> Iterable[Fact]:
    for rule, lane, heard_at, oldest, steps in rows:
        episode = _second(heard_at) if heard_at else 0  # the next outage is another fact
        data = {"lane": lane, "steps": steps, "heard_at": heard_at and heard_at.isoformat()}
        yield rule, f"lane:{lane}:{episode}", "no_worker", data, oldest


def _of_questions(rows: Iterable[Sequence[Any]]) -> Iterable[Fact]:
    for rule, wait, kind, shown, opened_at, expires_at, run, number, workflow, name, path in rows:
        title = str((decoded(shown) or {}).get("title") or "")[:MESSAGE]
        data = {
            "wait": str(wait), "kind": kind, "run": {"id": str(run), "number": number}, "step": path,
            "workflow": {"id": str(workflow), "name": name}, "message": title,
            "expires_at": expires_at and expires_at.isoformat(),
        }  # fmt: skip
        yield rule, f"wait:{wait}", "question", data, opened_at
