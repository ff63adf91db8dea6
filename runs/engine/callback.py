"""Callbacks: links are issued before their wait opens, and what comes by one is its wait's answer, once.

A callback that comes before its wait opens is kept, and is the answer as soon as the step waits. Both are decided under
the run's lock: keeping one is told as an event, so that a finish which opens the wait at that moment sees it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from kit.errors import Gone, NotFound
from kit.failpoints import failpoint
from runs.core.commands import answer
from runs.core.links import callback_token, token_hash
from runs.core.rows import OUTRUN, UPSTREAM_FAILED, Row
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import Transition
from runs.engine.transact import Told, begin, told_by
from runs.payloads import to_upload
from runs.store.read import ROUND, Connection
from runs.store.write import write

ACTOR = "callback"
# Index: step_run_path.
STEP_RUNS = f"""SELECT s.path, s.id, {ROUND.replace("%s", "s.id")} FROM runs_steprun s
    WHERE s.run_id = %s AND s.path = ANY(%s)"""
ISSUE = """INSERT INTO runs_callback (token_hash, run_id, step_run_id, round, issued_at)
    VALUES (%s, %s, %s, %s, statement_timestamp()) ON CONFLICT (token_hash) DO NOTHING"""
FIND = "SELECT run_id, step_run_id, round, received_at IS NOT NULL FROM runs_callback WHERE token_hash = %s"
WHERE = """SELECT s.workspace_id FROM runs_callback c JOIN runs_steprun s ON s.id = c.step_run_id
    WHERE c.token_hash = %s"""
# What a link is good for now, under the run's lock: its round, and whether its wait's deadline has passed.
LOOK_AGAIN = f"""SELECT received_at IS NOT NULL, round = {ROUND}, EXISTS (SELECT FROM runs_wait w
    WHERE w.step_run_id = %s AND w.status = 'open' AND w.expires_at <= statement_timestamp())
    FROM runs_callback WHERE token_hash = %s"""
KEEP = "UPDATE runs_callback SET received_at = statement_timestamp(), body = %s WHERE token_hash = %s"
USE = """UPDATE runs_callback SET received_at = statement_timestamp(), used_at = statement_timestamp()
    WHERE token_hash = %s"""
KEEP_ANSWER = """UPDATE runs_wait SET answer = %s, answered_at = statement_timestamp()
    WHERE step_run_id = %s AND status = 'open'"""


class CallbackNotFound(NotFound):
    code = "callback_not_found"


class CallbackClosed(Gone):
    code = "callback_closed"


@dataclass(frozen=True)
class Received:
    """taken: the wait's answer. kept: it will be, as soon as the step waits. already: something came before."""

    result: Literal["taken", "kept", "already"]
    told: Told | None = None


def issue(connection: Connection, run_id: UUID, paths: Mapping[str, str], *, secret: str) -> dict[str, str]:
    """The present tokens of step runs, `{name: path}` -> `{name: token}`. May be asked again: the same tokens."""
    names = {path: name for name, path in paths.items()}
    tokens = {}
    for path, step_run_id, round_ in connection.execute(STEP_RUNS, (run_id, list(names))).fetchall():
        token = callback_token(secret, step_run_id, round_=round_)
        connection.execute(ISSUE, (token_hash(token), run_id, step_run_id, round_))
        tokens[names[path]] = token
    return tokens


def workspace_of(connection: Connection, token: str) -> UUID:
    """Whose link it is. Raises CallbackNotFound."""
    found = connection.execute(WHERE, (token_hash(token),)).fetchone()
    if found is None:
        raise CallbackNotFound("There is no such link.")
    workspace_id: UUID = found[0]
    return workspace_id


def receive(connection: Connection, token: str, body: str) -> Received:
    """Takes what came by a link, `body` as JSON text, in the caller's transaction. Raises CallbackNotFound,
    CallbackClosed. Repeats change nothing.
    """
    hashed = token_hash(token)
    found = connection.execute(FIND, (hashed,)).fetchone()
    if found is None:
        raise CallbackNotFound("There is no such link.")
    run_id, step_run_id, _, was_received = found
    if was_received:
        return Received("already")
    tx = begin(connection, run_id, actor=ACTOR)
    failpoint("in_callback")
    row = tx.add_known(tx.loader.row(step_run_id))
    tx.scope((row.parent_id, row.index))
    values = (step_run_id, step_run_id, hashed)
    was_received, is_current, is_expired = connection.execute(LOOK_AGAIN, values).fetchone() or (False, False, False)
    if was_received:
        return Received("already")
    if not is_current or is_expired or _will_never_wait(tx, row):
        raise CallbackClosed("What this link was for is over: it takes no answer any more.")
    is_awaited = row.status is StepStatus.WAITING and row.wait_kind == "callback"
    if is_awaited:
        _answer(connection, tx, row, hashed=hashed, body=body)
    else:
        connection.execute(KEEP, (body, hashed))
        tx.tell("callback.kept", row, {})
    write(connection, tx)
    return Received("taken" if is_awaited else "kept", told_by(tx))


def _will_never_wait(tx: Transition, row: Row) -> bool:
    if tx.run.status in (RunStatus.CANCELLING, RunStatus.CANCELLED, RunStatus.SUCCEEDED):
        return True
    was_left_out = row.status is StepStatus.SKIPPED and row.reason != UPSTREAM_FAILED
    was_outrun = row.status is StepStatus.CANCELLED and row.reason == OUTRUN
    return row.status is StepStatus.SUCCEEDED or was_left_out or was_outrun or row.handled is not None


def _answer(connection: Connection, tx: Transition, row: Row, *, hashed: bytes, body: str) -> None:
    connection.execute(USE, (hashed,))
    connection.execute(KEEP_ANSWER, (body, row.id))
    answer(tx, row, port="out", output=to_upload(body))
