"""Late effects: acts of an attempt that somebody else's attempt had taken the step from (metric `late_zombie_effects`).

A worker that was frozen, or cut off, goes on where it was: what its body does to the outside then cannot be refused,
only its results are. Whoever is told so writes down which acts the attempt had begun.
"""

from collections.abc import Mapping
from uuid import UUID

from runs.store.claim import Held
from runs.store.read import Connection

# A step that was cancelled keeps its fence: its attempt ended with the run, and tells itself that it may have acted.
KEEP = """INSERT INTO runs_lateeffect (step_run_id, attempt, fence, worker, act, outcome, at)
    SELECT s.id, %s, %s, %s, m.act, m.outcome, statement_timestamp()
    FROM runs_steprun s, unnest(%s::text[], %s::text[]) AS m(act, outcome)
    WHERE s.id = %s AND s.fence IS DISTINCT FROM %s
    ON CONFLICT (step_run_id, fence, act) DO UPDATE SET outcome = excluded.outcome"""


def keep_late_effects(connection: Connection, held: Held, acts: Mapping[str, str], *, worker: UUID) -> int:
    """`acts` of the refused attempt, with what it told of each: done, failed or unknown. Answers how many were late.
    The same again changes nothing.
    """
    if not acts:
        return 0
    values = (held.attempt, held.fence, worker, list(acts), list(acts.values()), held.step_run_id, held.fence)
    return connection.execute(KEEP, values).rowcount
