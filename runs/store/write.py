"""Writes a transition: one statement, composed of the parts that it needs (runs/store/parts.py).

A run that is not at the expected event number, or a row that is not in the state from which the core moved it, aborts
the statement (pawl_expect), and with it the transaction. `statement_timestamp()` is the time of everything in it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from psycopg import _queries

from builder.graph.model import Policy
from kit.ids import new_id
from runs.core.fitting import EVENT_BYTES, fitted
from runs.core.rows import Row, Stored
from runs.core.states import FINAL_RUNS, RunStatus, StepStatus
from runs.core.transition import Transition
from runs.payloads import json_text
from runs.store import parts
from runs.store.hold import upload_in_order
from runs.store.read import Connection

# psycopg parses a statement once and keeps it, but only one of at most 4 kB and fifty values; those of containers have
# more, and were parsed anew by each finish of an item: up to a millisecond, while the other threads wait for the run.
# Both numbers are psycopg's own: one that it no longer knows changes nothing, and a test then tells.
_queries.MAX_CACHED_STATEMENT_LENGTH = 16_384
_queries.MAX_CACHED_STATEMENT_PARAMS = 256


class ClaimerIsDead(Exception):
    """The transition started a step for a worker that has `dead_at`: nothing of it was written."""


class _Statement:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: list[Any] = []

    def add(self, part: str, *values: Any) -> None:
        self.parts.append(part)
        self.values.extend(values)

    def add_rows(self, part: str, rows: Sequence[Sequence[Any]], *before: Any) -> None:
        if rows:
            self.add(part, *before, *(parts.literal(column) for column in zip(*rows, strict=True)))


@lru_cache(maxsize=256)
def _text(composed: tuple[str, ...], answer: str) -> str:
    """The whole statement, on one line: psycopg keeps what it parsed of a statement only up to a length."""
    return " ".join(f"WITH {', '.join(composed)} {answer}".split())


def write(connection: Connection, tx: Transition) -> Callable[[], None]:
    """Writes everything that the transition decided, in one statement: outside a transaction it is one by itself.

    Answers a function that gives the rows which it opened their ids, and raises ClaimerIsDead where nothing was
    written. In a pipeline the statement is only sent: call that function after the pipeline has ended.
    """
    for container in tx.progressed.values():
        _tell_progress(tx, container)
    opened = [row for before, row in tx.touched.values() if before is None]
    updated = [(before, row) for before, row in tx.touched.values() if before is not None]
    references = upload_in_order(connection, _kept_values(tx))
    statement = _Statement()
    _add_run(statement, tx)
    _add_pause(statement, tx)
    _add_updated(statement, updated)
    if any(tx.node(row).policy.limit_key or row.edition > 1 for row in opened):
        limited = [(*_opened(tx, row), *limits_of(tx.node(row).policy), row.edition) for row in opened]
        statement.add_rows(parts.OPENED_LIMITED, limited)
    else:
        statement.add_rows(parts.OPENED, [_opened(tx, row) for row in opened])
    _add_what_happened(statement, tx)
    answer = "SELECT id, path FROM opened" if opened else "SELECT id FROM ran"
    if references:
        statement.add(parts.HOLDS, parts.literal(references))
        answer += " CROSS JOIN holds"
    cursor = connection.execute(_text(tuple(statement.parts), answer), statement.values)

    def name_opened() -> None:
        found = cursor.fetchall()
        if not found:
            raise ClaimerIsDead("The worker that was to take the next step was declared dead.")
        ids = {path: id_ for id_, path in found} if opened else {}
        for row in opened:
            row.id = ids[row.path]

    return name_opened


def _add_updated(statement: _Statement, updated: Sequence[tuple[StepStatus, Row]]) -> None:
    plain, marked, containers = [], [], []
    for before, row in updated:
        if row.items is not None:
            containers.append((*_step(before, row), *_items(row)))
        elif row.input_hash or row.reused_from:
            marked.append((*_step(before, row), row.input_hash, row.reused_from and json_text(dict(row.reused_from))))
        else:
            plain.append(_step(before, row))
    statement.add_rows(parts.STEPPED, plain)
    statement.add_rows(parts.MARKED, marked)
    statement.add_rows(parts.CONTAINED, containers)


def _add_run(statement: _Statement, tx: Transition) -> None:
    run = tx.run
    counts = (
        run.open_count,
        run.running_count,
        run.waiting_count,
        run.failed_count,
        run.succeeded_count,
        run.total_count,
    )
    paused_at = json_text(list(run.paused_at)) if run.paused_at else None
    is_final = "t" if run.status in FINAL_RUNS else "f"
    error = json_text(run.error) if run.error else None
    given = (str(run.generation), parts.literal(counts), is_final)
    statement.add(
        parts.RAN, run.status.value, str(run.event_seq), paused_at, run.paused_by, error, *given, run.id,
        str(tx.first_seq), tx.claimer,
    )  # fmt: skip
    if run.status in FINAL_RUNS and tx.before not in FINAL_RUNS:
        statement.add(parts.FOLLOWED, run.status.value)


def _add_pause(statement: _Statement, tx: Transition) -> None:
    if (tx.before is RunStatus.PAUSED) == (tx.run.status is RunStatus.PAUSED):
        return
    changed = parts.literal([row.id for _, row in tx.touched.values() if row.id is not None])
    statement.add(parts.ASIDE if tx.run.status is RunStatus.PAUSED else parts.BROUGHT_BACK, changed)


def _add_what_happened(statement: _Statement, tx: Transition) -> None:
    statement.add_rows(
        parts.ENDED,
        [
            (
                a.step_run_id,
                a.number,
                a.fence,
                a.worker,
                a.outcome,
                a.error and json_text(a.error),
                *_kept(a.input),
            )
            for a in tx.attempts
        ],
    )
    statement.add_rows(
        parts.WAITING,
        [(new_id(), w.step_run_id, w.kind, w.attempt, json_text(w.data), w.expires_s) for w in tx.waits],
    )
    statement.add_rows(parts.USED, [(step_run_id,) for step_run_id in tx.used_callbacks])
    statement.add_rows(parts.CLOSED, [(step_run_id, status) for step_run_id, status, _ in tx.closed_waits])
    statement.add_rows(parts.SENT, [(s.step_run_id, s.kind, json_text(s.data)) for s in tx.outbox])
    statement.add_rows(
        parts.TOLD, [(e.seq, e.type, e.path, e.attempt, _event_text(e.data)) for e in tx.events], tx.actor
    )


def _kept_values(tx: Transition) -> list[Stored]:
    """What the transition's rows and attempts hold from now on."""
    rows = [row for _, row in tx.touched.values()]
    kept = [stored for row in rows for stored in (row.output, row.input, row.items_json)]
    kept += [attempt.input for attempt in tx.attempts]
    return [stored for stored in kept if stored is not None]


def _event_text(data: Mapping[str, Any]) -> str:
    text = json_text(data)
    return text if len(text) <= EVENT_BYTES else json_text(fitted(data))


def _kept(stored: Stored | None) -> tuple[str | None, bytes | None]:
    return (stored.text, stored.ref) if stored else (None, None)


def _step(before: StepStatus, row: Row) -> tuple[Any, ...]:
    return (
        row.id, before.value, row.status.value, row.attempt, row.tries, row.crash_count, row.fence, row.worker,
        row.claim, row.edition, row.origin, row.port, row.handled, row.reason, row.wait_kind,
        None if row.error is None else json_text(row.error),
        *_kept(row.output), *_kept(row.input), row.delay_s, row.until, row.stamps,
    )  # fmt: skip


def _items(row: Row) -> tuple[Any, ...]:
    items = row.items
    assert items is not None
    return (
        items.total, items.cursor, items.open, items.failed, items.window, items.policy, items.tolerated,
        items.mode, items.gather,
        json.dumps(items.reopen) if items.reopen else None, *_kept(row.items_json),
    )  # fmt: skip


def _opened(tx: Transition, row: Row) -> tuple[Any, ...]:
    node = tx.node(row)
    return (
        row.path, row.node_id, node.key, node.kind, row.parent_id, row.index, node.policy.queue, row.delivery,
        row.status.value, row.attempt, row.tries, row.fence, row.worker, row.claim, row.reason, row.port,
        *_kept(row.output), row.delay_s, row.stamps, node.policy.queue_limit_s, node.policy.total_limit_s,
    )  # fmt: skip


def limits_of(policy: Policy) -> tuple[Any, ...]:
    if policy.limit_key is None:
        return (None, None, None, None)
    return (policy.limit_key, policy.limit_at_most, policy.rate_starts, policy.rate_per_s)


def _tell_progress(tx: Transition, container: Row) -> None:
    items = container.items
    if items is not None:
        counts = {"total": items.total, "opened": items.cursor, "settled": items.settled, "failed": items.failed}
        tx.tell("map.progress", container, counts)
