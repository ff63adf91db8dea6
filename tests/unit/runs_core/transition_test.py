"""One transition: what it holds, what a worker may carry on from it, and what its events say."""

from dataclasses import replace
from uuid import UUID

from builder.graph.model import Policy
from runs.core.advance import propagate
from runs.core.commands import cancel
from runs.core.definition import Definition
from runs.core.keys import idempotency_key
from runs.core.outcomes import Crashed, Error, Failed, Stopped, Succeeded
from runs.core.rows import Items, Stored
from runs.core.settle import settle_attempt
from runs.core.transition import Transition
from steps.registry import all_specs
from tests.graphs import draw
from tests.memory import WORKER, MemoryRun

CHAIN = draw("S > A > B > C", plain="pass_through")


def test_a_transition_that_catches_up_decides_with_what_others_changed_meanwhile() -> None:
    memory = MemoryRun(draw("S > A + B > J", plain="pass_through"))
    for key in "AB":
        memory.claim(key)
    tx = Transition(memory.definition, replace(memory.run), memory, actor="test")
    rows = tx.scope((None, None))
    memory.finish("A", Succeeded(1))
    tx.catch_up(replace(memory.run), [memory.row(rows["n_A"].id or 0)])
    assert (tx.first_seq, tx.spare) == (memory.run.event_seq, [])
    settle_attempt(tx, rows["n_B"], Succeeded(2), output=Stored(text="2"))
    propagate(tx, (None, None))
    assert [row.path for row in tx.readied] == ["J"]


def test_a_transition_carried_on_decides_as_one_that_was_read_anew() -> None:
    memory = MemoryRun(CHAIN)
    memory.claim("A")
    tx = Transition(memory.definition, memory.run, memory, actor="test")
    for key, following in (("A", "B"), ("B", "C")):
        row = tx.scope((None, None))[f"n_{key}"]
        settle_attempt(tx, row, Succeeded(key), output=Stored(text="1"))
        propagate(tx, (None, None))
        tx.claim(tx.readied[0], worker=WORKER, claim=WORKER)
        told = [(event.type, event.path) for event in tx.events]
        assert told == [("step.succeeded", key), ("step.running", following)]
        memory._commit(tx)
        tx.carry_on()
        assert tx.knows((None, None))
        assert not tx.knows((1, 0))
        assert (tx.events, tx.touched, tx.first_seq) == ([], {}, memory.run.event_seq)
    memory.finish("C", Succeeded(1))
    assert memory.run.status == "succeeded"


def test_the_event_of_a_start_is_enough_where_the_step_became_ready_with_it() -> None:
    memory = MemoryRun(CHAIN)
    assert [event.type for event in memory.events if event.path == "A"] == ["step.ready"]
    memory.claim("A")
    assert [event.type for event in memory.events if event.path == "A"] == ["step.ready", "step.running"]
    assert memory.by_path("A").fence == memory.run.event_seq


def test_the_key_that_the_outside_sees_is_the_same_for_every_attempt_and_another_for_another_input() -> None:
    run, other = UUID(int=1), UUID(int=2)
    assert idempotency_key(run, "A", 1) == idempotency_key(run, "A", 1)
    keys = {idempotency_key(run, "A", 1), idempotency_key(run, "A", 2), idempotency_key(run, "B", 1)}
    assert len({*keys, idempotency_key(other, "A", 1)}) == 4


def test_a_worker_that_drains_gives_its_step_back_at_no_cost() -> None:
    memory = MemoryRun(CHAIN)
    memory.finish("A", Stopped())
    row = memory.by_path("A")
    assert (row.status, row.tries, row.crash_count, row.attempt) == ("ready", 0, 0, 1)


def test_a_step_that_may_have_acted_is_not_given_back_but_decided() -> None:
    memory = MemoryRun(draw("S > A", plain="pass_through", policies={"A": Policy(delivery="at_most_once")}))
    memory.finish("A", Stopped())
    assert memory.statuses()["A"] == "needs_decision"


def test_a_cancelled_step_has_no_fence_that_a_late_result_could_show() -> None:
    memory = MemoryRun(CHAIN)
    memory.claim("A")
    memory.transact(cancel)
    memory.finish("A", Crashed("killed"))
    assert (memory.statuses()["A"], memory.by_path("A").fence) == ("cancelled", None)


def test_an_error_tells_its_data() -> None:
    memory = MemoryRun(CHAIN)
    memory.finish("A", Failed(Error("refused", "No.", data={"status": 403})))
    assert memory.by_path("A").error == {"code": "refused", "message": "No.", "data": {"status": 403}}


def test_settled_items_are_those_opened_that_are_neither_open_nor_to_be_opened_again() -> None:
    assert Items(total=10, cursor=7, open=2, reopen=[0, 3]).settled == 3


def test_a_step_has_its_own_limit_or_its_kinds() -> None:
    definition = Definition(draw("S > A > B", plain="pass_through", policies={"A": Policy(limit_s=5.0)}), all_specs())
    assert definition.limit_s(definition.by_key["A"]) == 5.0
    assert definition.limit_s(definition.by_key["B"]) == all_specs()["pass_through"].default_limit_s


def test_what_a_kind_that_is_not_known_here_may_do_twice_is_not_known_either() -> None:
    """A worker of an older version opens rows for a newer one, and cannot ask that kind."""
    graph = draw("S > A:of_tomorrow > B")
    definition = Definition(graph, all_specs())
    assert [definition.delivery_of(node) for node in graph.nodes[1:]] == ["at_most_once", "at_least_once"]
