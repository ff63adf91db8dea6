"""What a person does to one step within an item or a round: the containers open again as far as they must."""

from typing import Any

import pytest

from builder.graph.model import Policy
from runs.core.commands import NotPossibleNow, expire
from runs.core.outcomes import Again, Fans, Succeeded, Waits
from runs.core.repair import edit_input, skip
from runs.core.resume import resume
from tests.memory import MemoryRun
from tests.mending import BROKEN, Act, begun, do, starts, supply

# ---------------------------------------------------------------------- in containers


def fanned_out(total: int = 3, window: int = 2, policy: Any = "fail_at_end", drawing: str = "S > E[A > B] > O") -> Any:
    memory = begun(drawing)
    memory.finish("E", Fans([*range(total)], window, policy))
    return memory


@pytest.mark.parametrize("act", [edit_input, skip, supply()])
def test_in_a_container_that_still_works_the_item_opens_again(act: Act) -> None:
    memory = fanned_out()
    memory.finish("E[0].A", BROKEN)  # item 0 is settled, and 2 has its place
    assert (memory.by_path("E").items.failed, memory.statuses()["E[2].A"]) == (1, "ready")
    memory.places = 1
    do(memory, "E[0].A", act)
    assert (memory.by_path("E").items.failed, memory.by_path("E").items.open) == (0, 3)
    memory.succeed_all()
    assert memory.run.status == "succeeded"


@pytest.mark.parametrize("act", [edit_input, skip, supply()])
def test_in_an_item_that_is_open_nothing_is_counted_twice(act: Act) -> None:
    memory = fanned_out(drawing="S > E[A > B, C] > O")
    memory.finish("E[0].A", BROKEN)
    do(memory, "E[0].A", act)
    assert (memory.by_path("E").items.failed, memory.by_path("E").items.open) == (0, 2)
    memory.succeed_all()
    assert memory.run.status == "succeeded"


@pytest.mark.parametrize("act", [edit_input, skip, supply()])
def test_a_failed_container_goes_on_with_that_item_and_other_failures_stay(act: Act) -> None:
    memory = fanned_out()
    for index in (0, 1, 2):
        memory.finish(f"E[{index}].A", BROKEN if index else Succeeded(1))
        if not index:
            memory.finish("E[0].B", Succeeded(1))
    assert (memory.statuses()["E"], memory.run.status, memory.statuses()["O"]) == ("failed", "failed", "skipped")
    do(memory, "E[1].A", act)
    memory.succeed_all()
    assert memory.run.status == "failed"
    assert memory.by_path("E").items.failed == 1
    assert memory.statuses()["E[2].A"] == "failed"
    do(memory, "E[2].A", act)
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory).count("E[0].A") == 1


def test_items_that_a_fast_failure_stopped_go_on_with_the_container() -> None:
    memory = fanned_out(total=4, policy="fail_fast")
    memory.finish("E[1].A", BROKEN)
    assert memory.statuses()["E[0].A"] == "cancelled"
    do(memory, "E[1].A", skip)
    assert memory.by_path("E").items.open == 2
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert memory.statuses()["E[3].B"] == "succeeded"


def test_containers_open_again_at_any_depth() -> None:
    memory = begun("S > E[F[A] > B] > O")
    memory.finish("E", Fans([1, 2], 2, "fail_at_end"))
    for index in (0, 1):
        memory.finish(f"E[{index}].F", Fans([1], 1, "fail_at_end"))
    memory.finish("E[0].F[0].A", BROKEN)
    memory.finish("E[1].F[0].A", Succeeded(1))
    memory.succeed_all()
    assert memory.run.status == "failed"
    plan = do(memory, "E[0].F[0].A", edit_input)
    assert set(plan.again) == {"E[0].F[0].A", "E[0].F", "E[0].B", "E", "O"}
    memory.succeed_all()
    assert memory.run.status == "succeeded"
    assert starts(memory).count("E[1].F[0].A") == 1


def test_a_container_that_has_gone_on_without_its_item_is_not_opened() -> None:
    memory = fanned_out(total=1, policy="continue")
    memory.finish("E[0].A", BROKEN)
    assert memory.statuses()["E"] == "succeeded"
    for act in (edit_input, skip, supply()):
        with pytest.raises(NotPossibleNow, match="run it again from here"):
            memory.on("E[0].A", act)


def test_an_item_that_was_resumed_and_waits_for_room_is_left_alone() -> None:
    memory = fanned_out(total=2, window=1)
    memory.finish("E[0].A", BROKEN)
    memory.transact(resume)
    assert memory.by_path("E").items.reopen == [0]
    with pytest.raises(NotPossibleNow, match="room"):
        memory.on("E[0].A", skip)


def test_a_whole_container_can_be_skipped_or_given_an_output() -> None:
    for act, status in ((skip, "skipped"), (supply(), "succeeded")):
        memory = fanned_out(total=1)
        memory.finish("E[0].A", BROKEN)
        with pytest.raises(NotPossibleNow, match="items that it has opened"):
            memory.on("E", edit_input)
        do(memory, "E", act)
        memory.succeed_all()
        assert (memory.statuses()["E"], memory.run.status) == (status, "succeeded")


def test_a_container_that_could_not_open_its_items_takes_another_input() -> None:
    memory = begun("S > E[A] > O")
    memory.finish("E", BROKEN)
    do(memory, "E", edit_input)
    memory.succeed_all(items={"E": [1, 2]})
    assert memory.run.status == "succeeded"


def test_an_expired_question_can_be_answered_by_hand() -> None:
    memory = begun("S > P, P ?approved> A, P ?rejected> B")
    memory.finish("P", Waits("approval", 1.0, {}))
    memory.on("P", expire)
    assert memory.run.status == "failed"
    do(memory, "P", supply("approved"))
    memory.succeed_all()
    assert memory.statuses()["A"] == "succeeded"


def test_a_skip_of_the_last_step_ends_the_container_at_once() -> None:
    memory = fanned_out(total=1)
    memory.finish("E[0].A", Succeeded(1))
    memory.finish("E[0].B", BROKEN)
    plan = do(memory, "E[0].B", skip)
    assert plan.again == ["O"]
    assert memory.statuses()["E"] == "succeeded"


def test_an_item_whose_failure_a_join_made_up_for_is_not_counted_as_failed() -> None:
    policies = {"J": Policy(join="any")}
    memory = begun("S > E[A > J > C, B > J] > O", policies=policies)
    memory.finish("E", Fans([1, 2], 2, "fail_at_end"))
    memory.finish("E[0].A", BROKEN)
    for path in ("E[0].B", "E[0].J", "E[0].C", "E[1].A", "E[1].B", "E[1].J"):
        memory.finish(path, Succeeded(1))
    memory.finish("E[1].C", BROKEN)
    assert memory.statuses()["E"] == "failed"
    do(memory, "E[1].C", skip)
    assert (memory.statuses()["E"], memory.by_path("E").items.failed) == ("succeeded", 0)


# ---------------------------------------------------------------------- in loops


def in_its_second_round(policy: Any = "fail_at_end") -> MemoryRun:
    memory = begun("S > L[A > B] > O", kinds={"L": "loop"})
    memory.finish("L", Fans([None], 1, policy, mode="rounds", most=5, gather="last"))
    for path in ("L[0].A", "L[0].B"):
        memory.finish(path, Succeeded(1))
    memory.finish("L", Again(wanted=True))
    return memory


@pytest.mark.parametrize("act", [edit_input, skip, supply()])
def test_a_loop_goes_on_in_the_round_that_failed(act: Act) -> None:
    memory = in_its_second_round()
    memory.finish("L[1].A", BROKEN)
    assert (memory.statuses()["L"], memory.run.status) == ("failed", "failed")
    do(memory, "L[1].A", act)
    while memory.ready() != ["L"]:
        memory.finish(memory.ready()[0], Succeeded(1))
    assert memory.statuses()["L[1].B"] == "succeeded"
    memory.finish("L", Again(wanted=False))
    memory.succeed_all()
    assert memory.run.status == "succeeded"


def test_a_round_that_later_ones_were_made_of_is_left_alone() -> None:
    memory = begun("S > L[A > B] > O", kinds={"L": "loop"})
    memory.finish("L", Fans([None], 1, "continue", mode="rounds", most=5, gather="last"))
    memory.finish("L[0].A", BROKEN)
    memory.finish("L", Again(wanted=True))
    with pytest.raises(NotPossibleNow, match="Later rounds"):
        memory.on("L[0].A", skip)
