"""What a person does to one step that cannot go on: edit its input, skip it, give its output by hand; or start a retry
now that would come later. Each answers its plan, and serves as its own preview (runs/core/plan.py).

A step that has failed may lie in an item that is settled, in a container that has failed, in a run that has failed:
whatever ended because of it opens again, and nothing else. What other failures broke stays as it is.
"""

from runs.core.advance import go_on, is_failed, propagate, reset, unhandled_failures
from runs.core.commands import NotPossibleNow, retry_due
from runs.core.joins import lost_ways
from runs.core.plan import Plan, finished_before, plan_of
from runs.core.reopen import what_reopens
from runs.core.rows import OUTRUN, Row, Stored
from runs.core.states import OPEN, RunStatus, StepStatus
from runs.core.transition import Transition
from steps.base import Delivery

STUCK = frozenset({StepStatus.FAILED, StepStatus.NEEDS_DECISION, StepStatus.BLOCKED})


def edit_input(tx: Transition, row: Row, *, inside: Delivery | None = None) -> Plan:
    """The failed step runs again on settings that a person gives; the store keeps those. It acts under a new key, and
    starts a new run instead of one that it has started: `inside` is how something acted in that one.

    Raises NotPossibleNow unless it failed, and nothing has gone on without it.
    """
    if row.status is not StepStatus.FAILED:
        raise _not_now(row, "only the input of a failed step can be edited")
    if row.items is not None:
        raise _not_now(row, "it goes on with the items that it has opened; resume it, or run it again from here")
    kept = finished_before(tx)
    others = _open_around(tx, row)
    row.tries = row.crash_count = 0
    row.edition += 1
    tx.move(row, StepStatus.READY)
    _go_on(tx, row, others)
    return plan_of(tx, kept, new_keys={row.path}, inside=inside)


def skip(tx: Transition, row: Row) -> Plan:
    """The flow goes on as if the step were not there: what follows it by the port `out` runs. Raises NotPossibleNow."""
    kept, others = finished_before(tx), _unstick(tx, row)
    row.handled = row.port = None
    row.reason = "by_person"
    tx.move(row, StepStatus.SKIPPED, reason="by_person")
    _go_on(tx, row, others)
    return plan_of(tx, kept)


def supply_output(tx: Transition, row: Row, *, output: Stored, port: str | None = None) -> Plan:
    """The step succeeds with an output that a person gives. `port` says how the flow leaves it, where its kind has
    several. Raises NotPossibleNow.
    """
    chosen = _port(tx, row, port)
    kept, others = finished_before(tx), _unstick(tx, row)
    row.output, row.port, row.origin = output, chosen, "manual"
    row.error = row.reason = None
    tx.move(row, StepStatus.SUCCEEDED, port=chosen, origin="manual")
    _go_on(tx, row, others)
    return plan_of(tx, kept)


def retry_now(tx: Transition, row: Row) -> Plan:
    """The next attempt starts at once. Raises NotPossibleNow where the step does not wait for one."""
    if row.status is not StepStatus.RETRY_WAIT:
        raise _not_now(row, "it does not wait for a retry")
    if tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
        raise NotPossibleNow(f"The run is {tx.run.status}.", status=tx.run.status)
    kept = finished_before(tx)
    retry_due(tx, row)
    return plan_of(tx, kept)


# ---------------------------------------------------------------------- inside


def _not_now(row: Row, why: str) -> NotPossibleNow:
    return NotPossibleNow(f"The step is {row.status}: {why}.", status=row.status)


def _port(tx: Transition, row: Row, port: str | None) -> str:
    """The way out: one of the kind's, and the only one need not be named."""
    node = tx.node(row)
    names = [each.name for each in tx.definition.specs[node.kind].ports(node.config)]
    chosen = port or (names[0] if len(names) == 1 else None)
    if chosen not in names:
        told = "Say by which port the flow goes on" if port is None else f"The step has no port '{port}'"
        raise NotPossibleNow(f"{told}: {', '.join(names)}.", ports=names)
    return chosen


def _unstick(tx: Transition, row: Row) -> list[Row]:
    """Checks that the step is stuck, and opens what ended because of it."""
    if row.status not in STUCK:
        raise _not_now(row, "this is for steps that failed, are blocked or need a decision")
    return _open_around(tx, row) if row.status is StepStatus.FAILED else []  # the others wait in a run that is open


def _open_around(tx: Transition, row: Row) -> list[Row]:
    """Opens the run, and the containers above a failed step, as far as they ended. Answers the step's siblings that did
    not run because of it.
    """
    if tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.FAILED):
        raise NotPossibleNow(f"The run is {tx.run.status}: resume it first.", status=tx.run.status)
    if tx.run.status is RunStatus.FAILED and any(_was_stopped(each) for each in tx.scope((None, None)).values()):
        raise NotPossibleNow("The run was stopped before its end: resume it first.", status=tx.run.status)
    if row.handled is not None or _is_outrun(tx, row):
        raise _not_now(row, "the flow went on in spite of that; run it again from here")
    others = _kept_by(tx, row)
    _open_container(tx, row)
    tx.run.generation += 1
    if tx.run.status is RunStatus.FAILED:
        tx.move_run(RunStatus.RUNNING, generation=tx.run.generation)
    return others


def _was_stopped(row: Row) -> bool:
    return row.status is StepStatus.CANCELLED and row.reason != OUTRUN


def _is_outrun(tx: Transition, row: Row) -> bool:
    """Whether all that follows it is a join which took the first, and that was another way."""
    container = tx.container_of(row)
    rows = tx.scope((row.parent_id, row.index))
    return row.node_id in lost_ways(tx.definition, container.node_id if container else None, rows)


def _kept_by(tx: Transition, row: Row) -> list[Row]:
    """Siblings that were skipped, blocked or failed because of this one."""
    rows = tx.scope((row.parent_id, row.index))
    return [other for other in what_reopens(tx.definition, rows, is_root=lambda one: one is row) if other is not row]


def _open_container(tx: Transition, row: Row) -> None:
    """Gives the step's item its place in the container again. A person's act takes a place beyond the window."""
    container = tx.container_of(row)
    if container is None:
        return
    siblings = tx.scope((row.parent_id, row.index))
    tx.scope((container.parent_id, container.index))
    items, index = container.items, row.index
    assert items is not None
    assert index is not None
    if container.status is StepStatus.FAILED and container.handled is None:
        _reopen_container(tx, container, index)
    elif container.status is not StepStatus.WAITING:
        what = "has gone on without this item; run it again from here"
        raise NotPossibleNow(f"'{container.path}' is {container.status}, and the flow {what}.", status=container.status)
    elif items.mode == "rounds" and index != items.cursor - 1:
        raise NotPossibleNow("Later rounds were made after this one; run it again from here.", status=row.status)
    elif index in items.reopen:
        raise NotPossibleNow("The item was resumed: it runs again as soon as there is room.", status=row.status)
    elif not any(sibling.status in OPEN for sibling in siblings.values()):
        tx.touch(container)
        items.open += 1
        items.failed -= bool(unhandled_failures(tx, container, siblings))


def _reopen_container(tx: Transition, container: Row, index: int) -> None:
    """A failed container goes on with this one item, and those that its failure stopped; other failed items stay so."""
    items = container.items
    assert items is not None
    assert container.id is not None
    kept = _kept_by(tx, container)
    _open_container(tx, container)
    broken = set(tx.loader.broken_items(container.id))
    stopped = {*tx.loader.stopped_items(container.id), *items.reopen}
    for each in (container, *kept):
        reset(tx, each)
    items.open, items.failed = 1, sum(is_failed(tx, container, each) for each in broken - stopped - {index})
    items.reopen = sorted(stopped - {index})


def _go_on(tx: Transition, row: Row, others: list[Row]) -> None:
    """Lets the siblings and the containers above decide anew."""
    for other in others:
        reset(tx, other)
    propagate(tx, (row.parent_id, row.index))
    container = tx.container_of(row)
    while container is not None:
        if container.items is not None and container.status is StepStatus.WAITING:
            go_on(tx, container, container.items)
        container = tx.container_of(container)
