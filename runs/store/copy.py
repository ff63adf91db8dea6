"""Copies step runs of one run into another, by reference: values stay where they are."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.core.forking import Standing
from runs.core.transition import Transition
from runs.payloads import json_text
from runs.store import parts
from runs.store.read import Connection
from runs.store.write import limits_of

NEW_IDS = "SELECT nextval(pg_get_serial_sequence('runs_steprun', 'id')) FROM generate_series(1, %s)"

STANDING = parts.table(
    "id bigint, source bigint, path text, node_id text, key text, kind text, parent_id bigint, item_index int, "
    "queue text, delivery text, is_copy boolean, reason text, cursor int, reopen text, "
    "limit_key text, limit_at_most int, rate_starts int, rate_per_s float8, queue_limit_s float8, total_limit_s float8"
)
# A copy is as its source was, with its times, and names the step run that was executed. A container that goes on keeps
# its items and its settings, and has not begun.
KEPT = "port, handled, input, input_ref, override, override_ref, output, output_ref, error, reused_from"
ITEMS = "items, items_ref, item_total, item_window, item_policy, item_tolerated, item_mode, item_gather"
COPY = f"""INSERT INTO runs_steprun (id, run_id, run_day, workspace_id, priority, path, node_id, key, kind, parent_id,
        item_index, queue, delivery, status, origin, reason, attempt, edition, source_id, changed_seq,
        {KEPT}, {ITEMS}, item_cursor, item_failed, reopen,
        limit_key, limit_at_most, rate_starts, rate_per_s, queue_limit_s, total_limit_s,
        ready_at, started_at, finished_at)
    SELECT m.id, r.id, r.run_day, r.workspace_id, r.priority, m.path, m.node_id, m.key, m.kind, m.parent_id,
        m.item_index, m.queue, m.delivery, CASE WHEN m.is_copy THEN s.status ELSE 'cancelled' END,
        CASE WHEN m.is_copy THEN 'copied' ELSE 'executed' END, m.reason, CASE WHEN m.is_copy THEN s.attempt ELSE 0 END,
        CASE WHEN m.is_copy THEN s.edition ELSE 1 END, CASE WHEN m.is_copy THEN coalesce(s.source_id, s.id) END, 0,
        {", ".join(f"CASE WHEN m.is_copy THEN s.{name} END" for name in KEPT.split(", "))},
        {", ".join(f"s.{name}" for name in ITEMS.split(", "))},
        coalesce(m.cursor, s.item_cursor), CASE WHEN m.is_copy THEN s.item_failed ELSE 0 END, m.reopen,
        m.limit_key, m.limit_at_most, m.rate_starts, m.rate_per_s, m.queue_limit_s, m.total_limit_s,
        CASE WHEN m.is_copy THEN s.ready_at END, CASE WHEN m.is_copy THEN s.started_at END,
        CASE WHEN m.is_copy THEN s.finished_at END
    FROM runs_run r, {STANDING.source} JOIN runs_steprun s ON s.id = m.source WHERE r.id = %s"""
# A fork with the same effects: the outside sees the keys of the last attempts that were made on the same input.
SAME_EDITIONS = """UPDATE runs_steprun f SET edition = s.edition FROM runs_steprun s
    WHERE f.run_id = %s AND s.run_id = %s AND s.path = f.path AND s.edition > 1 AND s.override IS NULL
        AND s.override_ref IS NULL AND f.origin = 'executed' AND f.status <> 'succeeded'"""


# Steps that a run repeats later: those that stand in the fork have theirs already.
EDITIONS = """SELECT path, edition FROM runs_steprun
    WHERE run_id = %s AND edition > 1 AND override IS NULL AND override_ref IS NULL"""
OWN_EDITIONS = "SELECT editions FROM runs_run WHERE id = %s"
MADE = "SELECT path FROM runs_steprun WHERE run_id = %s AND path = ANY(%s)"
REPEATS = "UPDATE runs_run SET key_root = %s, effects_of_id = %s, editions = %s WHERE id = %s"


@dataclass(frozen=True)
class Effects:
    """What a run repeats: it shows the keys of `key_root`, and takes the editions of `run_id` over."""

    run_id: UUID
    key_root: UUID
    editions: Mapping[str, int]


def effects_of(connection: Connection, run_id: UUID, *, key_root: UUID) -> Effects:
    """Of steps that the run has not made itself, it knows the editions only where it repeats another run."""
    (text,) = connection.execute(OWN_EDITIONS, (run_id,)).fetchone() or (None,)
    later = json.loads(text or "{}")
    made = {path for (path,) in connection.execute(MADE, (run_id, list(later)))} if later else set()
    kept = {path: edition for path, edition in later.items() if path not in made}
    return Effects(run_id, key_root, {**kept, **dict(connection.execute(EDITIONS, (run_id,)).fetchall())})


def keep_effects(connection: Connection, run_id: UUID, effects: Effects) -> None:
    editions = json_text(dict(effects.editions)) if effects.editions else None
    connection.execute(REPEATS, (effects.key_root, effects.run_id, editions, run_id))


def new_ids(connection: Connection, count: int) -> list[int]:
    return [id_ for (id_,) in connection.execute(NEW_IDS, (count,))]


def copy_steps(connection: Connection, tx: Transition, rows: Sequence[Standing]) -> None:
    """Inserts what stands in a fork before it begins."""
    found = [_values(tx, each) for each in rows]
    if found:
        columns = [parts.literal(column) for column in zip(*found, strict=True)]
        connection.execute(COPY, (*columns, tx.run.id))


def _values(tx: Transition, standing: Standing) -> tuple[object, ...]:
    place, row = standing.place, standing.row
    assert place.source is not None
    node, goes_on = place.node, place.items
    reopen = json_text(goes_on.reopen) if goes_on is not None and goes_on.reopen else None
    return (
        row.id, place.source.id, row.path, node.id, node.key, node.kind, row.parent_id, row.index, node.policy.queue,
        row.delivery, place.is_copy, row.reason, goes_on.cursor if goes_on is not None else None, reopen,
        *limits_of(node.policy), node.policy.queue_limit_s, node.policy.total_limit_s,
    )  # fmt: skip


def same_editions(connection: Connection, run_id: UUID, source_id: UUID) -> None:
    connection.execute(SAME_EDITIONS, (run_id, source_id))
