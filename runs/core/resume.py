"""Resume: the same run goes on from what failed. One function serves the preview and the act.

`resume` changes a transition; the act writes it, the preview only reads what it would have written (`Plan`). So the two
cannot differ.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from kit.errors import Conflict
from runs.core.advance import propagate, reopen_rows, reset
from runs.core.reopen import is_reopenable, what_reopens
from runs.core.rows import Row
from runs.core.states import FINAL_RUNS, OPEN, RunStatus, StepStatus
from runs.core.transition import Transition
from steps.base import Delivery


class NothingToResume(Conflict):
    code = "nothing_to_resume"


@dataclass(frozen=True)
class Effect:
    """A step that runs again and acts on the outside."""

    path: str
    delivery: str
    may_happen_twice: bool  # False: the outside sees the same idempotency key as before


@dataclass(frozen=True)
class Plan:
    """What an operation does to each step run that exists."""

    kept: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)


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
    before = {row.path: (row.status, row.attempt) for row in top.values()}
    tx.run.generation += 1
    if tx.run.status in FINAL_RUNS:  # a paused run stays so: what is reopened starts when it is unpaused
        tx.move_run(RunStatus.RUNNING, generation=tx.run.generation)
    for row in chosen:
        if row.status is StepStatus.WAITING:
            _reopen_broken_items(tx, row)
        else:
            reset(tx, row)
    propagate(tx, (None, None))
    return _plan(tx, before)


def _chosen(tx: Transition, top: dict[str, Row], paths: Collection[str] | None) -> list[Row]:
    """The top-level rows to reopen, in order. A path inside a container means the container."""
    wanted = None if paths is None else {path.split("[", 1)[0] for path in paths}

    def is_root(row: Row) -> bool:
        return (wanted is None or row.path in wanted) and (is_reopenable(row) or _has_broken_items(tx, row))

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
    items.reopen, items.failed = [index for index in broken if index not in busy], 0


def _plan(tx: Transition, before: dict[str, tuple[StepStatus, int]]) -> Plan:
    plan = Plan()
    again = {
        path: row
        for path, (_, row) in tx.touched.items()
        if row.status in OPEN and row.status is not StepStatus.NEEDS_DECISION  # a person's, not the resume's
    }
    for path, row in again.items():
        plan.again.append(path)
        node = tx.node(row)
        own = tx.definition.specs[node.kind].delivery_of(node.config)
        delivery = Delivery.AT_MOST_ONCE if row.delivery == "at_most_once" else own
        if delivery is not Delivery.PURE and row.attempt > 0:
            plan.effects.append(Effect(path, delivery, delivery is Delivery.AT_MOST_ONCE))
    plan.kept.extend(path for path, (status, _) in before.items() if status is StepStatus.SUCCEEDED)
    return plan
