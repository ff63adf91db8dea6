"""What the child run of a step would begin with, looked at before the transaction that starts it.

Which version it is may have changed by then, so the transaction asks again (`version_of`) and compares.
"""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.errors import AppError, NotFound
from runs.core.rows import CHILD
from runs.engine.check_input import refusal_of, takes_long
from runs.store.outbox import Post
from runs.store.read import Connection

WAITS = "SELECT status, wait_kind, edition FROM runs_steprun WHERE id = %s"
# Index: run_of_step. An edited input has another child: the key names the edition.
CHILD_OF = """SELECT id, status, idempotency_key FROM runs_run WHERE parent_step_id = %s ORDER BY number DESC LIMIT 1"""
VERSION = """SELECT v.id, w.archived_at IS NOT NULL, w.name FROM workflows_workflow w
    LEFT JOIN workflows_version v ON v.workflow_id = w.id AND (%(number)s::int IS NULL OR v.number = %(number)s)
    WHERE w.id = %(workflow)s AND w.workspace_id = %(workspace)s ORDER BY v.number DESC NULLS LAST LIMIT 1"""
WORKSPACE = "SELECT workspace_id FROM runs_run WHERE id = %s"


class CannotCall(NotFound):
    """The workflow that a step wants to run is not there, or has nothing that could run."""

    code = "cannot_call"


@dataclass(frozen=True)
class Called:
    """The version that a step's child would run on, and what stands against its input there."""

    version_id: UUID
    refusal: AppError | None


@dataclass(frozen=True)
class Call:
    """A child that is to be started: which version, with which input."""

    version_id: UUID
    input: Any


def call_of(connection: Connection, post: Post) -> Call | None:
    """None where none is to be started: the step waits no more, its child is there, or it cannot have one (the
    transaction then finds why).
    """
    status, wait_kind, edition = connection.execute(WAITS, (post.step_run_id,)).fetchone() or (None, None, 0)
    if status != "waiting" or wait_kind != CHILD:
        return None
    child = connection.execute(CHILD_OF, (post.step_run_id,)).fetchone()
    if child is not None and child[2] == key_of(post, edition):
        return None
    wanted = json.loads(post.data)
    workspace = connection.execute(WORKSPACE, (post.run_id,)).fetchone()
    try:
        return workspace and Call(version_of(connection, wanted, workspace[0]), wanted.get("input"))
    except CannotCall:
        return None


def is_slow(connection: Connection, call: Call) -> bool:
    return takes_long(connection, call.version_id, call.input)


def look_at(connection: Connection, call: Call) -> Called:
    return Called(call.version_id, refusal_of(connection, call.version_id, call.input))


def key_of(post: Post, edition: int) -> str:
    """The child's idempotency key."""
    return f"step:{post.step_run_id}:{edition}"


def version_of(connection: Connection, wanted: dict[str, Any], workspace_id: UUID) -> UUID:
    """The version that is named, or the one that is live now. Raises CannotCall."""
    try:
        workflow_id = UUID(str(wanted.get("workflow")))
    except ValueError:
        raise CannotCall(f"'{wanted.get('workflow')}' is no workflow's id.") from None
    number = wanted.get("version")
    values = {"workflow": workflow_id, "workspace": workspace_id, "number": number}
    found = connection.execute(VERSION, values).fetchone()
    if found is None:
        raise CannotCall("The workflow that this step runs is not in this workspace.")
    version_id, is_archived, name = found
    if is_archived:
        raise CannotCall(f"The workflow '{name}' is archived.")
    if version_id is None:
        raise CannotCall(
            f"The workflow '{name}' has no {'published version' if number is None else f'version {number}'}."
        )
    return UUID(str(version_id))
