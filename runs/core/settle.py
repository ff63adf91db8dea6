"""What an attempt's outcome does to its step run. The caller then propagates the step's scope."""

from typing import assert_never

from runs.core.advance import cancel_row, complete, end_items, fail, go_on, open_new_item
from runs.core.joins import OUT_PORT
from runs.core.outcomes import (
    Again,
    Crashed,
    Error,
    Failed,
    Fans,
    Outcome,
    Reused,
    Skipped,
    Stopped,
    Succeeded,
    TimedOut,
    Waits,
)
from runs.core.policy import CRASH_BUDGET, crash_delay_s, is_tried_again, retry_delay_s
from runs.core.rows import CHILD, MOST_NESTED, SKIP_IF, UNKNOWN_OUTCOME, Items, Row, Sent, Stored
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import Transition


def settle_attempt(
    tx: Transition, row: Row, outcome: Outcome, *, output: Stored | None = None, jitter: float = 0.0
) -> None:
    """Ends (or parks) the present attempt of a running row. `output` is the stored output, or the stored items of a
    FanOut.
    """
    if tx.run.status is RunStatus.CANCELLING and not isinstance(outcome, Succeeded):
        cancel_row(tx, row, may_have_acted=isinstance(outcome, Crashed | TimedOut | Stopped))
        return
    match outcome:
        case Succeeded() | Reused():
            take_result(tx, row, outcome, output=output)
        case Waits():
            park(tx, row, outcome, output=output)
        case Fans():
            fan_out(tx, row, outcome, items=output)
        case Again():
            ask_again(tx, row, outcome)
        case Failed(error=error):
            retry_or_fail(tx, row, error, outcome="failed", jitter=jitter)
        case Skipped():
            leave_out(tx, row)
        case TimedOut() | Crashed() | Stopped():
            end_unanswered(tx, row, outcome, jitter=jitter)
        case _:
            assert_never(outcome)


def end_unanswered(tx: Transition, row: Row, outcome: TimedOut | Crashed | Stopped, *, jitter: float) -> None:
    """The body gave no answer."""
    match outcome:
        case TimedOut():
            time_out(tx, row, outcome, jitter=jitter)
        case Crashed(detail=detail):
            crash(tx, row, detail)
        case Stopped():
            release(tx, row)
        case _:
            assert_never(outcome)


def time_out(tx: Transition, row: Row, outcome: TimedOut, *, jitter: float) -> None:
    error = time_out_error(outcome)
    if is_unknown(tx, row):
        lose(tx, row, error)
    else:
        retry_or_fail(tx, row, error, outcome="timed_out", jitter=jitter)


def time_out_error(outcome: TimedOut) -> Error:
    limit = f"{outcome.limit_s:g} s"
    match outcome.code:
        case "timed_out":
            return Error("timed_out", f"The step's limit of {limit} passed.", retryable=True)
        case "idle_limit":
            return Error("idle_limit", f"Nothing was heard of the step for {limit}.", retryable=True)
        case "total_limit":
            return total_limit_error(outcome.limit_s)
        case _:
            assert_never(outcome.code)


def total_limit_error(limit_s: float) -> Error:
    """Not to be tried again: there is no time left to do so."""
    return Error("total_limit", f"The step's attempts and the pauses between them took {limit_s:g} s, its limit.")


def leave_out(tx: Transition, row: Row) -> None:
    """Its policy's skip_if said so: the flow goes on past it, as where a person skips it."""
    row.reason = SKIP_IF
    tx.end_attempt(row, "skipped")
    tx.move(row, StepStatus.SKIPPED, reason=SKIP_IF)


def is_unknown(tx: Transition, row: Row) -> bool:
    """Whether nobody can tell if the effect of an attempt that did not answer took place (promise P3).

    A kind whose effects all happen inside acts has stored the intent of each before it: without one, nothing has begun
    that must not happen twice, and an act that is done is not repeated.
    """
    if row.delivery != "at_most_once":
        return False
    assert row.id is not None
    node = tx.node(row)
    return not tx.definition.specs[node.kind].acts_of(node.config) or tx.loader.has_acted(row.id, row.fence)


def take_result(tx: Transition, row: Row, outcome: Succeeded | Reused, *, output: Stored | None) -> None:
    row.reused_from = outcome.source if isinstance(outcome, Reused) else None
    succeed(tx, row, output=output, port=outcome.port, origin="reused" if row.reused_from else "executed")


def succeed(tx: Transition, row: Row, *, output: Stored | None, port: str, origin: str = "executed") -> None:
    row.output, row.port, row.error, row.origin = output, port, None, origin
    tx.end_attempt(row, "succeeded")
    source = {"source": dict(row.reused_from)} if row.reused_from else {}
    tx.move(row, StepStatus.SUCCEEDED, port=port, origin=origin, **source)


def park(tx: Transition, row: Row, wait: Waits, *, output: Stored | None) -> None:
    assert row.id is not None
    if wait.kind == "callback" and (early := tx.loader.early_callback(row.id)) is not None:
        tx.used_callbacks.append(row.id)
        succeed(tx, row, output=early, port=OUT_PORT)
        return
    if wait.kind == CHILD and tx.run.depth >= MOST_NESTED:
        message = f"Nesting too deep: this run lies {tx.run.depth} runs deep, and {MOST_NESTED} are the most."
        error = {"code": "nesting_too_deep", "message": message}
        tx.end_attempt(row, "failed", dict(error))
        fail(tx, row, error)
        return
    row.delay_s = wait.seconds if wait.kind == "timer" else None
    if wait.kind == CHILD:
        tx.outbox.append(Sent("call_child", row.id, dict(wait.data)))
    elif wait.kind == "timer":
        row.output, row.until = output, wait.data.get("until")
    else:
        tx.open_wait(row, wait.kind, data=wait.data, expires_s=wait.seconds)
    tx.move(row, StepStatus.WAITING, wait=wait.kind, seconds=wait.seconds)
    row.wait_kind = wait.kind


def fan_out(tx: Transition, row: Row, fan: Fans, *, items: Stored | None) -> None:
    row.items = Items(
        total=len(fan.items) if fan.most is None else fan.most,
        window=fan.window,
        policy=fan.on_item_failure,
        tolerated=fan.tolerated,
        mode=fan.mode,
        gather=fan.gather,
    )
    row.items_json = items
    if not row.items.total:
        end_items(tx, row, row.items)
        return
    wait_for_items(tx, row, row.items)
    if fan.mode == "rounds":
        open_round(tx, row, row.items)
    go_on(tx, row, row.items)


def wait_for_items(tx: Transition, row: Row, items: Items) -> None:
    tx.move(row, StepStatus.WAITING, wait="children", total=items.total)
    row.wait_kind = "children"


def open_round(tx: Transition, row: Row, items: Items) -> None:
    open_new_item(tx, row, items.cursor)
    items.cursor += 1
    tx.progressed[row.path] = row


def ask_again(tx: Transition, row: Row, answer: Again) -> None:
    """A round is done: the next one opens, up to the maximum."""
    items = row.items
    assert items is not None, "only a container that has run a round is asked"
    if not answer.wanted or (answer.at_most == "end" and items.cursor >= items.total):
        complete(tx, row, items)
    elif items.cursor >= items.total:
        message = f"After {items.total} rounds, the most it may have, its condition is still not met."
        error = {"code": "maximum_reached", "message": message}
        tx.end_attempt(row, "failed", dict(error))
        fail(tx, row, error)
    else:
        wait_for_items(tx, row, items)
        open_round(tx, row, items)


def retry_or_fail(tx: Transition, row: Row, error: Error, *, outcome: str, jitter: float) -> None:
    stored = as_json(error)
    retry = tx.node(row).policy.retry
    tx.end_attempt(row, outcome, stored)
    again = error.code != "total_limit" and is_tried_again(retry, code=error.code, retryable=error.retryable)
    if again and row.tries < retry.attempts and not is_unknown(tx, row):
        row.error = stored
        row.delay_s = retry_delay_s(retry, row.tries, jitter=jitter, retry_after_s=error.retry_after_s)
        tx.move(row, StepStatus.RETRY_WAIT, error=stored, delay_s=round(row.delay_s, 3))
    else:
        fail(tx, row, stored)


def crash(tx: Transition, row: Row, detail: str) -> None:
    """The attempt ended without a word. Its own budget, so that the user's retries stay theirs."""
    error = Error("crashed", detail, retryable=True)
    if is_unknown(tx, row):
        lose(tx, row, error)
        return
    stored = as_json(error)
    tx.end_attempt(row, "lost", stored)
    row.crash_count += 1
    row.tries -= 1
    if row.crash_count >= CRASH_BUDGET:
        message = f"The step's process was lost {row.crash_count} times. The last time: {detail}"
        fail(tx, row, {"code": "worker_lost", "message": message})
        return
    row.error = stored
    row.delay_s = crash_delay_s(row.crash_count)
    if row.delay_s:
        tx.move(row, StepStatus.RETRY_WAIT, error=stored, delay_s=row.delay_s, crash=True)
    else:
        tx.move(row, StepStatus.READY, crash=True, reason="lost")
        row.error = stored


def lose(tx: Transition, row: Row, error: Error) -> None:
    """At most once, and it may have happened: a person decides."""
    stored = as_json(error)
    tx.end_attempt(row, "lost" if error.code == "crashed" else "timed_out", stored)
    row.error, row.reason = stored, UNKNOWN_OUTCOME
    tx.move(row, StepStatus.NEEDS_DECISION, error=stored, reason=UNKNOWN_OUTCOME)


def release(tx: Transition, row: Row) -> None:
    """The worker gave the step back (it drains), or was told to stop it: no attempt of the user's is used up."""
    if is_unknown(tx, row):
        lose(tx, row, Error("crashed", "The worker stopped while the step ran."))
        return
    tx.end_attempt(row, "lost", {"code": "released", "message": "The worker stopped before the step ended."})
    row.tries -= 1
    tx.move(row, StepStatus.READY, reason="released")


def as_json(error: Error) -> dict[str, object]:
    stored: dict[str, object] = {"code": error.code, "message": error.message}
    return {**stored, "data": dict(error.data)} if error.data else stored
