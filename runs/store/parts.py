"""The parts that a transition's statement is composed of. Each is a CTE with a name; `ran` comes first.

Rows travel as text arrays, one for each column, and `unnest` makes rows of them again: text, because one type of
parameter means one prepared statement. Every part that changes rows reads `ran`, so the run's row is locked before any
other: whoever else works on the run waits there, holding nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runs.core.limits import PAUSED

NOW = "statement_timestamp()"


@dataclass(frozen=True)
class Table:
    """The rows that a part takes: column names and their types, in the order of the parameters."""

    columns: tuple[tuple[str, str], ...]

    @property
    def source(self) -> str:
        arrays = ", ".join(f"%s::{kind}[]" for _, kind in self.columns)
        names = ", ".join(f'"{name}"' for name, _ in self.columns)
        return f"unnest({arrays}) AS m({names})"


def table(text: str) -> Table:
    """`id bigint, status text` -> a table of these columns."""
    return Table(tuple((name, kind) for name, kind in (column.split() for column in text.split(","))))


NOTHING = "{NULL}"


def literal(values: Sequence[object]) -> str:
    """One column as a PostgreSQL array literal. psycopg's own way costs more than the rest of the step."""
    if len(values) == 1:  # most are the column of a single row
        return NOTHING if values[0] is None else "{" + _element(values[0]) + "}"
    return "{" + ",".join([_element(value) for value in values]) + "}"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    if type(value) is str and "\\" not in value and '"' not in value:
        return f'"{value}"'
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


# Compares the run's event number with the one from which the core decided, after waiting for whoever holds the row. A
# worker that was declared dead takes no step: then no row is answered, and nothing is written. A resume (the generation
# changes) gives the run its whole time again.
RAN = f"""ran AS (
    UPDATE runs_run SET status = %s, generation = given.generation, event_seq = %s::bigint,
        open_count = given.counts[1], running_count = given.counts[2], waiting_count = given.counts[3],
        failed_count = given.counts[4], succeeded_count = given.counts[5], total_count = given.counts[6],
        paused_at = %s, paused_by = %s, error = %s,
        deadline_at = CASE WHEN runs_run.generation = given.generation THEN deadline_at
            ELSE {NOW} + make_interval(secs => deadline_s) END,
        finished_at = CASE WHEN given.ends THEN coalesce(finished_at, {NOW}) END,
        begun_at = CASE WHEN NOT given.ends THEN begun_at END
    FROM (SELECT %s::int AS generation, %s::int[] AS counts, %s::boolean AS ends) given
    WHERE id = %s AND pawl_expect(event_seq::text, %s, 'the event number of run ' || number)
        AND NOT EXISTS (SELECT FROM runs_worker w WHERE w.id = %s::uuid AND w.dead_at IS NOT NULL)
    RETURNING id, run_day, workspace_id, event_seq, priority, workflow_id, status
)"""

# What is ready in a paused run leaves the index of the claims, which would look over it again and again; it comes back
# in the transition by which the run goes on. The rows that the transition itself changes are not among them: no row may
# be changed twice in one statement, so each of those says it for itself. Index: step_run_ready_of_run.
IS_HELD = f"CASE WHEN m.status = 'ready' AND ran.status = 'paused' THEN '{PAUSED}' END"
ASIDE = f"""aside AS (
    UPDATE runs_steprun s SET held_by = '{PAUSED}' FROM ran
    WHERE s.run_id = ran.id AND s.status = 'ready' AND s.held_by IS NULL AND s.id <> ALL(%s::bigint[])
)"""
BROUGHT_BACK = f"""brought_back AS (
    UPDATE runs_steprun s SET held_by = NULL FROM ran
    WHERE s.run_id = ran.id AND s.status = 'ready' AND s.held_by = '{PAUSED}' AND s.id <> ALL(%s::bigint[])
)"""

# A run's end, for the triggers that wait for it: a row of the ledger for each (runs/triggers/run_end.py starts what
# follows). Index: trigger_source.
FOLLOWED = f"""followed AS (
    INSERT INTO runs_firing (trigger_id, key, status, due_at, source_run_id, created_at)
    SELECT t.id, ran.id || ' ' || ran.event_seq || ' ' || given.ending, 'queued', {NOW}, ran.id, {NOW}
    FROM ran, (SELECT %s::text AS ending) given, runs_trigger t
    WHERE t.source_id = ran.workflow_id AND t.is_enabled AND position(' ' || given.ending || ' ' IN t.ends) > 0
)"""

STEPS = table(
    "id bigint, expected text, status text, attempt int, tries int, crash_count int, fence bigint, worker uuid, "
    "claim uuid, edition int, origin text, port text, handled text, reason text, wait_kind text, error text, "
    "output text, output_ref bytea, input text, input_ref bytea, delay_s float8, until timestamptz, stamps text"
)
# A value is inline or a reference: the one that is set now takes away the other kind, which an earlier attempt may have
# left. `stamps` says which times are now: r ready, s started, f finished.
STEP_SETS = f"""changed_seq = ran.event_seq, held_by = {IS_HELD},
    status = m.status, attempt = m.attempt, tries = m.tries, crash_count = m.crash_count, fence = m.fence,
    worker = m.worker, claim = m.claim, edition = m.edition,
    origin = m.origin, port = m.port, handled = m.handled, reason = m.reason, wait_kind = m.wait_kind, error = m.error,
    output = CASE WHEN m.output_ref IS NULL THEN coalesce(m.output, s.output) END,
    output_ref = CASE WHEN m.output IS NULL THEN coalesce(m.output_ref, s.output_ref) END,
    input = CASE WHEN m.input_ref IS NULL THEN coalesce(m.input, s.input) END,
    input_ref = CASE WHEN m.input IS NULL THEN coalesce(m.input_ref, s.input_ref) END,
    not_before = coalesce(m.until, {NOW} + make_interval(secs => m.delay_s), s.not_before),
    ready_at = CASE WHEN m.stamps LIKE '%%r%%' THEN {NOW} ELSE s.ready_at END,
    started_at = CASE WHEN m.stamps LIKE '%%s%%' THEN {NOW} ELSE s.started_at END,
    finished_at = CASE WHEN m.stamps LIKE '%%f%%' THEN {NOW} END,
    queue_until = CASE WHEN m.stamps LIKE '%%r%%' THEN {NOW} + make_interval(secs => s.queue_limit_s)
        ELSE s.queue_until END,
    total_until = coalesce(CASE WHEN m.stamps NOT LIKE '%%c%%' THEN s.total_until END,
        CASE WHEN m.stamps LIKE '%%s%%' THEN {NOW} + make_interval(secs => s.total_limit_s) END)"""
STEPPED = f"""stepped AS (
    UPDATE runs_steprun s SET {STEP_SETS} FROM ran, {STEPS.source}
    WHERE s.id = m.id AND pawl_expect(s.status, m.expected, s.path)
)"""

# Rows whose nodes may reuse results, or be reused; others are spared these columns.
MARKED_STEPS = Table(STEPS.columns + table("input_hash bytea, reused_from text").columns)
MARKED = f"""marked AS (
    UPDATE runs_steprun s SET {STEP_SETS}, input_hash = coalesce(m.input_hash, s.input_hash),
        reused_from = coalesce(m.reused_from, s.reused_from)
    FROM ran, {MARKED_STEPS.source}
    WHERE s.id = m.id AND pawl_expect(s.status, m.expected, s.path)
)"""

# Rows that are containers, with what they know of their items.
CONTAINERS = Table(
    STEPS.columns
    + table(
        "total int, cursor int, open int, failed int, window int, policy text, tolerated int, mode text, gather text, "
        "reopen text, items text, items_ref bytea"
    ).columns
)
CONTAINED = f"""contained AS (
    UPDATE runs_steprun s SET {STEP_SETS}, item_total = m.total, item_cursor = m.cursor, item_open = m.open,
        item_failed = m.failed, item_window = m."window", item_policy = m.policy,
        item_tolerated = m.tolerated, item_mode = m.mode, item_gather = m.gather, reopen = m.reopen,
        items = CASE WHEN m.items_ref IS NULL THEN coalesce(m.items, s.items) END,
        items_ref = CASE WHEN m.items IS NULL THEN coalesce(m.items_ref, s.items_ref) END
    FROM ran, {CONTAINERS.source}
    WHERE s.id = m.id AND pawl_expect(s.status, m.expected, s.path)
)"""

NEW_STEPS = table(
    "path text, node_id text, key text, kind text, parent_id bigint, item_index int, queue text, delivery text, "
    "status text, attempt int, tries int, fence bigint, worker uuid, claim uuid, reason text, port text, output text, "
    "output_ref bytea, delay_s float8, stamps text, queue_limit_s float8, total_limit_s float8"
)
# Rows of nodes with a limit of their own, or of another edition than the first; others are spared these columns.
NEW_LIMITED_STEPS = Table(
    NEW_STEPS.columns
    + table("limit_key text, limit_at_most int, rate_starts int, rate_per_s float8, edition int").columns
)


def _opened(rows: Table, more: Sequence[str] = ()) -> str:
    return f"""opened AS (
    INSERT INTO runs_steprun (run_id, run_day, workspace_id, priority, path, node_id, key, kind, parent_id, item_index,
        queue, delivery, status, attempt, tries, fence, worker, claim, reason, port, output, output_ref,
        changed_seq, held_by, not_before, ready_at, started_at, finished_at, queue_limit_s, queue_until, total_limit_s,
        total_until{"".join(f", {name}" for name in more)})
    SELECT ran.id, ran.run_day, ran.workspace_id, ran.priority, m.path, m.node_id, m.key, m.kind, m.parent_id,
        m.item_index, m.queue, m.delivery, m.status, m.attempt, m.tries, m.fence, m.worker, m.claim, m.reason, m.port,
        m.output, m.output_ref, ran.event_seq, {IS_HELD},
        CASE WHEN m.delay_s IS NOT NULL THEN {NOW} + make_interval(secs => m.delay_s) END,
        CASE WHEN m.stamps LIKE '%%r%%' THEN {NOW} END, CASE WHEN m.stamps LIKE '%%s%%' THEN {NOW} END,
        CASE WHEN m.stamps LIKE '%%f%%' THEN {NOW} END,
        m.queue_limit_s, CASE WHEN m.stamps LIKE '%%r%%' THEN {NOW} + make_interval(secs => m.queue_limit_s) END,
        m.total_limit_s, CASE WHEN m.stamps LIKE '%%s%%' THEN {NOW} + make_interval(secs => m.total_limit_s)
            END{"".join(f", m.{name}" for name in more)}
    FROM ran, {rows.source}
    RETURNING id, path
)"""


OPENED = _opened(NEW_STEPS)
OPENED_LIMITED = _opened(NEW_LIMITED_STEPS, ("limit_key", "limit_at_most", "rate_starts", "rate_per_s", "edition"))

# Times, and the input where this attempt resolved none, come from the step's row as it was before.
ATTEMPTS = table(
    "id bigint, number int, fence bigint, worker uuid, outcome text, error text, input text, input_ref bytea"
)
ENDED = f"""ended AS (
    INSERT INTO runs_attempt (run_day, run_id, step_run_id, number, fence, worker, outcome, error, input, input_ref,
        ready_at, started_at, finished_at)
    SELECT ran.run_day, ran.id, m.id, m.number, m.fence, m.worker, m.outcome, m.error,
        CASE WHEN m.input_ref IS NULL THEN coalesce(m.input, s.input) END,
        CASE WHEN m.input IS NULL THEN coalesce(m.input_ref, s.input_ref) END, s.ready_at, s.started_at, {NOW}
    FROM ran, {ATTEMPTS.source} JOIN runs_steprun s ON s.id = m.id
)"""

WAITS = table("id uuid, step_run_id bigint, kind text, attempt int, data text, expires_s float8")
WAITING = f"""waiting AS (
    INSERT INTO runs_wait (id, workspace_id, run_id, step_run_id, kind, status, attempt, data, opened_at, expires_at)
    SELECT m.id, ran.workspace_id, ran.id, m.step_run_id, m.kind, 'open', m.attempt, m.data, {NOW},
        {NOW} + make_interval(secs => m.expires_s)
    FROM ran, {WAITS.source}
)"""

CLOSED_WAITS = table("step_run_id bigint, status text")
CLOSED = f"""closed AS (
    UPDATE runs_wait w SET status = m.status FROM ran, {CLOSED_WAITS.source}
    WHERE w.step_run_id = m.step_run_id AND w.status = 'open'
)"""

USED_CALLBACKS = table("step_run_id bigint")
USED = f"""used AS (
    UPDATE runs_callback c SET used_at = {NOW}, body = NULL FROM ran, {USED_CALLBACKS.source}
    WHERE c.step_run_id = m.step_run_id AND c.received_at IS NOT NULL AND c.used_at IS NULL
)"""

EVENTS = table("seq bigint, type text, path text, attempt int, data text")
TOLD = f"""told AS (
    INSERT INTO runs_event (run_day, run_id, seq, type, path, attempt, actor, data, at)
    SELECT ran.run_day, ran.id, m.seq, m.type, m.path, m.attempt, %s, m.data, {NOW} FROM ran, {EVENTS.source}
)"""

# Every payload that the statement refers to is there, and stays: a sweep that is just judging it finds it touched.
# After the run's row: whoever holds that may wait for a payload, and nobody who holds a payload waits for a run.
HOLDS = "holds AS MATERIALIZED (SELECT pawl_hold_payloads(%s::bytea[]) FROM ran)"

OUTBOX = table("step_run_id bigint, kind text, data text")
SENT = f"""sent AS (
    INSERT INTO runs_outbox (run_id, workspace_id, step_run_id, kind, data, not_before)
    SELECT ran.id, ran.workspace_id, m.step_run_id, m.kind, m.data, {NOW} FROM ran, {OUTBOX.source}
)"""
