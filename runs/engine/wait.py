"""Answer an open wait: a person's approval or rejection is the step's output."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.errors import Gone, NotFound
from runs.core.commands import answer
from runs.core.rows import Stored
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.payloads import json_text
from runs.store.read import Connection

FIND = "SELECT run_id, step_run_id, status FROM runs_wait WHERE id = %s"
# The wait's own row says who answered what; it was open when the run was locked, or nothing is written.
KEEP_ANSWER = """UPDATE runs_wait SET answer = %s, answered_at = statement_timestamp(), answered_by_id = %s
    WHERE id = %s AND status = 'open'"""


class WaitNotFound(NotFound):
    code = "wait_not_found"


class WaitClosed(Gone):
    code = "wait_closed"


@dataclass(frozen=True)
class Answer:
    wait_id: UUID
    decision: str  # approved | rejected
    comment: str
    data: Any
    user_id: UUID | None


def answer_wait(connection: Connection, wanted: Command, given: Answer) -> Commanded:
    """Raises WaitNotFound, WaitClosed (answered by somebody else, expired, or the run was cancelled)."""

    def act(tx: Transition) -> dict[str, Any]:
        found = connection.execute(FIND, (given.wait_id,)).fetchone()
        if found is None or found[0] != wanted.run_id:
            raise WaitNotFound("There is no such wait.")
        if found[2] != "open":
            raise WaitClosed(f"This question is {found[2]}: it no longer takes an answer.", status=found[2])
        row = tx.add_known(tx.loader.row(found[1]))
        tx.scope((row.parent_id, row.index))
        output = {"decision": given.decision, "comment": given.comment, "data": given.data, "by": wanted.actor}
        connection.execute(KEEP_ANSWER, (json_text(output), given.user_id, given.wait_id))
        answer(tx, row, port=given.decision, output=Stored(text=json_text(output)))
        return {"decision": given.decision}

    return command(connection, wanted, act)


def run_of_wait(connection: Connection, wait_id: UUID) -> UUID:
    """Raises WaitNotFound."""
    found = connection.execute(FIND, (wait_id,)).fetchone()
    if found is None:
        raise WaitNotFound("There is no such wait.")
    run_id: UUID = found[0]
    return run_id
