"""Answer an open question: a person's vote, approval, rejection or filled-in form. The answer is the step's output."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.errors import Conflict, Gone, NotFound
from runs.core.commands import answer
from runs.core.questions import Rules, decided, rules_of, shown_hash
from runs.core.rows import Row, Stored
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.payloads import json_text, to_upload
from runs.store.read import Connection

FIND = """SELECT run_id, step_run_id, CASE WHEN status = 'open' AND expires_at <= statement_timestamp() THEN 'expired'
    ELSE status END, kind, data FROM runs_wait WHERE id = %s"""
# The wait's own row says who answered what; it was open when the run was locked, or nothing is written.
KEEP_ANSWER = """UPDATE runs_wait SET answer = %s, answered_at = statement_timestamp(), answered_by_id = %s
    WHERE id = %s AND status = 'open'"""
KEEP_VOTE = """INSERT INTO runs_vote (wait_id, voter, user_id, name, decision, comment, shown_hash, at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, statement_timestamp()) ON CONFLICT (wait_id, voter) DO NOTHING"""
# In the order in which they were cast. A vote on something else than what is asked now does not count.
VOTES = """SELECT decision, name, comment FROM runs_vote WHERE wait_id = %s AND shown_hash = %s ORDER BY id"""


class WaitNotFound(NotFound):
    code = "wait_not_found"


class WaitClosed(Gone):
    code = "wait_closed"


class QuestionChanged(Conflict):
    code = "question_changed"


class AlreadyVoted(Conflict):
    code = "already_voted"


@dataclass(frozen=True)
class Answer:
    wait_id: UUID
    decision: str  # approved | rejected | submitted
    comment: str
    data: Any
    user_id: UUID | None
    seen: str | None = None  # hash of what the person was shown; None where the client does not say


@dataclass(frozen=True)
class _Question:
    row: Row
    kind: str
    data: dict[str, Any]
    shown_hash: str

    @property
    def rules(self) -> Rules:
        return rules_of(self.data)


def answer_wait(connection: Connection, wanted: Command, given: Answer) -> Commanded:
    """Raises WaitNotFound, WaitClosed (answered by somebody else, expired, or the run was cancelled), QuestionChanged,
    AlreadyVoted. Whether the answer fits the question is the caller's to check: a question's row never changes.
    """

    def act(tx: Transition) -> dict[str, Any]:
        question = _open_question(connection, tx, wanted=wanted, given=given)
        if question.kind != "approval":
            _end(connection, tx, question.row, output=given.data, given=given)
            return {"decision": given.decision}
        return _vote(connection, tx, question, wanted=wanted, given=given)

    return command(connection, wanted, act)


def _open_question(connection: Connection, tx: Transition, *, wanted: Command, given: Answer) -> _Question:
    found = connection.execute(FIND, (given.wait_id,)).fetchone()
    if found is None or found[0] != wanted.run_id:
        raise WaitNotFound("There is no such wait.")
    _, step_run_id, status, kind, data = found
    if status != "open":
        raise WaitClosed(f"This question is {status}: it no longer takes an answer.", status=status)
    if given.seen is not None and given.seen != shown_hash(data):
        raise QuestionChanged("This is not the question that you were shown. Look at it again.")
    row = tx.add_known(tx.loader.row(step_run_id))
    tx.scope((row.parent_id, row.index))
    return _Question(row, kind, json.loads(data), shown_hash(data))


def _vote(
    connection: Connection, tx: Transition, question: _Question, *, wanted: Command, given: Answer
) -> dict[str, Any]:
    """Counts each person once; ends the wait where the votes decide it."""
    voter = str(given.user_id) if given.user_id else wanted.actor
    values = (given.wait_id, voter, given.user_id, wanted.actor, given.decision, given.comment, question.shown_hash)
    if connection.execute(KEEP_VOTE, values).rowcount == 0:
        raise AlreadyVoted("You have answered this question already; others have to as well.")
    votes = votes_on(connection, given.wait_id, shown=question.shown_hash)
    decision = decided(question.rules, [vote["decision"] for vote in votes])
    counts = {"approvals": _count(votes, "approved"), "rejections": _count(votes, "rejected")}
    needed = {"approvals": question.rules.approvals_needed, "rejections": question.rules.rejections_needed}
    if decision is None:
        tx.tell("wait.vote", question.row, {"decision": given.decision, **counts, "needed": needed})
        return {"decision": given.decision, "decided": None, **counts}
    data = given.data if decision == given.decision and question.rules.approvals_needed == 1 else None
    shown = question.data.get("data")
    output = {
        "decision": decision, "comment": given.comment, "data": shown if data is None else data, "by": wanted.actor,
        "votes": votes,
    }  # fmt: skip
    _end(connection, tx, question.row, output=output, given=given, port=decision)
    return {"decision": given.decision, "decided": decision, **counts}


def _count(votes: list[dict[str, Any]], decision: str) -> int:
    return sum(vote["decision"] == decision for vote in votes)


def votes_on(connection: Connection, wait_id: UUID, *, shown: str) -> list[dict[str, Any]]:
    found = connection.execute(VOTES, (wait_id, shown)).fetchall()
    return [{"decision": decision, "by": name, "comment": comment} for decision, name, comment in found]


def _end(connection: Connection, tx: Transition, row: Row, *, output: Any, given: Answer, port: str = "out") -> None:
    text = json_text(output)
    connection.execute(KEEP_ANSWER, (text, given.user_id, given.wait_id))
    answer(tx, row, port=port, output=to_upload(text))


def unanswered(connection: Connection, wait_id: UUID, data: str) -> Stored | None:
    """What an approval comes to that nobody decided before its deadline; None where it then fails."""
    shown = json.loads(data)
    if rules_of(shown).on_expire != "reject":
        return None
    comment = "Nobody decided before the deadline."
    votes = votes_on(connection, wait_id, shown=shown_hash(data))
    output = {"decision": "rejected", "comment": comment, "data": shown.get("data"), "by": "sweeper", "votes": votes}
    return to_upload(json_text(output))
