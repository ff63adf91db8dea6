"""Joins and branches: a node runs once, when all that come before it are settled and one of them is live."""

import itertools

import pytest

from builder.graph.model import Policy, Retry
from runs.core.commands import retry_due
from runs.core.outcomes import Error, Failed, Succeeded
from runs.core.resume import resume
from tests.graphs import draw
from tests.memory import MemoryRun

BROKEN = Failed(Error("broken", "It broke."))
FLAKY = Failed(Error("flaky", "Try again.", retryable=True))


def play(drawing: str, ports: dict[str, str] | None = None, **options: object) -> MemoryRun:
    memory = MemoryRun(draw(drawing, plain="pass_through", **options))
    while ready := memory.ready():
        for path in ready:
            memory.finish(path, Succeeded(path, (ports or {}).get(path, "out")))
    return memory


def test_a_step_with_two_plain_edges_runs_once_after_both() -> None:
    memory = MemoryRun(draw("S > A + B > C", plain="pass_through"))
    memory.finish("A", Succeeded(1))
    assert memory.statuses()["C"] == "pending"
    memory.finish("B", Succeeded(2))
    assert memory.statuses()["C"] == "ready"
    memory.finish("C", Succeeded(3))
    assert [event.path for event in memory.events if event.type == "step.running"] == ["A", "B", "C"]


@pytest.mark.parametrize(("first", "second"), itertools.product(["true", "false"], repeat=2))
def test_a_join_of_two_branches_runs_if_either_leads_there(first: str, second: str) -> None:
    memory = play("S > I1 + I2, I1 ?true> M, I2 ?true> M, M > E", {"I1": first, "I2": second})
    expected = "succeeded" if "true" in (first, second) else "skipped"
    assert memory.statuses()["M"] == memory.statuses()["E"] == expected
    assert memory.run.status == "succeeded"
    assert sum(event.path == "M" and event.type == "step.running" for event in memory.events) == (
        expected == "succeeded"
    )


def test_a_join_stays_pending_while_its_live_branch_runs() -> None:
    memory = MemoryRun(draw("S > I, I ?true> A, I ?false> B, A + B > J", plain="pass_through"))
    memory.finish("I", Succeeded(None, "true"))
    memory.claim("A")
    assert memory.statuses() == {**memory.statuses(), "A": "running", "B": "skipped", "J": "pending"}
    memory.finish("A", Succeeded(1))
    assert memory.statuses()["J"] == "ready"


def test_a_join_fed_by_a_skipped_join_runs_with_its_other_input() -> None:
    memory = play("S > I + C, I ?true> A > J1, I ?false> B > J1, J1 > J2, C > J2", {"I": "neither"})
    assert memory.statuses()["J1"] == "skipped"
    assert memory.statuses()["J2"] == "succeeded"


def test_a_skipped_approval_waits_for_nobody() -> None:
    memory = play("S > I, I ?true> P > B, I ?false> B", {"I": "false"})
    assert memory.statuses()["P"] == "skipped"
    assert memory.statuses()["B"] == "succeeded"


def test_a_run_of_a_start_alone_ends_at_once() -> None:
    memory = MemoryRun(draw("S"))
    assert memory.run.status == "succeeded"


def test_a_failed_branch_leaves_its_siblings_alone_and_skips_what_needs_it() -> None:
    memory = MemoryRun(draw("S > A > C, S > B > D, C + D > J", plain="pass_through"))
    memory.finish("A", BROKEN)
    assert memory.run.status == "running"
    memory.finish("B", Succeeded(1))
    memory.finish("D", Succeeded(1))
    statuses = memory.statuses()
    assert (statuses["C"], statuses["D"], statuses["J"]) == ("skipped", "succeeded", "skipped")
    assert memory.by_path("J").reason == "upstream_failed"
    assert memory.run.status == "failed"


@pytest.mark.parametrize(
    ("policy", "status", "run_status"),
    [
        ("skip", "skipped", "failed"),
        ("wait", "blocked", "running"),
        ("default", "ready", "running"),
        ("fail", "failed", "failed"),
    ],
)
def test_each_policy_for_a_failed_predecessor(policy: str, status: str, run_status: str) -> None:
    graph = draw("S > A > B", plain="pass_through", policies={"B": Policy(on_upstream_failure=policy)})
    memory = MemoryRun(graph)
    memory.finish("A", BROKEN)
    assert memory.statuses()["B"] == status
    assert memory.run.status == run_status


def test_a_fallback_lets_the_flow_go_on_and_the_run_succeed() -> None:
    memory = MemoryRun(
        draw("S > A > B", plain="pass_through", policies={"A": Policy(on_error="fallback", fallback={"x": 1})})
    )
    memory.finish("A", BROKEN)
    assert memory.statuses()["A"] == "failed"
    assert memory.by_path("A").handled == "fallback"
    memory.finish("B", Succeeded(1))
    assert memory.run.status == "succeeded"


def test_an_error_port_is_taken_instead_of_the_others() -> None:
    drawing, policies = "S > A > B, A !> H", {"A": Policy(on_error="port")}
    failed = MemoryRun(draw(drawing, plain="pass_through", policies=policies))
    failed.finish("A", BROKEN)
    assert failed.statuses() == {"S": "succeeded", "A": "failed", "B": "skipped", "H": "ready"}
    failed.finish("H", Succeeded(1))
    assert failed.run.status == "succeeded"
    fine = MemoryRun(draw(drawing, plain="pass_through", policies=policies))
    fine.finish("A", Succeeded(1))
    assert fine.statuses() == {"S": "succeeded", "A": "succeeded", "B": "ready", "H": "skipped"}
    assert fine.by_path("H").reason == "not_taken"


def test_an_error_handler_that_fails_leaves_the_run_failed_after_a_resume_as_well() -> None:
    memory = MemoryRun(draw("S > A, A !> H", plain="pass_through", policies={"A": Policy(on_error="port")}))
    memory.finish("A", BROKEN)
    memory.finish("H", BROKEN)
    assert memory.run.status == "failed"
    memory.transact(resume)
    memory.finish("H", BROKEN)
    assert memory.run.status == "failed"
    assert [event.path for event in memory.events if event.type == "step.running"] == ["A", "H", "H"]


@pytest.mark.parametrize(("failures", "attempts", "handler"), [(0, 1, "skipped"), (2, 3, "skipped"), (9, 5, "ready")])
def test_retries_end_with_the_first_success_and_the_error_port_is_taken_after_the_last(
    failures: int, attempts: int, handler: str
) -> None:
    policies = {"A": Policy(on_error="port", retry=Retry(attempts=5))}
    memory = MemoryRun(draw("S > A > B, A !> H", plain="pass_through", policies=policies))
    for number in range(1, attempts + 1):
        memory.finish("A", FLAKY if number <= failures else Succeeded(number))
        if memory.statuses()["A"] == "retry_wait":
            assert memory.by_path("A").delay_s == 2.0 ** (number - 1)
            memory.on("A", retry_due)
    assert memory.by_path("A").attempt == attempts
    assert memory.statuses()["H"] == handler
