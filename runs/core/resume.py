"""Resume: the same run goes on from what failed. One function serves the preview and the act.

`resume` changes a transition; the act writes it, the preview only reads what it would have written (`Plan`). So the two
cannot differ.
"""

from collections.abc import Collection

from kit.errors import Conflict
from runs.core.advance import propagate, reopen_rows, reset
from runs.core.plan import Plan, finished_before, plan_of
from runs.core.reopen import is_reopenable, what_reopens
from runs.core.rows import Row
from runs.core.states import FINAL_RUNS, OPEN, RunStatus, StepStatus
from runs.core.transition import Transition


class NothingToResume(Conflict):
    code = "nothing_to_resume"


def resume(tx: Transition, *, paths: Collection[str] | None = None) -> Plan:
    """Reopens what failed, was blocked or cancelled (or only `paths`), and what was skipped because of it.

    Raises NothingToResume where nothing of the run can be run again.
    """
    if tx.run.status in (RunStatus.SUCCEEDED, RunStatus.CANCELLING):
        raise NothingToResume(f"The run is {tx.run.status}: there is nothing to resume.", status=tx.run.status)
    top = tx.scope((None, None))
    chosen = _chosen(tx, top, paths)
    # A cancel or a deadline may come while the last step runs: a run of which all has ended well only has to end.
    if not chosen and (paths is not None or tx.run.status not in FINAL_RUNS):
        raise NothingToResume("No step of this run has failed, is blocked or was cancelled.", status=tx.run.status)
    kept, before = finished_before(tx), tx.run.status
    tx.run.generation += 1
    if tx.run.status in FINAL_RUNS:  # a paused run stays so: what is reopened starts when it is unpaused
        tx.move_run(RunStatus.RUNNING, generation=tx.run.generation)
    for row in chosen:
        if row.status is StepStatus.WAITING:
            _reopen_broken_items(tx, row)
        else:
            reset(tx, row)
    propagate(tx, (None, None))
    if tx.run.status is before and not _opens_anything(tx):
        what = "What has not run needs a step that was left out after a failure, and the flow has gone on without it"
        raise NothingToResume(f"{what}: skip it, give its output by hand, or run it again from there.")
    return plan_of(tx, kept)


def _opens_anything(tx: Transition) -> bool:
    """Not where all that was reset came back to where it was: blocked or failed, without a body having been called."""
    return any(
        row.status in OPEN and (row.status is not was or (row.items is not None and row.items.reopen))
        for was, row in tx.touched.values()
    )


def _chosen(tx: Transition, top: dict[str, Row], paths: Collection[str] | None) -> list[Row]:
    """The top-level rows to reopen, in order. A path inside a container means the container."""
    wanted = None if paths is None else {path.split("[", 1)[0] for path in paths}

    def is_root(row: Row) -> bool:
        # What a cancel or a deadline stopped belongs to every resume: the run would else wait for it or end without it
        was_stopped = row.status is StepStatus.CANCELLED
        is_wanted = wanted is None or row.path in wanted or was_stopped
        return is_wanted and (is_reopenable(row) or _has_broken_items(tx, row))

    return what_reopens(tx.definition, top, is_root=is_root)


def _has_broken_items(tx: Transition, row: Row) -> bool:
    """Whether a container that still works through its items has some, at any depth, that a resume takes up again."""
    if row.status is not StepStatus.WAITING or row.items is None:
        return False
    assert row.id is not None
    broken = set(tx.loader.broken_items(row.id)).difference(row.items.reopen)
    return bool(broken) or any(_has_broken_items(tx, child) for child in tx.open_children(row))


def _reopen_broken_items(tx: Transition, row: Row) -> None:
    """Settled items are opened again as the window allows; in open ones what failed is reset in its place."""
    items = row.items
    assert items is not None
    assert row.id is not None
    tx.touch(row)
    children = tx.open_children(row)
    busy = {child.index for child in children if child.index is not None}
    broken = tx.loader.broken_items(row.id)
    for child in children:
        if _has_broken_items(tx, child):
            _reopen_broken_items(tx, child)
    for index in sorted(busy):
        reopen_rows(tx, row, index)
    items.reopen = sorted({*items.reopen, *broken}.difference(busy))
    items.failed = 0
