"""What a step asks: when votes decide it, what its deadline does, what comes before it is asked."""

import pytest

from runs.core.commands import answer, cancel, expire
from runs.core.links import callback_token, token_hash
from runs.core.outcomes import Waits
from runs.core.questions import Rules, decided, rules_of, shown_hash
from runs.core.rows import Stored
from runs.core.states import RunStatus
from tests.graphs import draw
from tests.memory import MemoryRun

NO = Stored(text='{"decision":"rejected"}')


@pytest.mark.parametrize(
    ("needed", "votes", "outcome"),
    [
        ((1, 1), "a", "approved"),
        ((1, 1), "r", "rejected"),
        ((1, 1), "", None),
        ((2, 1), "a", None),
        ((2, 1), "aa", "approved"),
        ((2, 1), "ar", "rejected"),
        ((3, 3), "aarra", "approved"),
        ((3, 3), "rarar", "rejected"),
        ((3, 3), "arar", None),
    ],
)
def test_the_side_that_reaches_its_number_first_decides(
    needed: tuple[int, int], votes: str, outcome: str | None
) -> None:
    cast = ["approved" if vote == "a" else "rejected" for vote in votes]
    assert decided(Rules(*needed), cast) == outcome


def test_a_question_that_says_nothing_of_its_rules_asks_one_person() -> None:
    assert rules_of({}) == Rules()
    assert rules_of({"approvals_needed": 2, "roles": ["admin"], "on_expire": "reject", "no_self_approval": True}) == (
        Rules(2, 1, "reject", no_self_approval=True, roles=frozenset({"admin"}))
    )


def test_what_was_shown_has_a_hash_that_changes_with_it() -> None:
    assert shown_hash('{"data":1}') == shown_hash('{"data":1}') != shown_hash('{"data":2}')


def test_a_link_is_the_same_for_every_attempt_and_another_for_each_round_step_and_installation() -> None:
    one = callback_token("secret", 7, round_=0)
    assert one == callback_token("secret", 7, round_=0)
    others = [callback_token("secret", 7, round_=1), callback_token("secret", 8, round_=0)]
    assert len({one, *others, callback_token("another", 7, round_=0)}) == 4
    assert len(one) == 43
    assert token_hash(one) != token_hash(others[0])


def asking(kind: str, drawing: str = "S > P ?rejected> B, P ?approved> A, P > C") -> MemoryRun:
    memory = MemoryRun(draw(drawing, plain="pass_through"))
    memory.finish("P", Waits(kind, 60.0, {}))
    return memory


def test_an_approval_that_nobody_decided_may_count_as_rejected_and_never_as_approved() -> None:
    memory = asking("approval")
    memory.on("P", lambda tx, row: expire(tx, row, rejected=NO))
    assert memory.statuses() == {"S": "succeeded", "P": "succeeded", "A": "skipped", "B": "ready", "C": "skipped"}


@pytest.mark.parametrize("kind", ["form", "callback", "approval"])
def test_each_kind_of_question_takes_one_answer(kind: str) -> None:
    memory = asking(kind)
    memory.on("P", lambda tx, row: answer(tx, row, port="out", output=NO))
    assert memory.statuses()["C"] == "ready"


@pytest.mark.parametrize("kind", ["form", "callback", "approval"])
def test_a_cancel_closes_every_kind_of_question(kind: str) -> None:
    memory = asking(kind)
    closed = memory.transact(lambda tx: cancel(tx) or list(tx.closed_waits))
    assert [status for _, status, _ in closed] == ["closed"]
    assert memory.run.status is RunStatus.CANCELLED


def test_a_callback_that_came_before_its_wait_is_the_answer_at_once() -> None:
    memory = MemoryRun(draw("S > K > A", plain="pass_through"))
    memory.early[memory.by_path("K").id or 0] = Stored(text='"early"')
    memory.finish("K", Waits("callback", None, {}))
    assert memory.statuses() == {"S": "succeeded", "K": "succeeded", "A": "ready"}


def test_what_came_for_a_callback_answers_no_other_kind_of_question() -> None:
    memory = MemoryRun(draw("S > K > A", plain="pass_through"))
    memory.early[memory.by_path("K").id or 0] = Stored(text='"early"')
    memory.finish("K", Waits("approval", None, {}))
    assert memory.statuses()["K"] == "waiting"
