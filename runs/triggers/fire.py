"""A firing becomes a run: both in one transaction. What stands against it is kept in the ledger, never lost.

Whether the input fits the workflow's schema is looked at before that transaction (`look_at`), which may take seconds;
in it, only whether that look still holds.
"""

import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from kit.errors import AppError, Conflict, NotFound, Unavailable
from runs.engine.check_input import LookedTooEarly, refusal_of
from runs.engine.start import Start, Started, start_run
from runs.payloads import json_text
from runs.store.read import Connection
from runs.triggers import ledger

# Index: version_numbers_are_unique.
LIVE = """SELECT w.id, w.archived_at IS NOT NULL, (SELECT v.id FROM workflows_version v
        WHERE v.workflow_id = w.id ORDER BY v.number DESC LIMIT 1),
        t.priority, t.limit_key, t.limit_at_most, t.deadline_s
    FROM workflows_workflow w JOIN runs_trigger t ON t.workflow_id = w.id WHERE t.id = %s"""

logger = logging.getLogger(__name__)


class TargetArchived(Conflict):
    code = "target_archived"


class TargetNotPublished(NotFound):
    code = "target_not_published"


class FiringFailed(Unavailable):
    code = "firing_failed"


@dataclass(frozen=True)
class Firing:
    """What is to start: the ledger's row, the trigger as people call it, and the run's input."""

    id: int
    trigger_id: UUID
    kind: str
    name: str
    input: Any
    depth: int = 0


@dataclass(frozen=True)
class Look:
    """The newest version as it was just before, and what stands against the input there. `input` is its JSON text."""

    version_id: UUID
    input: str
    refusal: AppError | None


def look_at(connection: Connection, trigger_id: UUID, run_input: Any) -> Look | None:
    """Outside a transaction. None where nothing could be started anyway: the transaction then finds why."""
    found = connection.execute(LIVE, (trigger_id,)).fetchone()
    _, is_archived, version_id = found[:3] if found else (None, True, None)
    if is_archived or version_id is None:
        return None
    return Look(version_id, json_text(run_input), refusal_of(connection, version_id, run_input))


def fire(connection: Connection, firing: Firing, look: Look | None) -> Started | AppError:
    """In the caller's transaction, which holds the firing's or its trigger's row. Where no run can be started, the
    ledger says why, and the error is the answer. The caller commits, then announces `told`.

    Raises LookedTooEarly where there was no look, or it was one at another version or another input.
    """
    problem: AppError
    try:
        with connection.transaction():  # a savepoint: what was begun of the run goes, the firing's failure stays
            return start(connection, firing, look)
    except AppError as error:
        problem = error
    except (psycopg.Error, LookedTooEarly):
        raise  # the database's fault, or nobody's: again later
    except Exception:
        logger.exception("firing %s of %s '%s' could not be started", firing.id, firing.kind, firing.name)
        problem = FiringFailed("The run could not be started, by a defect; the log of Pawl has it.")
    ledger.mark_failed(connection, firing.id, reason=problem.code, detail=problem.message)
    return problem


def start(connection: Connection, firing: Firing, look: Look | None) -> Started:
    """Starts the newest version, in the turn that the trigger gives its runs. Raises TargetArchived,
    TargetNotPublished, BadRunInput, InputTooLarge, LookedTooEarly.
    """
    found = connection.execute(LIVE, (firing.trigger_id,)).fetchone()
    assert found is not None, "a firing's trigger is locked"
    workflow_id, is_archived, version_id, priority, limit_key, limit_at_most, deadline_s = found
    if is_archived:
        raise TargetArchived("The workflow is archived. Bring it back, or disable this trigger.")
    if version_id is None:
        raise TargetNotPublished("The workflow has no published version. Publish it, or disable this trigger.")
    if look is None or look.version_id != version_id or look.input != json_text(firing.input):
        raise LookedTooEarly
    if look.refusal is not None:
        raise look.refusal
    wanted = Start(
        workflow_id, version_id, firing.input, actor_of(firing.kind, firing.name), trigger=firing.kind,
        trigger_id=firing.trigger_id, trigger_depth=firing.depth, priority=priority,
        limit=None if limit_key is None else (limit_key, limit_at_most), deadline_s=deadline_s,
    )  # fmt: skip
    started = start_run(connection, wanted)
    ledger.mark_fired(connection, firing.id, started.run_id)
    return started


def actor_of(kind: str, name: str) -> str:
    """Who started the run, as people read it: `schedule Nightly import`."""
    return f"{kind.replace('run_end', 'end of a run:')} {name}"
