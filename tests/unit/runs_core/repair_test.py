"""Edit the input, skip, give the output by hand, retry now: what a person does to one step that cannot go on."""

import pytest

from builder.graph.model import Policy, Retry
from runs.core.commands import NotPossibleNow, cancel, decide_outcome
from runs.core.control import pass_deadline
from runs.core.outcomes import Crashed, Error, Failed, Succeeded
from runs.core.plan import PlanChanged
from runs.core.repair import edit_input, retry_now, skip
from runs.core.resume import resume
from runs.core.rows import Stored
from tests.mending import BROKEN, begun, do, failed_at_b, starts, supply

# ---------------------------------------------------------------------- in a chain


def test_a_step_whose_input_was_edited_runs_again_under_a_new_key_and_what_follows_runs_after_it() -> None:
    memory = failed_at_b()
    plan = do(memory, "B", edit_input)
    assert (plan.kept, plan.again) == (["S", "A"], ["B", "C", "D"])
    assert (memory.by_path("B").edition, memory.run.generation) == (2, 2)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory) == ["A", "B", "B", "C", "D"]


def test_an_edited_step_that_fails_again_keeps_its_edition_when_it_is_resumed() -> None:
    memory = failed_at_b()
    do(memory, "B", edit_input)
    memory.finish("B", BROKEN)
    memory.transact(resume)
    assert memory.by_path("B").edition == 2


def test_an_edited_input_may_take_effect_twice_since_the_outside_sees_another_key() -> None:
    configs = {"B": {"method": "POST", "url": "https://example.com", "idempotency": True}}
    memory = begun("S > B:http_request", configs=configs)
    memory.finish("B", BROKEN)
    resumed = memory.preview(resume)
    edited = memory.preview(lambda tx: edit_input(tx, memory._in(tx, "B")))
    assert [effect.path for effect in edited.effects] == ["B"]
    assert edited.effects[0].may_happen_twice
    assert [effect.path for effect in resumed.effects] == ["B"]


def test_what_follows_a_skipped_step_runs_and_the_step_does_not() -> None:
    memory = failed_at_b()
    plan = do(memory, "B", skip)
    assert plan.again == ["C", "D"]
    assert memory.by_path("B").reason == "by_person"
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory) == ["A", "B", "C", "D"]


def test_an_output_by_hand_makes_the_step_succeed_once_and_for_all() -> None:
    memory = failed_at_b()
    plan = do(memory, "B", supply())
    assert plan.again == ["C", "D"]
    row = memory.by_path("B")
    assert (row.status, row.origin, row.port, row.output) == ("succeeded", "manual", "out", Stored(text="7"))
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    for act in (edit_input, skip, supply()):
        with pytest.raises(NotPossibleNow):
            memory.on("B", act)


def test_a_supplied_output_goes_by_the_port_that_the_person_names() -> None:
    memory = begun("S > I, I ?true> A, I ?false> B")
    memory.finish("I", BROKEN)
    for wrong in (None, "out", "maybe"):
        with pytest.raises(NotPossibleNow, match="true, false"):
            memory.on("I", supply(wrong))
    do(memory, "I", supply("false"))
    assert memory.statuses()["A"] == "skipped"
    assert memory.statuses()["B"] == "ready"


def test_other_failures_of_the_run_stay_as_they_are() -> None:
    memory = begun("S > A > C, S > B > D")
    memory.finish("A", BROKEN)
    memory.finish("B", BROKEN)
    plan = do(memory, "A", skip)
    assert plan.again == ["C"]
    memory.succeed_all()
    assert memory.run.status == "failed"
    assert memory.statuses()["B"] == "failed"
    do(memory, "B", supply())
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_a_branch_that_runs_is_not_disturbed() -> None:
    memory = begun("S > A > C, S > B > D")
    memory.finish("A", BROKEN)
    memory.claim("B")
    fence = memory.by_path("B").fence
    do(memory, "A", edit_input)
    assert (memory.by_path("B").status, memory.by_path("B").fence) == ("running", fence)
    assert memory.run.generation == 2
    memory.finish("B", Succeeded(1))
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_what_failed_because_of_another_step_runs_at_once_on_an_edited_input() -> None:
    memory = begun("S > A > B > C", policies={"B": Policy(on_upstream_failure="fail")})
    memory.finish("A", BROKEN)
    assert memory.statuses()["B"] == "failed"
    do(memory, "B", edit_input)
    memory.succeed_all()
    assert memory.statuses() == {"S": "succeeded", "A": "failed", "B": "succeeded", "C": "succeeded"}
    assert memory.run.status == "failed"


# ---------------------------------------------------------------------- blocked, undecided, waiting


def test_a_blocked_step_can_be_skipped_or_given_an_output_while_the_failure_before_it_stays() -> None:
    for act in (skip, supply()):
        memory = begun("S > A > B > C", policies={"B": Policy(on_upstream_failure="wait")})
        memory.finish("A", BROKEN)
        assert memory.statuses()["B"] == "blocked"
        with pytest.raises(NotPossibleNow):
            memory.on("B", edit_input)
        do(memory, "B", act)
        memory.succeed_all()
        assert memory.statuses()["C"] == "succeeded"
        assert memory.run.status == "failed"


def test_a_step_of_unknown_outcome_can_be_skipped_or_given_an_output() -> None:
    for act in (skip, supply()):
        memory = begun("S > A > B", policies={"A": Policy(delivery="at_most_once")})
        memory.finish("A", Crashed("killed"))
        assert memory.statuses()["A"] == "needs_decision"
        do(memory, "A", act)
        memory.succeed_all()
        assert memory.run.status == "succeeded"
        assert starts(memory) == ["A", "B"]


def test_nothing_is_done_to_an_undecided_step_of_a_run_that_was_cancelled() -> None:
    memory = begun("S > A, S > B", policies={"A": Policy(delivery="at_most_once")})
    memory.claim("B")
    memory.finish("A", Crashed("killed"))
    memory.transact(cancel)
    with pytest.raises(NotPossibleNow):
        memory.on("A", skip)


def test_nothing_is_done_to_a_failed_step_of_a_cancelled_run_before_it_is_resumed() -> None:
    memory = begun("S > A, S > B")
    memory.finish("A", BROKEN)
    memory.transact(cancel)
    with pytest.raises(NotPossibleNow, match="resume it first"):
        memory.on("A", skip)


def test_a_run_whose_deadline_has_passed_is_resumed_as_a_whole() -> None:
    memory = begun("S > A, S > B > C")
    memory.finish("A", BROKEN)
    memory.transact(lambda tx: pass_deadline(tx, deadline_s=1.0))
    assert (memory.statuses()["B"], memory.run.status) == ("cancelled", "failed")
    for act in (edit_input, skip, supply()):
        with pytest.raises(NotPossibleNow, match="resume it first"):
            memory.on("A", act)


def test_a_way_that_was_outrun_is_left_alone() -> None:
    memory = begun("S > A > J, S > B > J", policies={"J": Policy(join="first")})
    memory.finish("A", BROKEN)
    memory.finish("B", Succeeded(1))
    assert memory.statuses()["J"] == "ready"
    with pytest.raises(NotPossibleNow, match="in spite of that"):
        memory.on("A", skip)


def test_a_failure_that_was_handled_is_not_mended_afterwards() -> None:
    memory = begun("S > A > B", policies={"A": Policy(on_error="fallback", fallback=1)})
    memory.finish("A", BROKEN)
    for act in (edit_input, skip, supply()):
        with pytest.raises(NotPossibleNow, match="run it again from here"):
            memory.on("A", act)


def test_a_retry_can_start_at_once_and_nothing_else_can() -> None:
    memory = begun("S > A > B", policies={"A": Policy(retry=Retry(attempts=3, first_delay_s=3600))})
    with pytest.raises(NotPossibleNow):
        memory.on("A", retry_now)
    memory.finish("A", Failed(Error("flaky", "Again.", retryable=True)))
    plan = do(memory, "A", retry_now)
    assert plan.again == ["A"]
    assert memory.statuses()["A"] == "ready"
    assert memory.by_path("A").tries == 1


def test_a_retry_is_not_started_in_a_run_that_is_being_cancelled() -> None:
    memory = begun("S > A, S > B", policies={"A": Policy(retry=Retry(attempts=3))})
    memory.finish("A", Failed(Error("flaky", "Again.", retryable=True)))
    memory.run.status = "cancelling"  # type: ignore[assignment]
    with pytest.raises(NotPossibleNow):
        memory.on("A", retry_now)


def test_a_run_again_after_an_unknown_outcome_is_told_as_an_effect() -> None:
    memory = begun("S > A > B", policies={"A": Policy(delivery="at_most_once")})
    memory.finish("A", Crashed("killed"))
    memory.on("A", lambda tx, row: decide_outcome(tx, row, "run_again"))
    assert memory.by_path("A").edition == 2


# ---------------------------------------------------------------------- plans


def test_an_act_that_would_do_something_else_than_its_plan_is_refused() -> None:
    memory = begun("S > A > C, S > B > D")
    memory.finish("A", BROKEN)
    shown = memory.preview(resume)
    memory.finish("B", BROKEN)
    now = memory.preview(resume)
    assert now.again != shown.again
    with pytest.raises(PlanChanged):
        now.must_be(shown.token)
    now.must_be(None)


def test_what_was_finished_meanwhile_changes_no_plan() -> None:
    memory = begun("S > A > C, S > B > D")
    memory.finish("A", BROKEN)
    shown = memory.preview(resume)
    memory.finish("B", Succeeded(1))
    memory.preview(resume).must_be(shown.token)
