"""What follows from a settled step: the join rule, the failure rule, the window of a container, the end of a run.

The join rule stands in runs/core/joins.py. Failure rule: one failed branch does not cancel its siblings; what depends
on a failure that nobody handled follows its own `on_upstream_failure`. These are the only places that decide either.
"""

import json
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import Any, assert_never

from builder.graph.model import Node
from runs.core.joins import Verdict, edge_state, is_awaited, losers, made_up_for, verdict
from runs.core.questions import ASKED
from runs.core.reopen import what_reopens
from runs.core.rows import DEADLINE, NOT_TAKEN, OUTRUN, UNKNOWN_OUTCOME, UPSTREAM_FAILED, Items, Row, Stored
from runs.core.states import OPEN, RunStatus, StepStatus
from runs.core.transition import ScopeKey, Transition
from steps.base import ERROR_PORT, FAILED_PORT


def propagate(tx: Transition, key: ScopeKey) -> None:
    """Decides what follows in a scope; then closes its item, its container and so on upwards, and the run, where they
    end.
    """
    following: ScopeKey | None = key
    while following is not None:
        following = settle_scope(tx, following)
    finish_run(tx)


def settle_scope(tx: Transition, key: ScopeKey) -> ScopeKey | None:
    """Decides the scope's steps; answers the scope around it where its container ended with it."""
    rows = tx.scope(key)
    container = container_of(tx, rows)
    if not decide_all(tx, container, rows) or container is None:
        return None
    has_ended = settle_item(tx, container, failed=bool(unhandled_failures(tx, container, rows)))
    return (container.parent_id, container.index) if has_ended else None


def container_of(tx: Transition, rows: Mapping[str, Row]) -> Row | None:
    return tx.container_of(next(iter(rows.values()))) if rows else None


def decide_all(tx: Transition, container: Row | None, rows: dict[str, Row]) -> bool:
    """Decides the pending steps of a scope that a change may concern, in order, and lets its containers go on; whether
    nothing of it is open.

    A pending step can be decided only by a change of its own or of what it waits for: the others stay as the transition
    before left them. A run of thousands of siblings would else cost as much a step as it has siblings.
    """
    scope = tx.definition.scope_of(container.node_id if container else None)
    waiting = [scope.place[node_id] for node_id in tx.concerned(rows)]
    heapify(waiting)
    while waiting:
        node = scope.order[heappop(waiting)]
        row = rows[node.id]
        before = row.status
        if before is StepStatus.PENDING:
            decide(tx, node, row, rows=rows)
        elif before is StepStatus.WAITING and row.items is not None:
            go_on(tx, row, row.items)
        for node_id in tx.concerned(rows):
            heappush(waiting, scope.place[node_id])
    return all(row.status not in OPEN for row in rows.values())


def decide(tx: Transition, node: Node, row: Row, *, rows: dict[str, Row]) -> None:
    incoming = tx.definition.incoming[node.id]
    if node.policy.join == "all" and any(is_awaited(rows[edge.source]) for edge in incoming):
        return  # looked at first, up to the first one: a join of a thousand is asked a thousand times
    found = verdict(node.policy, [edge_state(edge, rows[edge.source]) for edge in incoming])
    match found:
        case Verdict.WAITS:
            pass
        case Verdict.FAILURE:
            follow_failure(tx, node, row)
        case Verdict.NOT_TAKEN:
            row.reason = NOT_TAKEN
            tx.move(row, StepStatus.SKIPPED, reason=NOT_TAKEN)
        case Verdict.RUNS:
            tx.move(row, StepStatus.READY)
            if node.policy.join == "first":
                for loser in losers(tx.definition, node.id, rows):
                    cancel_row(tx, loser, reason=OUTRUN)
        case _:
            assert_never(found)


def follow_failure(tx: Transition, node: Node, row: Row) -> None:
    """Something that the node needs failed, and nobody handled it."""
    policy = node.policy.on_upstream_failure
    match policy:
        case "skip":
            row.reason = UPSTREAM_FAILED
            tx.move(row, StepStatus.SKIPPED, reason=UPSTREAM_FAILED)
        case "wait":
            tx.move(row, StepStatus.BLOCKED, reason=UPSTREAM_FAILED)
            row.reason = UPSTREAM_FAILED
        case "default":
            tx.move(row, StepStatus.READY)
        case "fail":
            fail(tx, row, {"code": UPSTREAM_FAILED, "message": "A step that this one needs has failed."})
        case _:
            assert_never(policy)


def fail(tx: Transition, row: Row, error: Mapping[str, object]) -> None:
    """No attempt is left: failed for good, or handled as the node's policy says."""
    policy = tx.node(row).policy
    if policy.on_error == "fallback":
        row.handled, row.port = "fallback", "out"
    elif policy.on_error == "port":
        row.handled, row.port = "port", ERROR_PORT
    data = {"error": error, **({"handled": row.handled} if row.handled else {})}
    handled = row.handled
    row.error = dict(error)
    row.reason = None
    tx.move(row, StepStatus.FAILED, **data)
    assert row.handled == handled


def unhandled_failures(tx: Transition, container: Row | None, rows: Mapping[str, Row]) -> list[Row]:
    """The rows that make their scope fail: failures that neither a policy nor a join makes up for."""
    failed = [row for row in rows.values() if row.status is StepStatus.FAILED and row.handled is None]
    if not failed:
        return failed
    made_up = made_up_for(tx.definition, container.node_id if container else None, rows)
    return [row for row in failed if row.node_id not in made_up]


def is_failed(tx: Transition, container: Row, index: int) -> bool:
    """Whether an item with a failure has failed: joins may make up for that."""
    if not tx.definition.scope_of(container.node_id).has_races:
        return True
    return bool(unhandled_failures(tx, container, tx.scope((container.id, index))))


# ---------------------------------------------------------------------- containers


def go_on(tx: Transition, container: Row, items: Items) -> None:
    """Opens items until the window is full: first those that a resume asked for, then new ones. Ends the container
    where none is left; the caller then decides what follows it.
    """
    while items.open < items.window and (items.reopen or items.opens_next):
        tx.touch(container)
        if items.reopen:
            if reopen_item(tx, container, items.reopen.pop(0)) and stops_at_once(items):
                end_items(tx, container, items)
                return
        else:
            open_new_item(tx, container, items.cursor)
            items.cursor += 1
    if items.open == 0:
        end_items(tx, container, items)


def open_new_item(tx: Transition, container: Row, index: int) -> None:
    items = container.items
    assert items is not None
    items.open += 1
    definition = tx.definition
    key: ScopeKey = (container.id, index)
    for node in definition.scope_of(container.node_id).order:
        path = f"{container.path}[{index}].{node.key}"
        row = Row(
            id=None,
            path=path,
            edition=tx.run.editions.get(path, 1),
            node_id=node.id,
            status=StepStatus.PENDING,
            parent_id=container.id,
            index=index,
            delivery=definition.delivery_of(node),
        )
        tx.add_row(row, key)
        if not definition.incoming[node.id]:
            tx.move(row, StepStatus.READY)


def reopen_item(tx: Transition, container: Row, index: int) -> bool:
    """Sets what did not succeed in a settled item back to pending, and lets the rules decide. Whether that was all:
    what needs a step that was left out for good fails again at once, and so does its item.
    """
    items = container.items
    assert items is not None
    is_settled_again = reopen_rows(tx, container, index)
    if is_settled_again:
        items.failed += bool(unhandled_failures(tx, container, tx.scope((container.id, index))))
    else:
        items.open += 1
    return is_settled_again


def reopen_rows(tx: Transition, container: Row, index: int) -> bool:
    """Resets what a resume runs again in an item, and decides; whether nothing of the item is open."""
    rows = tx.scope((container.id, index))
    for row in what_reopens(tx.definition, rows):
        reset(tx, row)
    return decide_all(tx, container, rows)


def reset(tx: Transition, row: Row) -> None:
    """Back to pending, with fresh budgets; a container that had opened items goes on with those not done. The caller
    then propagates the row's scope.
    """
    row.tries = row.crash_count = 0
    if row.reason == UNKNOWN_OUTCOME:
        tx.move(row, StepStatus.NEEDS_DECISION, reason=UNKNOWN_OUTCOME)
        return
    if row.items is None or row.status not in (StepStatus.FAILED, StepStatus.CANCELLED):
        tx.move(row, StepStatus.PENDING)
        return
    assert row.id is not None
    items = row.items
    items.reopen = sorted({*items.reopen, *tx.loader.broken_items(row.id)})
    items.failed = items.open = 0
    if items.mode == "rounds" and not items.reopen:  # all rounds so far are done: it is asked again
        tx.move(row, StepStatus.READY)
        return
    row.attempt += 1
    row.stamps += "s"
    row.handled = row.port = row.error = None
    tx.move(row, StepStatus.WAITING, wait="children", total=items.total)
    row.wait_kind = "children"


def settle_item(tx: Transition, container: Row, *, failed: bool) -> bool:
    """An item's last open step settled: the next one opens, or the container ends. Whether it did."""
    items = container.items
    assert items is not None
    tx.touch(container)
    items.open -= 1
    if has_ended(container):
        return False  # the container was cancelled while this item's last body ran on
    items.failed += failed
    if stops_at_once(items):
        end_items(tx, container, items)
    else:
        go_on(tx, container, items)
    tx.progressed[container.path] = container
    return has_ended(container)


def stops_at_once(items: Items) -> bool:
    return items.failed > items.tolerated and items.policy == "fail_fast"


def has_ended(container: Row) -> bool:
    """Also by a cancel. One that is ready again is asked whether another round follows."""
    return container.status not in (StepStatus.WAITING, StepStatus.READY)


def end_items(tx: Transition, container: Row, items: Items) -> None:
    """No item of the container is left to open: its end, or the question whether another round follows. The caller then
    propagates its scope. With fail_fast, opened items are cancelled; what was never opened stays so until a resume.
    """
    if items.open:
        cancel_children(tx, container)
    if items.failed > items.tolerated and items.policy != "continue":
        fail_container(tx, container, items)
    elif items.mode == "rounds":
        tx.end_attempt(container, "succeeded")
        container.tries = container.crash_count = 0
        tx.move(container, StepStatus.READY, reason="round", rounds=items.cursor)
    else:
        complete(tx, container, items)


def complete(tx: Transition, container: Row, items: Items, *, port: str = "out") -> None:
    items.total = items.cursor  # of rounds there may have been fewer than the most
    container.port = port
    tx.end_attempt(container, "succeeded")
    counts = {"total": items.total, "failed": items.failed}
    tx.move(container, StepStatus.SUCCEEDED, port=port, origin="executed", **counts)


def fail_container(tx: Transition, container: Row, items: Items) -> None:
    if items.mode == "once":
        container.output = Stored(text=json.dumps(error_inside(tx, container)))
        complete(tx, container, items, port=FAILED_PORT)
        return
    if items.mode == "rounds":
        inside = error_inside(tx, container)
        error = {"code": "round_failed", "message": f"Round {items.cursor} failed: {inside['message']}"}
    else:
        error = {"code": "items_failed", "message": f"{items.failed} of {items.total} items failed."}
    tx.end_attempt(container, "failed", dict(error))
    fail(tx, container, {**error, "data": {"total": items.total, "failed": items.failed}})


def error_inside(tx: Transition, container: Row) -> dict[str, Any]:
    """What the first step that failed in the container's last item said, and where it stands."""
    assert container.items is not None
    rows = tx.scope((container.id, container.items.cursor - 1))
    first = next(iter(unhandled_failures(tx, container, rows)))
    error = first.error or {"code": "failed", "message": "It failed."}
    return {"code": error["code"], "message": error["message"], "path": first.path}


def cancel_row(tx: Transition, row: Row, *, may_have_acted: bool = True, reason: str | None = None) -> None:
    """Stops an open step run. A running one loses its fence: its worker is told, and whatever it still writes is
    refused. The reason is the run's own, unless told; what was `outrun` no resume opens again.
    """
    is_unknown = row.status is StepStatus.NEEDS_DECISION or (
        row.status is StepStatus.RUNNING and row.delivery == "at_most_once" and may_have_acted
    )
    if row.status is StepStatus.RUNNING or row.status is StepStatus.WAITING:
        tx.end_attempt(row, "cancelled")
    if row.status is StepStatus.WAITING and row.wait_kind in ASKED:
        tx.close_wait(row, "closed", {})
    if row.items is not None:
        cancel_children(tx, row)
    row.fence = None
    why = reason or why_stopped(tx)
    row.reason = UNKNOWN_OUTCOME if is_unknown and why != OUTRUN else why
    tx.move(row, StepStatus.CANCELLED, reason=row.reason, **({"outcome": "unknown"} if is_unknown else {}))


def why_stopped(tx: Transition) -> str:
    """The reason of steps that are cancelled now."""
    return DEADLINE if tx.run.status is RunStatus.CANCELLING and tx.run.error else "cancelled"


def cancel_children(tx: Transition, container: Row) -> None:
    for row in tx.open_children(container):
        cancel_row(tx, row)
    assert container.items is not None
    container.items.open = 0


# ---------------------------------------------------------------------- the run's end


def finish_run(tx: Transition) -> None:
    """Ends the run when nothing of it is open."""
    run = tx.run
    if run.open_count or run.status in (RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED):
        return
    if run.status is RunStatus.PAUSED:
        tx.move_run(RunStatus.RUNNING, generation=run.generation)
    if run.status is RunStatus.CANCELLING and run.error is None:
        tx.move_run(RunStatus.CANCELLED)
        return
    failed = unhandled_failures(tx, None, tx.scope((None, None)))
    if failed or run.error:
        run.error = run.error or error_of(failed)
        tx.move_run(RunStatus.FAILED, failed=[row.path for row in failed], error=run.error)
    else:
        tx.move_run(RunStatus.SUCCEEDED)


def error_of(failed: list[Row]) -> dict[str, object]:
    """Of a run whose steps failed: what its list shows."""
    first, *rest = failed
    message = f"{first.path}: {(first.error or {}).get('message', 'It failed.')}"
    return {"code": "steps_failed", "message": message + (f" (and {len(rest)} more)" if rest else "")}


def begin_run(tx: Transition, run_input: Stored) -> None:
    """The rows of the top level; start nodes succeed with the run's input, then the rules decide the rest."""
    tx.tell(f"run.{RunStatus.RUNNING}", None, {"generation": tx.run.generation})
    for node in tx.definition.scope_of(None).order:
        row = Row(None, node.key, node.id, StepStatus.PENDING, delivery=tx.definition.delivery_of(node))
        row.edition = tx.run.editions.get(node.key, 1)
        tx.add_row(row, (None, None))
    for row in tx.scope((None, None)).values():
        if not tx.definition.specs[tx.node(row).kind].has_input:
            tx.succeed_at_once(row, run_input)
    propagate(tx, (None, None))
