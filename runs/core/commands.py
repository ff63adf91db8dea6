"""What people and time do to a run, besides resuming it: cancel, answer, decide, and what falls due."""

from typing import Literal, assert_never

from kit.errors import Conflict
from runs.core.advance import cancel_row, fail, finish_run, is_failed, propagate
from runs.core.joins import OUT_PORT
from runs.core.questions import ASKED
from runs.core.rows import Row, Stored
from runs.core.settle import succeed
from runs.core.states import OPEN, RunStatus, StepStatus
from runs.core.transition import Transition

Decision = Literal["happened", "not_happened", "run_again", "skip"]


class NotPossibleNow(Conflict):
    """The step or run is not in a state in which this can be done."""

    code = "not_possible_now"


def cancel(tx: Transition) -> None:
    """Stops the run. What runs is told to stop and ends soon after; everything else ends here."""
    if tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
        raise NotPossibleNow(f"The run is {tx.run.status}: it cannot be cancelled.", status=tx.run.status)
    tx.move_run(RunStatus.CANCELLING)
    stop_everything(tx)


def stop_everything(tx: Transition) -> None:
    """Of a run that is being cancelled: ends what is open and does not run, and the run where nothing runs."""
    rows = [tx.add_known(row) for row in tx.loader.open_rows()]
    running = [row for row in rows if row.status is StepStatus.RUNNING]
    for row in rows:
        if row.items is not None:
            row.items.open = len({child.index for child in running if child.parent_id == row.id})
    for row in rows:
        if row.status in OPEN and row.status is not StepStatus.RUNNING:
            stop_quietly(tx, row)
    finish_run(tx)


def recompute(tx: Transition) -> None:
    """Decides all that is open anew, of a run of which nothing else would ever be decided again: what lies deepest
    first, with containers' counts as their items' rows say.
    """
    if tx.run.status is RunStatus.CANCELLING:
        stop_everything(tx)
        return
    rows = [tx.add_known(row) for row in tx.loader.open_rows()]
    keys = {(row.parent_id, row.index): row.path.count("[") for row in rows} | {(None, None): 0}
    for container in rows:
        if container.items is not None and container.status is StepStatus.WAITING:
            recount(tx, container, rows)
    for key in sorted(keys, key=lambda key: (-keys[key], key[0] or 0, key[1] or 0)):
        for row in tx.scope(key).values():
            tx.doubt(row)
        propagate(tx, key)
    if tx.touched or tx.run.status is not tx.before:
        tx.tell("recomputed", None, {})


def recount(tx: Transition, container: Row, rows: list[Row]) -> None:
    """Sets a container's counts to what its items' rows say."""
    items = container.items
    assert items is not None
    assert container.id is not None
    busy = {row.index for row in rows if row.parent_id == container.id}
    broken = set(tx.loader.broken_items(container.id)) - busy - set(items.reopen)
    counts = (len(busy), sum(is_failed(tx, container, index) for index in broken))
    if counts != (items.open, items.failed):
        items.open, items.failed = counts
        tx.touch(container)


def stop_quietly(tx: Transition, row: Row) -> None:
    """Cancels one open row without its children: they are in the caller's list themselves."""
    items, row.items = row.items, None
    cancel_row(tx, row)
    row.items = items


def answer(tx: Transition, row: Row, *, port: str, output: Stored) -> None:
    """A person, or a program that called back, answered what the step waits for."""
    if row.status is not StepStatus.WAITING or row.wait_kind not in ASKED:
        raise NotPossibleNow(f"The step is {row.status}: it no longer waits for an answer.", status=row.status)
    tx.close_wait(row, "answered", {})
    succeed(tx, row, output=output, port=port)
    propagate(tx, (row.parent_id, row.index))


def expire(tx: Transition, row: Row, *, rejected: Stored | None = None) -> None:
    """Nobody answered before the wait's deadline: the step fails, or leaves as `rejected` with that output."""
    if rejected is not None:
        tx.close_wait(row, "expired", {})
        succeed(tx, row, output=rejected, port="rejected")
        propagate(tx, (row.parent_id, row.index))
        return
    error = {"code": "wait_expired", "message": "Nobody answered before the deadline."}
    tx.close_wait(row, "expired", {})
    tx.end_attempt(row, "timed_out", error)
    fail(tx, row, error)
    propagate(tx, (row.parent_id, row.index))


def timer_due(tx: Transition, row: Row) -> None:
    succeed(tx, row, output=None, port="out")
    propagate(tx, (row.parent_id, row.index))


def retry_due(tx: Transition, row: Row) -> None:
    error = row.error
    tx.move(row, StepStatus.READY)
    row.error = error


def _refuse_without_out(tx: Transition, row: Row) -> None:
    node = tx.node(row)
    ports = [port.name for port in tx.definition.specs[node.kind].ports(node.config)]
    if OUT_PORT not in ports:
        message = f"The step leaves by one of {', '.join(ports)}, and nobody knows by which: run it again, or skip it."
        raise NotPossibleNow(message, ports=ports)


def decide_outcome(tx: Transition, row: Row, decision: Decision, *, output: Stored | None = None) -> None:
    """A person says what became of an at-most-once step whose attempt ended without a word (promise P3)."""
    if row.status is not StepStatus.NEEDS_DECISION:
        raise NotPossibleNow(f"The step is {row.status}: there is nothing to decide.", status=row.status)
    if tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
        raise NotPossibleNow(f"The run is {tx.run.status}.", status=tx.run.status)
    match decision:
        case "happened":
            _refuse_without_out(tx, row)
            row.output, row.port, row.origin, row.error = output, "out", "manual", None
            tx.move(row, StepStatus.SUCCEEDED, port="out", origin="manual")
        case "not_happened" | "run_again":
            row.edition += decision == "run_again"
            row.tries = row.crash_count = 0
            tx.move(row, StepStatus.READY, reason="decided")
        case "skip":
            row.reason = "by_person"
            tx.move(row, StepStatus.SKIPPED, reason="by_person")
        case _:
            assert_never(decision)
    propagate(tx, (row.parent_id, row.index))
