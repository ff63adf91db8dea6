"""A person's operation on a run: previewed, and then done, by the same function of the core.

An operation changes a transition and answers its plan. The preview throws the transition away. The act compares its
plan with the one that was shown, and changes nothing where they differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.errors import NotFound
from runs.core.plan import Plan
from runs.core.rows import Row
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.engine.definitions import definition_of
from runs.engine.transact import RunNotFound
from runs.store.read import READ_RUN, Connection, Rows, run_row

Operation = Callable[[Transition], Plan]

FIND = "SELECT id FROM runs_steprun WHERE run_id = %s AND path = %s"
# The seconds that finished steps worked: what a container's items worked counts, not that of the container; the time
# of a person not at all.
SAVED = """SELECT coalesce(sum(extract(epoch FROM greatest(finished_at - started_at, interval '0'))), 0)
    FROM runs_steprun step
    WHERE run_id = %s AND status = 'succeeded' AND item_total IS NULL AND started_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM runs_wait WHERE runs_wait.run_id = step.run_id AND step_run_id = step.id)"""


class StepNotFound(NotFound):
    code = "step_not_found"


@dataclass(frozen=True)
class Preview:
    plan: Plan
    saved_s: float  # the sum of the durations of the steps that are kept
    generation: int  # of the run that was looked at
    child_runs: int = 0  # inside it, at any depth, that are paused, go on or are stopped with it


def step_at(connection: Connection, tx: Transition, path: str) -> Row:
    """The run's step of that path, with its siblings known to the transition. Raises StepNotFound."""
    # PostgreSQL takes no NUL character, so no step has one
    found = None if "\0" in path else connection.execute(FIND, (tx.run.id, path)).fetchone()
    if found is None:
        raise StepNotFound(f"This run has no step '{path}'.", path=path)
    row = tx.add_known(tx.loader.row(found[0]))
    tx.scope((row.parent_id, row.index))
    return row


def peek(connection: Connection, run_id: UUID) -> Transition:
    """A transition on a run that is not locked: to look, and to be thrown away. Raises RunNotFound."""
    values = connection.execute(READ_RUN, (run_id,)).fetchone()
    if values is None:
        raise RunNotFound("There is no such run.")
    run = run_row(values)
    assert run.version_id is not None
    return Transition(definition_of(connection, run.version_id), run, Rows(connection, run_id), actor="preview")


def preview(connection: Connection, run_id: UUID, operation: Operation) -> Preview:
    """What `perform` would do, without doing it. Call it in one snapshot (REPEATABLE READ). Raises what it raises."""
    tx = peek(connection, run_id)
    generation = tx.run.generation
    plan = operation(tx)
    saved = connection.execute(SAVED, (run_id,)).fetchone()
    return Preview(plan, float(saved[0]) if saved else 0.0, generation)


def perform(connection: Connection, wanted: Command, operation: Operation, *, seen: str | None = None) -> Commanded:
    """Does it, if its plan is still the one that was `seen`. Raises GenerationChanged, PlanChanged, and what the
    operation raises.
    """

    def act(tx: Transition) -> dict[str, Any]:
        plan = operation(tx)
        plan.must_be(seen)
        return {"generation": tx.run.generation, "status": tx.run.status.value, "again": plan.again}

    return command(connection, wanted, act)
