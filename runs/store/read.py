"""Rows as the core knows them, read while the run's row is locked."""

import json
from typing import Any
from uuid import UUID

import psycopg

from runs.core.breakpoints import from_json
from runs.core.rows import Items, Row, RunRow, Stored
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import ScopeKey
from runs.payloads import to_upload

Connection = psycopg.Connection[Any]

NOT_AS_EXPECTED = "PW001"  # the SQLSTATE of pawl_expect

RUN_COLUMNS = """id, status, generation, event_seq, open_count, running_count, waiting_count, failed_count,
succeeded_count,
    total_count, run_day, workspace_id, version_id, breakpoints, paused_at, error,
    parent_step_id, depth, paused_by, editions"""

# Index: primary key.
LOCK_RUN = f"SELECT {RUN_COLUMNS} FROM runs_run WHERE id = %s FOR UPDATE"
READ_RUN = f"SELECT {RUN_COLUMNS} FROM runs_run WHERE id = %s"

COLUMNS = """id, path, node_id, status, parent_id, item_index, attempt, tries, crash_count, fence, worker, claim,
edition,
    delivery, origin, port, handled, reason, wait_kind, error, item_total, item_cursor, item_open, item_failed,
    item_window,
    item_policy, reopen, item_tolerated, item_mode, item_gather"""

# Index: step_run_path (run_id first); the top level of a run, bounded by the size of its graph. In order, so that the
# same act tells the same events.
READ_TOP = f"SELECT {COLUMNS} FROM runs_steprun WHERE run_id = %s AND parent_id IS NULL ORDER BY id"
# Index: step_run_path (run_id first). What others changed since an event number, for who knows the rest.
READ_CHANGED = f"""SELECT {COLUMNS} FROM runs_steprun WHERE run_id = %s AND parent_id IS NULL AND changed_seq > %s
    ORDER BY id"""
# Index: step_run_items; one item of a container, bounded by the size of its body.
READ_ITEM = f"SELECT {COLUMNS} FROM runs_steprun WHERE parent_id = %s AND item_index = %s ORDER BY id"
# Index: step_run_ready_of_run. What a worker that goes on with a run may take besides what it makes ready itself.
READ_READY = f"""SELECT {COLUMNS} FROM runs_steprun WHERE run_id = %s AND status = 'ready'
    AND not_before <= statement_timestamp() ORDER BY id LIMIT 64"""
# Index: step_run_ready_of_run.
READ_ALL_READY = f"SELECT {COLUMNS} FROM runs_steprun WHERE run_id = %s AND status = 'ready' ORDER BY id"
# Index: primary key.
READ_ROW = f"SELECT {COLUMNS} FROM runs_steprun WHERE id = %s"
# Index: step_run_items; only cancel and fail-fast ask.
READ_OPEN_CHILDREN = f"""SELECT {COLUMNS} FROM runs_steprun WHERE parent_id = %s
    AND status IN ('pending', 'ready', 'running', 'retry_wait', 'waiting', 'needs_decision', 'blocked') ORDER BY id"""
READ_OPEN = f"""SELECT {COLUMNS} FROM runs_steprun WHERE run_id = %s
    AND status IN ('pending', 'ready', 'running', 'retry_wait', 'waiting', 'needs_decision', 'blocked') ORDER BY id"""
READ_BROKEN_ITEMS = """SELECT DISTINCT item_index FROM runs_steprun WHERE parent_id = %s
    AND ((status = 'cancelled' AND reason IS DISTINCT FROM 'outrun') OR (status = 'failed' AND handled IS NULL))
    ORDER BY item_index"""

# Index: step_run_asks.
READ_WAITING_FOR_RUNS = """SELECT id FROM runs_steprun WHERE run_id = %s AND status = 'waiting' AND wait_kind = 'child'
    ORDER BY id"""
# How many waits of a step run were closed without an answer: a callback's link is good for one round only.
ROUND = "(SELECT count(*) FROM runs_wait w WHERE w.step_run_id = %s AND w.status IN ('closed', 'expired'))"
# Index: callback_early.
READ_EARLY = f"""SELECT body FROM runs_callback WHERE step_run_id = %s AND round = {ROUND}
    AND received_at IS NOT NULL AND used_at IS NULL"""
READ_STOPPED_ITEMS = """SELECT DISTINCT item_index FROM runs_steprun WHERE parent_id = %s AND status = 'cancelled'
    AND reason IS DISTINCT FROM 'outrun' ORDER BY item_index"""


# Index: primary key, then runs_checkpoint_name. An intent is stored under the lock of its step run's row: whoever takes
# that lock first sees it, or sees to it that it is refused. The text is compared, as JSON it may hold what PostgreSQL
# refuses to read.
LOCK_STEP = "SELECT run_day FROM runs_steprun WHERE id = %s FOR UPDATE"
HAS_ACTED = """SELECT FROM runs_checkpoint WHERE step_run_id = %s AND run_day = %s AND kind = 'act' AND fence = %s
    AND value NOT LIKE '{"state":"done"%%' LIMIT 1"""


def run_row(values: tuple[Any, ...]) -> RunRow:
    *plain, breakpoints, paused_at, error, parent_step_id, depth, paused_by, editions = values[2:]
    row = RunRow(values[0], RunStatus(values[1]), *plain)
    row.parent_step_id, row.depth = parent_step_id, depth
    row.paused_by = paused_by if row.status is RunStatus.PAUSED else None  # an older version's worker leaves it behind
    if editions:
        row.editions = json.loads(editions)
    if breakpoints:
        row.breakpoints = from_json(json.loads(breakpoints))
    if paused_at:
        row.paused_at = tuple(json.loads(paused_at))
    if error:
        row.error = json.loads(error)
    return row


def step_row(values: tuple[Any, ...]) -> Row:
    (
        id_, path, node_id, status, parent_id, index, attempt, tries, crashes, fence, worker, claim, edition, delivery,
        origin, port, handled, reason, wait_kind, error, total, cursor, open_, failed, window, policy, reopen,
        tolerated, mode, gather,
    ) = values  # fmt: skip
    return Row(
        id=id_, path=path, node_id=node_id, status=StepStatus(status), parent_id=parent_id, index=index,
        attempt=attempt, tries=tries, crash_count=crashes, fence=fence, worker=worker, claim=claim, edition=edition,
        delivery=delivery, origin=origin, port=port, handled=handled, reason=reason, wait_kind=wait_kind,
        error=None if error is None else json.loads(error),
        items=None if total is None else Items(
            total=total, cursor=cursor, open=open_, failed=failed, window=window, policy=policy,
            reopen=json.loads(reopen) if reopen else [], tolerated=tolerated, mode=mode, gather=gather,
        ),
    )  # fmt: skip


def lock_run(connection: Connection, run_id: UUID) -> RunRow | None:
    """Holds the run's row until the transaction ends: every transition of the run waits for its turn here."""
    values = connection.execute(LOCK_RUN, (run_id,)).fetchone()
    return run_row(values) if values else None


class Rows:
    """The core's loader (runs.core.transition.Loader) on a connection."""

    def __init__(self, connection: Connection, run_id: UUID) -> None:
        self.connection = connection
        self.run_id = run_id

    def scope(self, key: ScopeKey) -> list[Row]:
        parent_id, index = key
        if parent_id is None:
            return self._rows(READ_TOP, self.run_id)
        return self._rows(READ_ITEM, parent_id, index)

    def row(self, step_run_id: int) -> Row:
        return self._rows(READ_ROW, step_run_id)[0]

    def open_children(self, container_id: int) -> list[Row]:
        return self._rows(READ_OPEN_CHILDREN, container_id)

    def open_rows(self) -> list[Row]:
        return self._rows(READ_OPEN, self.run_id)

    def ready_rows(self) -> list[Row]:
        """Every row that waits for a worker, at any depth."""
        return self._rows(READ_ALL_READY, self.run_id)

    def early_callback(self, step_run_id: int) -> Stored | None:
        found = self.connection.execute(READ_EARLY, (step_run_id, step_run_id)).fetchone()
        return None if found is None else to_upload(found[0])

    def has_acted(self, step_run_id: int, fence: int | None) -> bool:
        locked = self.connection.execute(LOCK_STEP, (step_run_id,)).fetchone()
        assert locked is not None, "a step run is never deleted while its run is open"
        return self.connection.execute(HAS_ACTED, (step_run_id, locked[0], fence)).fetchone() is not None

    def broken_items(self, container_id: int) -> list[int]:
        return [index for (index,) in self.connection.execute(READ_BROKEN_ITEMS, (container_id,))]

    def stopped_items(self, container_id: int) -> list[int]:
        return [index for (index,) in self.connection.execute(READ_STOPPED_ITEMS, (container_id,))]

    def waiting_for_runs(self) -> list[int]:
        return [id_ for (id_,) in self.connection.execute(READ_WAITING_FOR_RUNS, (self.run_id,))]

    def _rows(self, query: str, *values: Any) -> list[Row]:
        return [step_row(found) for found in self.connection.execute(query, values)]
