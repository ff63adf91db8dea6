"""Forks: what is copied, what runs again, and why; from a step, and on another version."""

from dataclasses import replace
from typing import Any

import pytest

from builder.graph.model import Policy
from runs.core.commands import NotPossibleNow, answer, cancel
from runs.core.fold import fold
from runs.core.fork import NothingToFork, Source, plan_fork
from runs.core.outcomes import Again, Crashed, Error, Failed, Fans, Succeeded, Waits
from runs.core.repair import skip, supply_output
from runs.core.rows import Stored
from steps.base import Delivery
from tests.forking import BROKEN, begun, changed, done, ended, fates, reason, starts
from tests.graphs import draw
from tests.memory import MemoryRun

# ---------------------------------------------------------------------- from a step


def test_the_chosen_step_and_what_follows_it_run_again_and_the_rest_is_copied() -> None:
    memory = done("S > A > B > C, A > D")
    other, fork = memory.fork("B")
    assert (fork.plan.kept, fork.plan.again) == (["S", "A", "D"], ["B", "C"])
    assert [row.path for row in fork.copied] == ["S", "A", "D"]
    assert {row.path: row.origin for row in other.rows.values()}["A"] == "copied"
    assert starts(ended(other)) == ["B", "C"]
    assert memory.run.status == "succeeded"
    assert other.run.id != memory.run.id


def test_a_copy_is_as_its_source_was() -> None:
    memory = done("S > I, I ?true> A > B, I ?false> C")
    other, _ = memory.fork("B")
    for path in ("S", "I", "A"):
        mine, theirs = other.by_path(path), memory.by_path(path)
        assert (mine.status, mine.port, mine.attempt, mine.edition) == (
            theirs.status,
            theirs.port,
            theirs.attempt,
            theirs.edition,
        )


def test_from_the_start_everything_runs_again() -> None:
    other, fork = done("S > A > B").fork("S")
    assert (fork.plan.kept, fork.plan.again) == ([], ["S", "A", "B"])
    assert starts(ended(other)) == ["A", "B"]


def test_what_had_not_finished_runs_too_wherever_it_stands() -> None:
    memory = begun("S > A > C, S > B > D")
    memory.finish("A", BROKEN)
    memory.finish("B", Succeeded(1))
    memory.finish("D", Succeeded(1))
    other, fork = memory.fork("D")
    assert (fork.plan.kept, sorted(fork.plan.again)) == (["S", "B"], ["A", "C", "D"])
    assert reason(fork, "A") == "It had not finished."
    assert reason(fork, "C") == "It needs 'A', which runs again."
    assert starts(ended(other)) == ["A", "C", "D"]


def test_a_run_that_goes_on_can_be_forked_and_is_not_disturbed() -> None:
    memory = begun("S > A > B > C")
    memory.finish("A", Succeeded(1))
    memory.claim("B")
    before = memory.statuses()
    other, fork = memory.fork("A")
    assert fork.plan.again == ["A", "B", "C"]
    ended(other)
    assert memory.statuses() == before


def test_a_deliberate_stop_is_passed_from_an_earlier_step() -> None:
    """n8n-io/n8n#25735: a run that a deliberate stop had ended could only be retried from that stop."""
    memory = begun("S > L > F > I, I ?true> X, I ?false> A")
    memory.finish("L", Succeeded(1))
    memory.finish("F", Succeeded("bad"))
    memory.finish("I", Succeeded(None, "true"))
    memory.finish("X", Failed(Error("stopped", "Bad data.")))
    other, fork = memory.fork("F")
    assert fork.plan.kept == ["S", "L"]
    other.finish("F", Succeeded("mended"))
    other.finish("I", Succeeded(None, "false"))
    ended(other)
    assert other.statuses()["X"] == "skipped"
    assert starts(other) == ["A", "F", "I"]


def test_the_way_that_was_not_taken_is_kept_with_the_branch_that_decided() -> None:
    memory = begun("S > I, I ?true> A > M, I ?false> B > M, M > C")
    memory.finish("I", Succeeded(None, "true"))
    memory.succeed_all()
    other, fork = memory.fork("C")
    assert fates(fork) == {"S": "kept", "I": "kept", "A": "kept", "B": "kept", "M": "kept", "C": "again"}
    assert other.statuses()["B"] == "skipped"
    ended(other)


def test_what_a_person_skipped_or_supplied_is_kept_as_it_was() -> None:
    memory = begun("S > A > B > C > D")
    memory.finish("A", BROKEN)
    memory.on("A", skip)
    memory.finish("B", BROKEN)
    memory.on("B", lambda tx, row: supply_output(tx, row, output=Stored(text="7")))
    memory.succeed_all()
    other, fork = memory.fork("D")
    assert fork.plan.kept == ["S", "A", "B", "C"]
    assert (other.statuses()["A"], other.by_path("A").reason) == ("skipped", "by_person")
    assert other.by_path("B").origin == "copied"
    ended(other)


def test_a_failure_that_was_handled_is_kept_with_what_it_chose() -> None:
    memory = begun("S > A > B, A !> F > C", policies={"A": Policy(on_error="port")})
    memory.finish("A", BROKEN)
    memory.succeed_all()
    other, fork = memory.fork("C")
    assert fork.plan.kept == ["S", "A", "B", "F"]
    assert (other.by_path("A").handled, other.by_path("A").port) == ("port", "error")
    assert starts(ended(other)) == ["C"]


def test_a_question_that_was_answered_is_not_asked_again() -> None:
    memory = begun("S > P, P ?approved> A")
    memory.finish("P", Waits("approval", None, {}))
    memory.on("P", lambda tx, row: answer(tx, row, port="approved", output=Stored(text='{"by": "Ana"}')))
    memory.succeed_all()
    other, _ = memory.fork("A")
    assert (other.statuses()["P"], other.by_path("P").port) == ("succeeded", "approved")
    assert starts(ended(other)) == ["A"]


def test_a_fork_without_anything_to_run_is_refused() -> None:
    with pytest.raises(NothingToFork):
        done("S > A").fork()


def test_a_fork_of_a_fork_copies_copies() -> None:
    first, _ = done("S > A > B > C").fork("C")
    ended(first)
    second, fork = first.fork("B")
    assert fork.plan.kept == ["S", "A"]
    assert starts(ended(second)) == ["B", "C"]


def test_the_events_alone_tell_how_a_fork_stands() -> None:
    memory = begun("S > E[A > B] > C", policies={"A": Policy(on_error="fallback")})
    memory.finish("E", Fans([1, 2, 3], 1, "fail_at_end"))
    memory.finish("E[0].A", BROKEN)
    memory.succeed_all()
    other, _ = memory.fork("E[1].B")
    while True:
        folded = fold(other.definition, other.events)
        assert (folded.run, folded.steps) == (other.run.status, other.statuses())
        if not (ready := other.ready()):
            break
        other.finish(ready[0], Succeeded(1))
    assert other.run.status == "succeeded"


# ---------------------------------------------------------------------- effects


def test_each_effect_that_comes_again_is_told_unless_the_outside_sees_the_same_key() -> None:
    config = {"method": "POST", "url": "https://example.com"}
    memory = begun("S > A:http_request > B > C:email", configs={"A": config})
    memory.succeed_all()
    source = Source(memory.definition, list(memory.rows.values()))
    target = memory.by_path("A")
    new, same = (plan_fork(source, memory.definition, target=target, same_keys=keys).plan for keys in (False, True))
    assert [effect.path for effect in new.effects] == ["A", "C"]
    assert all(effect.may_happen_twice for effect in new.effects)
    told = {effect.path: (effect.delivery, effect.may_happen_twice) for effect in same.effects}
    assert all(twice == (delivery == "at_most_once") for delivery, twice in told.values())


def test_a_step_of_unknown_outcome_runs_again_only_where_that_was_chosen() -> None:
    memory = begun("S > A > C, S > B > D", policies={"A": Policy(delivery="at_most_once")})
    memory.finish("A", Crashed("killed"))
    memory.finish("B", Succeeded(1))
    memory.finish("D", Succeeded(1))
    for status in ("needs_decision", "cancelled"):
        assert memory.statuses()["A"] == status
        with pytest.raises(NotPossibleNow, match="A took effect"):
            memory.fork("D")
        _, fork = memory.fork("A")
        assert [effect.path for effect in fork.plan.effects] == ["A"]
        _, fork = memory.fork("S")
        assert [effect.may_happen_twice for effect in fork.plan.effects] == [True]
        if status == "needs_decision":
            memory.transact(cancel)


def begun_behind_a_failure(drawing: str) -> MemoryRun:
    """A has failed, and what follows it goes on all the same; B may run once at most."""
    after = {key: Policy(on_upstream_failure="default") for key in ("E", "F")}
    once = {"B": Policy(delivery="at_most_once", on_upstream_failure="default")}
    memory = begun(drawing, policies={**after, **once})
    memory.finish("A", BROKEN)
    memory.finish("D", Succeeded(1))
    return memory


def test_a_step_of_unknown_outcome_does_not_run_again_because_one_before_it_had_not_finished() -> None:
    memory = begun_behind_a_failure("S > A > B > C, S > D")
    memory.finish("B", Crashed("killed"))
    for path in ("D", None):
        with pytest.raises(NotPossibleNow, match="B took effect"):
            memory.fork(path)
    with pytest.raises(NotPossibleNow, match="B took effect"):
        memory.fork(graph=changed(memory.graph, "A", config={"value": 2}))
    for path in ("A", "B"):
        assert "B" in memory.fork(path)[1].plan.again


def test_nor_does_one_in_a_container_that_begins_anew() -> None:
    memory = begun_behind_a_failure("S > A > E[B] > C, S > D")
    memory.finish("E", Fans([1, 2], 2, "fail_at_end"))
    memory.finish("E[1].B", Crashed("killed"))
    with pytest.raises(NotPossibleNow, match=r"whether E\[1\]\.B took effect"):
        memory.fork("D")
    assert "E" in memory.fork("A")[1].plan.again


def test_nor_one_in_a_later_round_unless_something_in_the_loop_was_chosen() -> None:
    memory = begun("S > L[A > B] > C", kinds={"L": "loop"}, policies={"B": Policy(delivery="at_most_once")})
    memory.finish("L", Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last"))
    for path in ("L[0].A", "L[0].B"):
        memory.finish(path, Succeeded(1))
    memory.finish("L", Again(wanted=True))
    memory.finish("L[1].A", Succeeded(1))
    memory.finish("L[1].B", Crashed("killed"))
    with pytest.raises(NotPossibleNow, match=r"whether L\[1\]\.B took effect"):
        memory.fork(graph=changed(memory.graph, "A", config={"value": 2}))
    assert "L[0].A" in memory.fork("L[0].A")[1].plan.again


def test_nor_a_step_whose_own_run_has_one_inside() -> None:
    memory = begun("S > A > B, S > D")
    memory.finish("A", BROKEN)
    memory.finish("D", Succeeded(1))
    row = memory.by_path("A")
    source = Source(memory.definition, list(memory.rows.values()), {row.id or 0: "B of run 7"})
    with pytest.raises(NotPossibleNow, match=r"whether A \(B of run 7\) took effect"):
        plan_fork(source, memory.definition, target=memory.by_path("D"))
    assert "A" in plan_fork(source, memory.definition, target=row).plan.again


def test_a_step_that_starts_a_run_anew_tells_what_acted_in_the_one_before() -> None:
    memory = done("S > C:run_workflow > B")
    row = memory.by_path("C")
    for inside, keys, twice in ((Delivery.KEYED, False, True), (Delivery.KEYED, True, False),
                                (Delivery.AT_MOST_ONCE, True, True)):  # fmt: skip
        source = Source(memory.definition, list(memory.rows.values()), acted_inside={row.id or 0: inside})
        plan = plan_fork(source, memory.definition, target=row, same_keys=keys).plan
        assert [(each.path, each.delivery, each.may_happen_twice) for each in plan.effects] == [("C", inside, twice)]
        assert plan_fork(source, memory.definition, target=memory.by_path("B")).plan.effects == []


def test_what_follows_the_chosen_step_runs_again_whatever_is_known_of_it() -> None:
    memory = begun("S > E[A > X] > B", policies={"B": Policy(delivery="at_most_once", on_upstream_failure="default")})
    memory.finish("E", Fans([1], 1, "fail_at_end"))
    memory.finish("E[0].A", Succeeded(1))
    memory.finish("E[0].X", BROKEN)
    memory.finish("B", Crashed("killed"))
    assert memory.fork("E[0].A")[1].plan.again == ["E", "E[0].A", "E[0].X", "B"]
    with pytest.raises(NotPossibleNow, match="B took effect"):
        memory.fork()


# ---------------------------------------------------------------------- on another version


def test_on_another_version_what_differs_runs_again_with_all_that_needs_it() -> None:
    memory = done("S > A > B > C, S > D")
    other, fork = memory.fork(graph=changed(memory.graph, "B", config={"value": 2}))
    assert fates(fork) == {"S": "kept", "A": "kept", "B": "again", "C": "again", "D": "kept"}
    assert reason(fork, "B") == "Its settings are different in this version."
    assert reason(fork, "C") == "Something that it needs is different in this version."
    assert starts(ended(other)) == ["B", "C"]


@pytest.mark.parametrize(
    "more",
    [
        {"name": "Another name"},
        {"position": (9.0, 9.0)},
        {"policy": Policy(limit_s=5.0)},
    ],
    ids=["name", "position", "limit"],
)
def test_what_changes_no_result_runs_nothing_again(more: dict[str, Any]) -> None:
    memory = done("S > A > B")
    with pytest.raises(NothingToFork):
        memory.fork(graph=changed(memory.graph, "A", **more))


def test_new_steps_run_and_removed_ones_vanish() -> None:
    memory = done("S > A > B, S > C")
    graph = draw("S > A > B, A > N", plain="pass_through")
    other, fork = memory.fork(graph=graph)
    assert fates(fork) == {"S": "kept", "A": "kept", "B": "kept", "N": "new", "C": "removed"}
    assert reason(fork, "C") == "It is not in this version."
    assert "C" not in other.statuses()
    assert starts(ended(other)) == ["N"]


def test_another_edge_into_a_step_makes_it_run_again() -> None:
    memory = done("S > A > B, S > C")
    _, fork = memory.fork(graph=draw("S > A > B, S > C > B, A > N", plain="pass_through"))
    assert fates(fork) == {"S": "kept", "A": "kept", "B": "again", "C": "kept", "N": "new"}


def test_a_start_that_differs_runs_everything_on_the_same_input() -> None:
    memory = done("S > A")
    schema = '{"type": "object"}'
    other, fork = memory.fork(graph=changed(memory.graph, "S", config={"input_schema": schema}))
    assert fork.plan.kept == []
    ended(other)


def test_a_version_and_a_step_can_be_chosen_together() -> None:
    memory = done("S > A > B > C, S > D")
    graph = changed(memory.graph, "C", config={"value": 2})
    _, fork = memory.fork("D", graph=graph)
    assert sorted(fork.plan.again) == ["C", "D"]
    without = replace(graph, nodes=tuple(node for node in graph.nodes if node.key != "D"), edges=tuple(
        edge for edge in graph.edges if edge.target != "n_D"
    ))  # fmt: skip
    with pytest.raises(NotPossibleNow, match="not in that version"):
        memory.fork("D", graph=without)


# ---------------------------------------------------------------------- joins that ask for less


def test_a_join_that_went_on_without_a_failed_way_is_kept_and_the_way_runs() -> None:
    memory = begun("S > A > J > C, S > B > J", policies={"J": Policy(join="any")})
    memory.finish("A", Succeeded(1))
    memory.finish("J", Succeeded(1))
    memory.finish("B", BROKEN)
    memory.succeed_all()
    other, fork = memory.fork("C")
    assert (fork.plan.kept, sorted(fork.plan.again)) == (["S", "A", "J"], ["B", "C"])
    assert starts(ended(other)) == ["B", "C"]
    _, fork = memory.fork("A")
    assert sorted(fork.plan.again) == ["A", "B", "C", "J"]


def test_a_way_that_a_first_join_left_behind_stays_so_as_long_as_the_join_is_kept() -> None:
    memory = begun("S > A > J > C, S > B > D > J", policies={"J": Policy(join="first")})
    memory.finish("B", BROKEN)
    memory.finish("A", Succeeded(1))
    memory.finish("J", Succeeded(1))
    memory.succeed_all()
    other, fork = memory.fork("C")
    assert sorted(fork.plan.kept) == ["A", "B", "D", "J", "S"]
    assert starts(ended(other)) == ["C"]
    other, fork = memory.fork("A")
    assert sorted(fork.plan.again) == ["A", "B", "C", "D", "J"]
    assert sorted(other.ready()) == ["A", "B"]
