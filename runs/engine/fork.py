"""Fork a run: a new run that takes finished steps over from it, by reference, and runs the rest again.

The source's row is locked while its steps are read, so a fork is of one moment. The new run's row is in the same
transaction, and nobody else can know it yet: these are never two locks that others could take the other way round.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.failpoints import failpoint
from kit.ids import new_id
from runs.core.definition import Definition
from runs.core.fork import Fork, Source, plan_fork
from runs.core.forking import begin_fork, standing
from runs.core.rows import RunRow, Stored
from runs.core.states import RunStatus
from runs.core.transition import Transition
from runs.engine.check_input import check_input
from runs.engine.commands import Command, Commanded, command
from runs.engine.definitions import definition_of
from runs.engine.inside import acted_inside, unknown_inside
from runs.engine.operations import Preview, peek, step_at
from runs.engine.transact import Told, told_by
from runs.store.copy import copy_steps, effects_of, keep_effects, new_ids, same_editions
from runs.store.read import COLUMNS, Connection, Rows, step_row
from runs.store.write import write

READ_ALL = f"SELECT {COLUMNS} FROM runs_steprun WHERE run_id = %s ORDER BY id"
READ_INPUT = """SELECT version_id, input FROM runs_run
    WHERE NOT EXISTS (SELECT FROM runs_command WHERE id = %s) AND id = %s"""
# The text as it is: PostgreSQL cannot read all JSON that an input may hold.
READ_MOST = """SELECT s.id, coalesce(s.input, p.body) FROM runs_steprun s
    LEFT JOIN runs_payload p ON p.hash = s.input_ref WHERE s.id = ANY(%s)"""
# The seconds that these steps worked. Containers are left out, their items are counted; the time of a person is not,
# also where the step that asked was itself a copy.
SAVED_BY = """SELECT coalesce(sum(extract(epoch FROM greatest(finished_at - started_at, interval '0'))), 0)
    FROM runs_steprun s
    WHERE id = ANY(%s) AND status = 'succeeded' AND item_total IS NULL AND started_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM runs_wait w WHERE w.step_run_id = coalesce(s.source_id, s.id))"""
INSERT_FORK = """INSERT INTO runs_run (id, workspace_id, workflow_id, version_id, trigger, started_by_id, actor, status,
        generation, event_seq, open_count, running_count, waiting_count, failed_count, succeeded_count, total_count,
        input, deadline_s, deadline_at, priority, limit_key, limit_at_most, forked_from_id, key_root, run_day,
        created_at)
    SELECT %s, r.workspace_id, r.workflow_id, %s, 'fork', %s, %s, 'running', 1, 0, 0, 0, 0, 0, 0, 0, r.input,
        r.deadline_s, statement_timestamp() + make_interval(secs => r.deadline_s), r.priority, r.limit_key,
        r.limit_at_most, r.id, CASE WHEN %s THEN coalesce(r.key_root, r.id) END,
        (statement_timestamp() AT TIME ZONE 'UTC')::date, statement_timestamp()
    FROM runs_run r WHERE r.id = %s
    RETURNING number, run_day, workspace_id, input, (SELECT number FROM runs_run WHERE id = forked_from_id),
        key_root"""


@dataclass(frozen=True)
class Forking:
    """From which step, on which version (None: the source's own), and whether the outside sees the same keys."""

    path: str | None = None
    version_id: UUID | None = None
    same_effects: bool = False


def _planned(connection: Connection, tx: Transition, wanted: Forking) -> tuple[Fork, Definition]:
    version_id = wanted.version_id or tx.run.version_id
    assert version_id is not None
    definition = definition_of(connection, version_id)
    target = step_at(connection, tx, wanted.path) if wanted.path is not None else None
    rows = [step_row(values) for values in connection.execute(READ_ALL, (tx.run.id,))]
    run_id = tx.run.id
    source = Source(tx.definition, rows, unknown_inside(connection, run_id), acted_inside(connection, run_id))
    fork = plan_fork(source, definition, target=target, same_keys=wanted.same_effects)
    _give_rounds_back(connection, fork)
    return fork, definition


def _give_rounds_back(connection: Connection, fork: Fork) -> None:
    """A loop that has ended knows only how many rounds it had; one that goes on may have its most again."""
    loops = {
        place.source.id: place.items
        for place in fork.places
        if place.items is not None and place.items.mode == "rounds" and place.source is not None
    }
    for id_, text in connection.execute(READ_MOST, (list(loops),)) if loops else ():
        items = loops[id_]
        items.total = max(items.total, (json.loads(text or "null") or {}).get("most") or 0)


def check_fork(connection: Connection, run_id: UUID, wanted: Forking, *, command_id: UUID | None = None) -> None:
    """Whether the other version takes the run's input, before the transaction: neither of the two ever changes. What
    was done by this command already is not asked again. Raises BadRunInput.
    """
    found = connection.execute(READ_INPUT, (command_id, run_id)).fetchone()
    if found is None or wanted.version_id is None or wanted.version_id == found[0]:
        return
    check_input(connection, wanted.version_id, json.loads(found[1]))


def preview_fork(connection: Connection, run_id: UUID, wanted: Forking) -> Preview:
    """What `fork_run` would do. In one snapshot (REPEATABLE READ), after `check_fork`. Raises what both raise."""
    tx = peek(connection, run_id)
    fork, _ = _planned(connection, tx, wanted)
    saved = connection.execute(SAVED_BY, ([row.id for row in fork.copied],)).fetchone()
    return Preview(fork.plan, float(saved[0]) if saved else 0.0, tx.run.generation)


def fork_run(
    connection: Connection,
    wanted: Command,
    forking: Forking,
    *,
    user_id: UUID | None = None,
    seen: str | None = None,
    then: Callable[[Told], None],
) -> Commanded:
    """Makes the new run in the caller's transaction, which comes after a `check_fork`. Its id and number are the
    result; `then` gets what others must hear of it, after the commit.

    Raises StepNotFound, NothingToFork, NotPossibleNow, GenerationChanged, PlanChanged.
    """

    def act(tx: Transition) -> dict[str, Any]:
        fork, definition = _planned(connection, tx, forking)
        fork.plan.must_be(seen)
        run_id = new_id()
        version_id = forking.version_id or tx.run.version_id
        values = (run_id, version_id, user_id, wanted.actor, forking.same_effects, tx.run.id)
        made = connection.execute(INSERT_FORK, values).fetchone()
        assert made is not None, "the source is locked"
        number, run_day, workspace_id, text, source_number, key_root = made
        run = RunRow(run_id, RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, run_day, workspace_id, version_id)
        if forking.same_effects:
            effects = effects_of(connection, tx.run.id, key_root=key_root)
            keep_effects(connection, run_id, effects)
            run.editions = effects.editions
        new = Transition(definition, run, Rows(connection, run_id), actor=wanted.actor)
        _begin(connection, new, fork, run_input=Stored(text=text), number=source_number)
        if forking.same_effects:
            same_editions(connection, run_id, tx.run.id)
        then(told_by(new))
        return {"run": str(run_id), "number": number, "again": fork.plan.again}

    return command(connection, wanted, act)


def _begin(connection: Connection, tx: Transition, fork: Fork, *, run_input: Stored, number: int) -> None:
    stand_for = [place.source.id for place in fork.places if place.source is not None and place.source.id is not None]
    ids = dict(zip(stand_for, new_ids(connection, len(stand_for)), strict=True))
    rows = standing(tx, fork, ids=ids)
    copy_steps(connection, tx, rows)
    failpoint("in_fork")
    begin_fork(tx, fork, rows, ids=ids, run_input=run_input, number=number)
    write(connection, tx)
