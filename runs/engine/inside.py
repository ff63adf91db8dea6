"""What is inside the runs that a run's steps have started, at any depth: a plan that would start such a run anew names
it. Of several runs of a step the last one counts. They are not locked: each is of the moment in which it is read.
"""

from uuid import UUID

from runs.engine.definitions import definition_of
from runs.store.read import Connection
from steps.base import Delivery

NAMED = 10

# Index: run_children.
INSIDE = """WITH RECURSIVE inside AS (
    SELECT %s::uuid AS id, NULL::bigint AS step, NULL::bigint AS number, NULL::uuid AS version_id
    UNION ALL
    SELECT c.id, coalesce(i.step, c.parent_step_id), c.number, c.version_id FROM inside i CROSS JOIN LATERAL (
        SELECT DISTINCT ON (r.parent_step_id) r.id, r.parent_step_id, r.number, r.version_id FROM runs_run r
        WHERE r.parent_run_id = i.id ORDER BY r.parent_step_id, r.number DESC) c
)"""
# As runs.core.fork.is_unknown says of a row.
UNKNOWN = f"""{INSIDE} SELECT i.step, i.number, s.path FROM inside i JOIN runs_steprun s ON s.run_id = i.id
    WHERE i.step IS NOT NULL AND s.delivery = 'at_most_once' AND (s.status IN ('needs_decision', 'running')
        OR s.reason = 'unknown_outcome' OR (s.reason = 'outrun' AND s.attempt > 0)) ORDER BY i.number, s.id"""
ACTED = f"""{INSIDE} SELECT DISTINCT i.step, i.version_id, s.node_id, s.delivery
    FROM inside i JOIN runs_steprun s ON s.run_id = i.id WHERE i.step IS NOT NULL AND s.attempt > 0"""


def unknown_inside(connection: Connection, run_id: UUID) -> dict[int, str]:
    """By the ids of the run's own steps: what may have acted, must not act twice, and nobody knows, in words."""
    found: dict[int, list[str]] = {}
    for step_run_id, number, path in connection.execute(UNKNOWN, (run_id,)):
        found.setdefault(step_run_id, []).append(f"{path} of run {number}")
    return {step_run_id: ", ".join(named[:NAMED]) for step_run_id, named in found.items()}


def acted_inside(connection: Connection, run_id: UUID) -> dict[int, Delivery]:
    """By the ids of the run's own steps in whose runs something acted on the outside: how, at its strictest."""
    found: dict[int, Delivery] = {}
    for step_run_id, version_id, node_id, kept in connection.execute(ACTED, (run_id,)).fetchall():
        definition = definition_of(connection, version_id)
        node = definition.nodes[node_id]
        own = definition.specs[node.kind].delivery_of(node.config)
        delivery = Delivery.AT_MOST_ONCE if kept == Delivery.AT_MOST_ONCE else own
        if delivery is not Delivery.PURE and found.get(step_run_id) is not Delivery.AT_MOST_ONCE:
            found[step_run_id] = delivery
    return found
