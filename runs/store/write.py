"""Writes a transition: one statement, composed of the parts that it needs, each a named piece of SQL.

A row that is not in the state from which the core moved it aborts the statement (pawl_expect), and with it the
transaction. `statement_timestamp()` is the time of everything in it.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from kit.ids import new_id
from runs.core.rows import Row, Stored
from runs.core.states import FINAL_RUNS
from runs.core.transition import Transition
from runs.payloads import json_text
from runs.store.read import Connection

# Each table of parameters is a list of arrays, one a column; `unnest` makes rows of them again.
UPDATE_STEPS = """stepped AS (
    UPDATE runs_steprun s SET status = m.status, attempt = m.attempt, tries = m.tries, crash_count = m.crash_count,
        fence = m.fence, worker = m.worker, claim = m.claim, edition = m.edition, origin = m.origin, port = m.port,
        handled = m.handled, reason = m.reason, wait_kind = m.wait_kind, error = m.error,
        output = coalesce(m.output, s.output), output_ref = coalesce(m.output_ref, s.output_ref),
        input = coalesce(m.input, s.input), input_ref = coalesce(m.input_ref, s.input_ref),
        not_before = coalesce(m.until, statement_timestamp() + make_interval(secs => m.delay_s), s.not_before),
        ready_at = CASE WHEN m.stamps LIKE '%%r%%' THEN statement_timestamp() ELSE s.ready_at END,
        started_at = CASE WHEN m.stamps LIKE '%%s%%' THEN statement_timestamp() ELSE s.started_at END,
        finished_at = CASE WHEN m.stamps LIKE '%%f%%' THEN statement_timestamp() END
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::int[], %s::int[], %s::int[], %s::bigint[], %s::uuid[],
    %s::uuid[],
        %s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[],
        %s::text[], %s::bytea[], %s::float8[], %s::timestamptz[],
        %s::text[])
        AS m(id, expected, status, attempt, tries, crash_count, fence, worker, claim, edition, origin, port, handled,
        reason,
        wait_kind, error, output, output_ref, input, input_ref, delay_s, until,
        stamps)
    WHERE s.id = m.id AND pawl_expect(s.status, m.expected, s.path)
)"""
STEP_COLUMNS: tuple[Callable[[Row], Any], ...] = (
    lambda row: row.status.value, lambda row: row.attempt, lambda row: row.tries, lambda row: row.crash_count,
    lambda row: row.fence, lambda row: row.worker, lambda row: row.claim, lambda row: row.edition,
    lambda row: row.origin,
    lambda row: row.port, lambda row: row.handled, lambda row: row.reason, lambda row: row.wait_kind,
    lambda row: None if row.error is None else json_text(row.error),
    lambda row: row.output and row.output.text, lambda row: row.output and row.output.ref,
    lambda row: row.input and row.input.text, lambda row: row.input and row.input.ref,
    lambda row: row.delay_s, lambda row: row.until, lambda row: row.stamps,
)  # fmt: skip

# The container's own columns, in a statement of their own right before: few transitions touch a container.
UPDATE_CONTAINERS = """UPDATE runs_steprun s SET item_total = m.total, item_cursor = m.cursor, item_open = m.open,
        item_failed = m.failed, item_window = m.window, item_policy = m.policy, reopen = m.reopen,
        items = coalesce(m.items, s.items), items_ref = coalesce(m.items_ref, s.items_ref)
    FROM unnest(%s::bigint[], %s::int[], %s::int[], %s::int[], %s::int[], %s::int[], %s::text[], %s::text[], %s::text[],
        %s::bytea[]) AS m(id, total, cursor, open, failed, "window", policy, reopen, items, items_ref)
    WHERE s.id = m.id"""

INSERT_STEPS = """opened AS (
    INSERT INTO runs_steprun (run_id, run_day, path, node_id, key, kind, parent_id, item_index, queue, delivery,
    status, attempt,
        tries, fence, worker, claim, reason, port, output, output_ref, not_before, ready_at, started_at, finished_at)
    SELECT %s, %s, m.path, m.node_id, m.key, m.kind, m.parent_id, m.item_index, m.queue, m.delivery, m.status,
    m.attempt, m.tries,
        m.fence, m.worker, m.claim, m.reason, m.port, m.output, m.output_ref,
        CASE WHEN m.delay_s IS NOT NULL THEN statement_timestamp() + make_interval(secs => m.delay_s) END,
        CASE WHEN m.stamps LIKE '%%r%%' THEN statement_timestamp() END,
        CASE WHEN m.stamps LIKE '%%s%%' THEN statement_timestamp() END,
        CASE WHEN m.stamps LIKE '%%f%%' THEN statement_timestamp() END
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::int[], %s::text[], %s::text[],
    %s::text[],
        %s::int[], %s::int[], %s::bigint[], %s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::text[], %s::bytea[],
        %s::float8[], %s::text[])
        AS m(path, node_id, key, kind, parent_id, item_index, queue, delivery, status, attempt, tries, fence, worker,
        claim, reason,
        port, output, output_ref, delay_s, stamps)
    RETURNING id, path
)"""

INSERT_ATTEMPTS = """ended AS (
    INSERT INTO runs_attempt (run_day, run_id, step_run_id, number, fence, worker, outcome, error, input, ready_at,
    started_at,
        finished_at)
    SELECT s.run_day, s.run_id, m.id, m.number, m.fence, m.worker, m.outcome, m.error, coalesce(m.input, s.input),
    s.ready_at,
        s.started_at, statement_timestamp()
    FROM unnest(%s::bigint[], %s::int[], %s::bigint[], %s::uuid[], %s::text[], %s::text[], %s::text[])
        AS m(id, number, fence, worker, outcome, error, input)
    JOIN runs_steprun s ON s.id = m.id
)"""

INSERT_WAITS = """waits AS (
    INSERT INTO runs_wait (id, workspace_id, run_id, step_run_id, kind, status, attempt, data, opened_at, expires_at)
    SELECT m.id, %s, %s, m.step_run_id, m.kind, 'open', m.attempt, m.data, statement_timestamp(),
        statement_timestamp() + make_interval(secs => m.expires_s)
    FROM unnest(%s::uuid[], %s::bigint[], %s::text[], %s::int[], %s::text[], %s::float8[])
        AS m(id, step_run_id, kind, attempt, data, expires_s)
)"""

CLOSE_WAITS = """closed AS (
    UPDATE runs_wait w SET status = m.status FROM unnest(%s::bigint[], %s::text[]) AS m(step_run_id, status)
    WHERE w.step_run_id = m.step_run_id AND w.status = 'open'
)"""

INSERT_EVENTS = """told AS (
    INSERT INTO runs_event (run_day, run_id, seq, type, path, attempt, actor, data, at)
    SELECT %s, %s, m.seq, m.type, m.path, m.attempt, %s, m.data, statement_timestamp()
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::int[], %s::text[]) AS m(seq, type, path, attempt, data)
)"""

UPDATE_RUN = """ran AS (
    UPDATE runs_run SET status = %s, generation = %s, event_seq = %s, open_count = %s, running_count = %s,
    waiting_count = %s,
        failed_count = %s, succeeded_count = %s, total_count = %s,
        finished_at = CASE WHEN %s THEN statement_timestamp() END
    WHERE id = %s AND pawl_expect(event_seq::text, %s, 'the event number of run ' || number)
)"""

OPENED = "SELECT id, path FROM opened"
NOTHING = "SELECT NULL::bigint"


class _Statement:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: list[Any] = []

    def add(self, part: str, *values: Any) -> None:
        self.parts.append(part)
        self.values.extend(values)

    def add_rows(self, part: str, rows: Sequence[Sequence[Any]], *before: Any) -> None:
        if rows:
            self.add(part, *before, *(list(column) for column in zip(*rows, strict=True)))


@lru_cache(maxsize=256)
def _text(parts: tuple[str, ...], answer: str) -> str:
    """The whole statement, on one line: psycopg keeps what it parsed of a statement only up to 4 kB of text."""
    return " ".join(f"WITH {', '.join(parts)} {answer}".split())


def write(connection: Connection, tx: Transition) -> Callable[[], None]:
    """Writes everything that the transition decided.

    Answers a function that gives the rows which it opened their ids. In a pipeline the statement is only sent: call
    that function after the pipeline has ended.
    """
    for container in tx.progressed.values():
        _tell_progress(tx, container)
    opened = [row for before, row in tx.touched.values() if before is None]
    updated = [(before, row) for before, row in tx.touched.values() if before is not None]
    _write_containers(connection, [row for _, row in updated if row.items is not None])
    statement = _Statement()
    statement.add_rows(
        UPDATE_STEPS,
        [(row.id, before.value, *(column(row) for column in STEP_COLUMNS)) for before, row in updated],
    )
    statement.add_rows(INSERT_STEPS, [_opened(tx, row) for row in opened], tx.run.id, tx.run.run_day)
    _add_the_rest(statement, tx)
    answer = OPENED if opened else NOTHING
    cursor = connection.execute(_text(tuple(statement.parts), answer), statement.values)

    def name_opened() -> None:
        ids = {path: id_ for id_, path in cursor.fetchall()} if opened else {}
        for row in opened:
            row.id = ids[row.path]

    return name_opened


def _add_the_rest(statement: _Statement, tx: Transition) -> None:
    run = tx.run
    statement.add_rows(
        INSERT_ATTEMPTS,
        [
            (a.step_run_id, a.number, a.fence, a.worker, a.outcome, a.error and json_text(a.error), _inline(a.input))
            for a in tx.attempts
        ],
    )
    statement.add_rows(
        INSERT_WAITS,
        [(new_id(), w.step_run_id, w.kind, w.attempt, json_text(w.data), w.expires_s) for w in tx.waits],
        run.workspace_id,
        run.id,
    )
    statement.add_rows(CLOSE_WAITS, [(id_, status) for id_, status, _ in tx.closed_waits])
    statement.add_rows(
        INSERT_EVENTS,
        [(e.seq, e.type, e.path, e.attempt, json_text(e.data)) for e in tx.events],
        run.run_day,
        run.id,
        tx.actor,
    )
    statement.add(
        UPDATE_RUN, run.status.value, run.generation, run.event_seq, run.open_count, run.running_count,
        run.waiting_count,
        run.failed_count, run.succeeded_count, run.total_count, run.status in FINAL_RUNS, run.id, str(tx.first_seq),
    )  # fmt: skip


def _inline(stored: Stored | None) -> str | None:
    return stored.text if stored else None


def _tell_progress(tx: Transition, container: Row) -> None:
    items = container.items
    if items is not None and container.status == "waiting":
        counts = {"total": items.total, "opened": items.cursor, "settled": items.settled, "failed": items.failed}
        tx.tell("map.progress", container, counts)


def _opened(tx: Transition, row: Row) -> tuple[Any, ...]:
    node = tx.node(row)
    return (
        row.path, row.node_id, node.key, node.kind, row.parent_id, row.index, node.policy.queue, row.delivery,
        row.status.value, row.attempt, row.tries, row.fence, row.worker, row.claim, row.reason, row.port,
        _inline(row.output), row.output.ref if row.output else None, row.delay_s, row.stamps,
    )  # fmt: skip


def _write_containers(connection: Connection, rows: list[Row]) -> None:
    if not rows:
        return
    table = []
    for row in rows:
        items = row.items
        assert items is not None
        reopen = json.dumps(items.reopen) if items.reopen else None
        table.append(
            (row.id, items.total, items.cursor, items.open, items.failed, items.window, items.policy, reopen,
             _inline(row.items_json), row.items_json.ref if row.items_json else None)
        )  # fmt: skip
    connection.execute(UPDATE_CONTAINERS, [list(column) for column in zip(*table, strict=True)])
