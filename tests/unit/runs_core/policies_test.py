"""What a node's policy does with time, with errors and with a step that is to be left out."""

from collections.abc import Callable

import pytest

from builder.graph.model import Policy, Retry
from runs.core.commands import retry_due
from runs.core.outcomes import Error, Failed, Fans, Skipped, Succeeded, TimedOut, Waits
from runs.core.policy import is_tried_again, retry_delay_s
from runs.core.resume import resume
from runs.core.time_limits import queue_limit_passed, total_limit_passed
from runs.core.transition import Transition
from tests.graphs import draw
from tests.memory import MemoryRun


def memory(drawing: str = "S > A > B", **policies: Policy) -> MemoryRun:
    return MemoryRun(draw(drawing, plain="pass_through", policies=policies))


def failure(code: str, *, retryable: bool) -> Failed:
    return Failed(Error(code, "It broke.", retryable=retryable))


# ---------------------------------------------------------------------- which errors


@pytest.mark.parametrize(
    ("on", "code", "retryable", "again"),
    [
        (None, "http_503", True, True),
        (None, "http_404", False, False),
        (["http_404"], "http_404", False, True),
        (["http_404"], "http_503", True, False),
        (["*"], "anything", False, True),
        (["timed_out", "http_503"], "timed_out", True, True),
    ],
)
def test_what_is_tried_again_is_what_may_pass_or_what_the_author_names(
    on: list[str] | None, code: str, retryable: bool, again: bool
) -> None:
    assert is_tried_again(Retry(3, on=on), code=code, retryable=retryable) is again


def test_a_named_error_is_tried_again_and_another_one_is_not() -> None:
    run = memory(A=Policy(retry=Retry(3, on=["http_404"])))
    run.finish("A", failure("http_404", retryable=False))
    assert run.statuses()["A"] == "retry_wait"
    run.on("A", lambda tx, row: tx.move(row, row.status.READY))
    run.finish("A", failure("http_503", retryable=True))
    assert run.statuses()["A"] == "failed"


def test_chance_takes_away_as_much_of_a_pause_as_the_policy_says() -> None:
    assert retry_delay_s(Retry(first_delay_s=10), 1, jitter=1.0) == 5
    assert retry_delay_s(Retry(first_delay_s=10, jitter=0), 1, jitter=1.0) == 10
    assert retry_delay_s(Retry(first_delay_s=10, jitter=1), 1, jitter=1.0) == 0


def test_a_retry_that_is_asked_for_in_ages_comes_within_a_year() -> None:
    assert retry_delay_s(Retry(first_delay_s=10), 1, jitter=0.0, retry_after_s=1e300) == 366 * 86_400
    assert retry_delay_s(Retry(first_delay_s=10, jitter=1), 1, jitter=1.0, retry_after_s=7) == 7


# ---------------------------------------------------------------------- limits


def test_a_step_that_shows_no_progress_has_timed_out_and_may_be_tried_again() -> None:
    run = memory(A=Policy(retry=Retry(2)))
    run.finish("A", TimedOut(3.0, "idle_limit"))
    assert run.statuses()["A"] == "retry_wait"
    assert run.attempts[-1].outcome == "timed_out"
    assert (run.attempts[-1].error or {})["code"] == "idle_limit"


def test_a_limit_of_all_attempts_together_leaves_no_time_for_another() -> None:
    run = memory(A=Policy(retry=Retry(9, on=["*"])))
    run.finish("A", TimedOut(3.0, "total_limit"))
    assert run.statuses()["A"] == "failed"
    assert (run.by_path("A").error or {})["code"] == "total_limit"


def test_a_step_that_no_worker_takes_fails_and_its_policy_says_what_follows() -> None:
    run = memory("S > A > B, A !> C", A=Policy(on_error="port"))
    run.on("A", lambda tx, row: queue_limit_passed(tx, row, limit_s=5))
    assert run.statuses() == {"S": "succeeded", "A": "failed", "B": "skipped", "C": "ready"}
    assert (run.by_path("A").error or {})["code"] == "queue_wait_limit"
    assert run.attempts == []


def test_the_limit_of_all_attempts_passes_between_two_of_them() -> None:
    run = memory(A=Policy(retry=Retry(5)))
    run.finish("A", failure("flaky", retryable=True))
    run.on("A", lambda tx, row: total_limit_passed(tx, row, limit_s=5))
    assert run.statuses()["A"] == "failed"
    assert [attempt.outcome for attempt in run.attempts] == ["failed"]


@pytest.mark.parametrize("kind", ["timer", "approval", "callback"])
def test_the_limit_of_all_attempts_ends_what_waits(kind: str) -> None:
    run = memory()
    run.finish("A", Waits(kind, 60.0, {}))
    closed = run.on("A", lambda tx, row: (total_limit_passed(tx, row, limit_s=5), list(tx.closed_waits))[1])
    assert run.statuses()["A"] == "failed"
    assert run.attempts[-1].outcome == "timed_out"
    assert [status for _, status, _ in closed] == ([] if kind == "timer" else ["expired"])


def test_the_limit_of_a_container_stops_its_items() -> None:
    run = memory("S > E[A] > B")
    run.finish("E", Fans([1, 2], 1, "continue"))
    run.claim("E[0].A")
    run.on("E", lambda tx, row: total_limit_passed(tx, row, limit_s=5))
    assert run.statuses() == {"S": "succeeded", "E": "failed", "E[0].A": "cancelled", "B": "skipped"}
    assert run.run.status == "failed"


@pytest.mark.parametrize("policy", ["skip", "wait", "default", "fail"])
def test_what_follows_a_step_that_timed_out_is_as_after_any_failure(policy: str) -> None:
    run = memory(B=Policy(on_upstream_failure=policy))  # type: ignore[arg-type]
    run.finish("A", TimedOut(3.0))
    expected = {"skip": "skipped", "wait": "blocked", "default": "ready", "fail": "failed"}
    assert run.statuses()["B"] == expected[policy]


def test_limits_count_anew_from_a_resume_and_not_from_a_retry() -> None:
    run = memory(A=Policy(retry=Retry(5)))
    run.finish("A", failure("flaky", retryable=True))

    def stamps(act: Callable[[Transition], object]) -> str:
        return str(run.transact(lambda tx: (act(tx), tx.touched["A"][1].stamps)[1]))

    assert "c" not in stamps(lambda tx: retry_due(tx, tx.scope((None, None))["n_A"]))
    run.finish("A", failure("final", retryable=False))
    assert "c" in stamps(resume)


# ---------------------------------------------------------------------- skip_if


def test_a_step_that_its_policy_leaves_out_lets_the_flow_go_on_past_it() -> None:
    run = memory()
    run.finish("A", Skipped())
    assert run.statuses() == {"S": "succeeded", "A": "skipped", "B": "ready"}
    assert run.by_path("A").reason == "skip_if"
    assert run.attempts[-1].outcome == "skipped"
    run.finish("B", Succeeded(1))
    assert run.run.status == "succeeded"


def test_an_approval_that_is_left_out_is_not_approved() -> None:
    run = memory("S > P ?approved> A, P > B")
    run.finish("P", Skipped())
    assert run.statuses() == {"S": "succeeded", "P": "skipped", "A": "skipped", "B": "ready"}


def test_a_container_that_is_left_out_opens_no_items() -> None:
    run = memory("S > E[A] > B")
    run.finish("E", Skipped())
    assert run.statuses() == {"S": "succeeded", "E": "skipped", "B": "ready"}
