"""Whether an open run stands still: nothing of it can go on, though no step of it waits for anything that could come.

It must never be so: each transition decides all that follows from it. A sweeper asks all the same, and where it is so,
decides anew (runs.core.commands.recompute).
"""

from collections.abc import Iterable

from runs.core.rows import Row
from runs.core.states import OPEN, RunStatus, StepStatus


def standing_still(status: RunStatus, rows: Iterable[Row]) -> list[str]:
    """Paths of the steps that nobody would ever decide again; `rows` has every open step run. Of a run that should have
    ended: an empty path.

    Among siblings, a step that is not decided waits for another one that is open; a container waits for an open step of
    an item. So each level is looked at by itself: what lives elsewhere in the run hides nothing.
    """
    found = [row for row in rows if row.status in OPEN]
    if not found:
        return [""]
    if status is RunStatus.CANCELLING:  # only what runs is left, until it has heard of it
        is_ending = any(row.status is StepStatus.RUNNING for row in found)
        return [] if is_ending else [row.path for row in found]
    live = {(row.parent_id, row.index) for row in found if row.status is not StepStatus.PENDING}
    working = {row.parent_id for row in found}
    return [
        row.path
        for row in found
        if (row.status is StepStatus.PENDING and (row.parent_id, row.index) not in live)
        or (row.status is StepStatus.WAITING and row.wait_kind == "children" and row.id not in working)
    ]
