"""Finds the result that a step may reuse: of the same run, of its workflow's runs or of its workspace's, no older than
its node allows. Only results of executed steps: what was reused, copied, given by hand or failed is none.
"""

from builder.graph.model import Node
from runs.core.outcomes import Reused
from runs.core.reuse import max_age_s
from runs.core.rows import Stored
from runs.store.claim import Held
from runs.store.read import Connection

# Index: step_run_reusable.
FIND = """SELECT s.port, s.output, s.output_ref, r.id, r.number, s.path
    FROM runs_steprun s JOIN runs_run r ON r.id = s.run_id
    WHERE s.input_hash = %(hash)s AND s.status = 'succeeded' AND s.origin = 'executed'
        AND s.finished_at > statement_timestamp() - make_interval(secs => %(age)s)
        AND r.workspace_id = %(workspace)s
        AND (r.id = %(run)s OR %(scope)s = 'workspace' OR (
            %(scope)s = 'workflow' AND r.workflow_id = (SELECT o.workflow_id FROM runs_run o WHERE o.id = %(run)s)))
    ORDER BY s.finished_at DESC LIMIT 1"""
TOUCH = "UPDATE runs_payload SET touched_at = statement_timestamp() WHERE hash = %s"


def find_result(connection: Connection, held: Held, node: Node, *, input_hash: bytes) -> Reused | None:
    """The newest such result. Its large value is touched: it stays until the finish refers to it."""
    values = {
        "hash": input_hash, "age": max_age_s(node), "workspace": held.workspace_id, "run": held.run_id,
        "scope": node.policy.reuse,
    }  # fmt: skip
    found = connection.execute(FIND, values).fetchone()
    if found is None:
        return None
    port, text, ref, run_id, number, path = found
    if ref is not None and connection.execute(TOUCH, (ref,)).rowcount == 0:
        return None
    output = Stored(text=text, ref=None if ref is None else bytes(ref))
    return Reused(port or "out", output, {"run": str(run_id), "number": number, "path": path})
