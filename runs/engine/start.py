"""Start a run: one transaction makes the run, its top-level steps, and sets going what can go."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.errors import BadInput, Conflict
from kit.ids import new_id
from runs.core.advance import begin_run
from runs.core.breakpoints import NO_BREAKPOINTS, Breakpoints
from runs.core.control import pause_with_parent, refuse_useless
from runs.core.definition import Definition
from runs.core.rows import RunRow, Stored
from runs.core.states import RunStatus
from runs.core.transition import Transition
from runs.engine.control import breakpoints_text
from runs.engine.definitions import definition_of
from runs.engine.transact import Told, told_by
from runs.payloads import json_text
from runs.store.copy import Effects, keep_effects
from runs.store.read import Connection, Rows
from runs.store.write import write

INSERT_RUN = """INSERT INTO runs_run (id, workspace_id, workflow_id, version_id, trigger, trigger_id,
        trigger_depth, parent_run_id, parent_step_id, root_id, depth, started_by_id, actor, idempotency_key, status,
        generation, event_seq, open_count, running_count, waiting_count, failed_count, succeeded_count, total_count,
        input, breakpoints, deadline_s, deadline_at,
        priority, limit_key, limit_at_most, run_day, created_at)
    SELECT %s, w.workspace_id, w.id, v.id, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'running',
        1, 0, 0, 0, 0, 0, 0, 0, %s, %s, %s, statement_timestamp() + make_interval(secs => %s), %s, %s, %s,
        (statement_timestamp() AT TIME ZONE 'UTC')::date, statement_timestamp()
    FROM workflows_version v JOIN workflows_workflow w ON w.id = v.workflow_id WHERE v.id = %s
    ON CONFLICT (workflow_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING number, run_day, workspace_id"""
SAME_KEY = """SELECT r.id, r.number, r.input, v.number FROM runs_run r JOIN workflows_version v ON v.id = r.version_id
    WHERE r.workflow_id = %s AND r.idempotency_key = %s"""


class InputTooLarge(BadInput):
    code = "input_too_large"


class IdempotencyKeyReused(Conflict):
    code = "idempotency_key_reused"


@dataclass(frozen=True)
class Parent:
    """The step that starts a run inside its own, and how deep that lies."""

    run_id: UUID
    step_run_id: int
    root_id: UUID
    depth: int  # of the run that is started; the first run has 0
    is_paused: bool = False  # then the run begins paused with it
    effects: Effects | None = None  # that it repeats, inside a fork that repeats those of its source


@dataclass(frozen=True)
class Start:
    """What a run begins with. `version_id` pins the graph; `idempotency_key` makes a repeated request the same run."""

    workflow_id: UUID
    version_id: UUID
    input: Any
    actor: str
    user_id: UUID | None = None
    trigger: str = "manual"
    idempotency_key: str | None = None
    breakpoints: Breakpoints = NO_BREAKPOINTS
    deadline_s: float | None = None  # None: what the start step's settings say, if they say anything
    trigger_id: UUID | None = None
    trigger_depth: int = 0
    priority: int = 0
    parent: Parent | None = None
    limit: tuple[str, int] | None = None  # (key, at most so many runs of the workspace with it at once)


@dataclass(frozen=True)
class Started:
    run_id: UUID
    number: int
    is_new: bool
    told: Told | None


INPUT_LIMIT = 1024 * 1024


def start_run(connection: Connection, start: Start) -> Started:
    """Makes the run in the caller's transaction; the caller commits, then announces `told`. Input is checked by the
    caller. Raises InputTooLarge, IdempotencyKeyReused.
    """
    text = json_text(start.input)
    if len(text) > INPUT_LIMIT:
        raise InputTooLarge(f"The input has {len(text)} bytes; at most {INPUT_LIMIT} are allowed.", field="input")
    run_id = new_id()
    definition = definition_of(connection, start.version_id)
    deadline_s = start.deadline_s or start_config(definition).get("deadline_s")
    values = (
        run_id, start.trigger, start.trigger_id, start.trigger_depth, *_inside(start.parent),
        start.user_id, start.actor, start.idempotency_key, text, breakpoints_text(start.breakpoints),
        deadline_s, deadline_s, start.priority, *(start.limit or (None, None)), start.version_id,
    )  # fmt: skip
    made = connection.execute(INSERT_RUN, values).fetchone()
    if made is None:
        same = same_request(connection, start.workflow_id, start.idempotency_key, run_input=start.input)
        assert same is not None
        return same
    number, run_day, workspace_id = made
    run = RunRow(run_id, RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, run_day, workspace_id, start.version_id)
    run.breakpoints = start.breakpoints
    if start.parent is not None:
        _lie_inside(connection, run, start.parent)
    tx = Transition(definition, run, Rows(connection, run_id), actor=start.actor)
    refuse_useless(tx, run.breakpoints)
    tx.adopt([], (None, None))
    begin_run(tx, Stored(text=text))
    if start.parent is not None and start.parent.is_paused:
        pause_with_parent(tx, is_paused=True)
    write(connection, tx)
    return Started(run_id, number, is_new=True, told=told_by(tx))


def _lie_inside(connection: Connection, run: RunRow, parent: Parent) -> None:
    run.parent_step_id, run.depth = parent.step_run_id, parent.depth
    if parent.effects is not None:
        keep_effects(connection, run.id, parent.effects)
        run.editions = parent.effects.editions


def _inside(parent: Parent | None) -> tuple[UUID | None, int | None, UUID | None, int]:
    return (
        (None, None, None, 0) if parent is None else (parent.run_id, parent.step_run_id, parent.root_id, parent.depth)
    )


def same_request(
    connection: Connection, workflow_id: UUID, key: str | None, *, run_input: Any, version: int | None = None
) -> Started | None:
    """The run that this key has started; None where there is none yet. Raises IdempotencyKeyReused where it was started
    with another input, or on another version than the one that is asked for by its number.
    """
    found = None if key is None else connection.execute(SAME_KEY, (workflow_id, key)).fetchone()
    if found is None:
        return None
    run_id, number, kept, of_version = found
    if _in_order(kept) != _in_order(json_text(run_input)):
        raise IdempotencyKeyReused(
            f"This idempotency key has started run {number} with another input. Use a new key for another run.",
            number=number,
        )
    if version not in (None, of_version):
        raise IdempotencyKeyReused(
            f"This idempotency key has started run {number} on version {of_version}. Use a new key for another run.",
            number=number,
        )
    return Started(run_id, number, is_new=False, told=None)


def _in_order(text: str) -> str:
    """The same text for equal values, whatever the order of their keys; 1, 1.0 and true are different values."""
    return json.dumps(json.loads(text), sort_keys=True)


def input_schema(definition: Definition) -> Mapping[str, Any] | None:
    """The JSON Schema of the run's input, from the start node's settings; None where it takes anything."""
    schema = start_config(definition).get("input_schema")
    return json.loads(schema) if isinstance(schema, str) else schema


def start_config(definition: Definition) -> Mapping[str, Any]:
    """The settings of the node with which runs begin."""
    for node in definition.scope_of(None).order:
        if not definition.specs[node.kind].has_input:
            return node.config
    return {}
