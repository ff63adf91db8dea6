"""Resume: the same run goes on from what failed. One function serves the preview and the act.

`resume` changes a transition; the act writes it, the preview only reads what it would have written (`Plan`). So the two
cannot differ.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from kit.errors import Conflict
from runs.core.advance import is_reopenable, propagate, reset
from runs.core.rows import Row
from runs.core.states import OPEN, RunStatus, StepStatus
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
    if not chosen:
        raise NothingToResume("No step of this run has failed, is blocked or was cancelled.", status=tx.run.status)
    before = {row.path: (row.status, row.attempt) for row in top.values()}
    tx.run.generation += 1
    if tx.run.status is not RunStatus.RUNNING:
        tx.move_run(RunStatus.RUNNING, generation=tx.run.generation)
    for row in chosen:
        if row.status is StepStatus.WAITING:
            _reopen_failed_items(tx, row)
        else:
            reset(tx, row)
    propagate(tx, (None, None))
    return _plan(tx, before)


def _chosen(tx: Transition, top: dict[str, Row], paths: Collection[str] | None) -> list[Row]:
    """The top-level rows to reopen, in order. A path inside a container means the container."""
    wanted = None if paths is None else {path.split("[", 1)[0] for path in paths}
    roots = [
        row
        for row in top.values()
        if (wanted is None or row.path in wanted) and row.status is not StepStatus.SKIPPED and _can_go_on(row)
    ]
    below = _downstream(tx, roots)
    skipped = [
        row
        for node_id, row in top.items()
        if row.status is StepStatus.SKIPPED and node_id in below and is_reopenable(row) and not _is_overtaken(tx, row)
    ]
    blocked = [row for row in top.values() if row.status is StepStatus.BLOCKED and row.node_id in below]
    chosen = {row.path: row for row in (*roots, *skipped, *blocked)}
    return [row for row in top.values() if row.path in chosen]


def _can_go_on(row: Row) -> bool:
    if row.status is StepStatus.WAITING:
        return row.items is not None and row.items.failed > 0
    return is_reopenable(row)


def _downstream(tx: Transition, rows: list[Row]) -> set[str]:
    found: set[str] = set()
    queue = [row.node_id for row in rows]
    while queue:
        for edge in tx.definition.outgoing[queue.pop()]:
            if edge.target not in found:
                found.add(edge.target)
                queue.append(edge.target)
    return found


def _is_overtaken(tx: Transition, row: Row) -> bool:
    """Whether something after a skipped step has begun without it; only a fork could run it now."""
    successors = [tx.scope((None, None))[edge.target] for edge in tx.definition.outgoing[row.node_id]]
    return any(
        successor.attempt > 0 or successor.status in (StepStatus.READY, StepStatus.SUCCEEDED)
        for successor in successors
    )


def _reopen_failed_items(tx: Transition, row: Row) -> None:
    """A container that still works through its items takes its failed ones up again."""
    items = row.items
    assert items is not None
    assert row.id is not None
    tx.touch(row)
    busy = {child.index for child in tx.open_children(row)}
    items.reopen = [index for index in tx.loader.broken_items(row.id) if index not in busy]
    items.failed = 0


def _plan(tx: Transition, before: dict[str, tuple[StepStatus, int]]) -> Plan:
    plan = Plan()
    again = {path: row for path, (_, row) in tx.touched.items() if row.status in OPEN}
    for path, row in again.items():
        plan.again.append(path)
        node = tx.node(row)
        own = tx.definition.specs[node.kind].delivery_of(node.config)
        delivery = Delivery.AT_MOST_ONCE if row.delivery == "at_most_once" else own
        if delivery is not Delivery.PURE and row.attempt > 0:
            plan.effects.append(Effect(path, delivery, delivery is Delivery.AT_MOST_ONCE))
    plan.kept.extend(path for path, (status, _) in before.items() if status is StepStatus.SUCCEEDED)
    return plan
