"""Rows of the outbox: what one run tells another, one delivery each (runs/engine/children.py)."""

from dataclasses import dataclass
from uuid import UUID

from runs.store.read import Connection


@dataclass(frozen=True)
class Post:
    """A row. `data` is JSON text."""

    id: int
    kind: str  # call_child | stop_child | child_done
    run_id: UUID
    step_run_id: int
    data: str
    workspace_id: UUID


# A row waits for those of its step run that came before it, delivered or not by somebody else. (OFFSET 0: asked of row
# after row, so that a flood is never read as a whole.) Index: outbox_of_step.
IS_FIRST = """NOT EXISTS (
    SELECT FROM runs_outbox e WHERE e.step_run_id = o.step_run_id AND e.id < o.id OFFSET 0)"""
# Goes round the workspaces, from the one after the last that was served, as a claim does: one that floods the outbox
# costs another one row's wait. Locks nothing. Index: outbox_turn.
NEXT = f"""WITH RECURSIVE ring AS (
    SELECT %(after)s::uuid AS workspace_id, false AS is_round, false AS is_turn
    UNION ALL
    SELECT n.workspace_id, n.is_round, true FROM ring CROSS JOIN LATERAL (
        (SELECT o.workspace_id, ring.is_round FROM runs_outbox o WHERE o.workspace_id > ring.workspace_id
            ORDER BY o.workspace_id LIMIT 1)
        UNION ALL
        (SELECT o.workspace_id, true FROM runs_outbox o WHERE NOT ring.is_round ORDER BY o.workspace_id LIMIT 1)
        LIMIT 1
    ) n WHERE NOT n.is_round OR n.workspace_id <= %(after)s::uuid
)
SELECT c.* FROM ring CROSS JOIN LATERAL (
    SELECT o.id, o.kind, o.run_id, o.step_run_id, o.data, o.workspace_id FROM runs_outbox o
    WHERE o.workspace_id = ring.workspace_id AND o.not_before <= statement_timestamp()
        AND o.id <> ALL(%(passed)s::bigint[]) AND {IS_FIRST}
    ORDER BY o.id LIMIT 1
) c WHERE ring.is_turn LIMIT 1"""
# Index: outbox_turn.
DUE = """SELECT o.id FROM runs_outbox o WHERE o.not_before <= statement_timestamp()
    ORDER BY o.workspace_id, o.id LIMIT %s"""
# Again what NEXT has seen, held until the transaction ends. None where somebody else has it, or it is done.
TAKE = f"SELECT o.id FROM runs_outbox o WHERE o.id = %s AND {IS_FIRST} FOR UPDATE OF o SKIP LOCKED"
# Before a look that takes long: others leave the row alone meanwhile. Whoever dies in that look delays it by so much.
LEASE = """UPDATE runs_outbox SET not_before = statement_timestamp() + make_interval(secs => %s)
    WHERE id = %s AND not_before <= statement_timestamp()"""
DELIVERED = "DELETE FROM runs_outbox WHERE id = %s"
LATER = "UPDATE runs_outbox SET not_before = statement_timestamp() + make_interval(secs => %s) WHERE id = %s"
AGAIN = """INSERT INTO runs_outbox (run_id, step_run_id, workspace_id, kind, data, not_before)
    SELECT r.id, %s, r.workspace_id, 'child_done', '{}', statement_timestamp() FROM runs_run r WHERE r.id = %s"""


def next_post(connection: Connection, *, after: UUID, passed: list[int]) -> Post | None:
    """The next row in turn, but for those to be passed over; None where nothing is due."""
    values = connection.execute(NEXT, {"after": after, "passed": passed}).fetchone()
    return None if values is None else Post(*values)


def take(connection: Connection, post: Post) -> bool:
    """Whether the row is now this transaction's."""
    return connection.execute(TAKE, (post.id,)).fetchone() is not None


def lease(connection: Connection, post: Post, *, for_s: float) -> bool:
    """Whether nobody else has done the same just now."""
    return connection.execute(LEASE, (for_s, post.id)).rowcount == 1


def later(connection: Connection, post: Post, *, after_s: float) -> None:
    connection.execute(LATER, (after_s, post.id))
