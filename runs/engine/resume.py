"""Resume a run in place: the same run goes on from what failed."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from runs.core import resume as core
from runs.core.resume import Plan
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.engine.definitions import definition_of
from runs.engine.transact import RunNotFound
from runs.store.read import READ_RUN, Connection, Rows, run_row

# The seconds during which kept steps worked: what ran side by side counts once, the time of a person not at all.
# Containers are left out, their items are counted.
SAVED = """SELECT coalesce(sum(extract(epoch FROM upper(span) - lower(span))), 0) FROM (
    SELECT unnest(range_agg(tstzrange(started_at, greatest(started_at, finished_at)))) AS span FROM runs_steprun step
    WHERE run_id = %s AND status = 'succeeded' AND item_total IS NULL AND started_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM runs_wait WHERE runs_wait.run_id = step.run_id AND step_run_id = step.id)) spans"""


def resume_run(connection: Connection, wanted: Command, *, paths: Collection[str] | None = None) -> Commanded:
    """Reopens what failed and lets it go on. Raises NothingToResume, GenerationChanged."""

    def act(tx: Transition) -> dict[str, Any]:
        plan = core.resume(tx, paths=paths)
        return {"generation": tx.run.generation, "again": plan.again}

    return command(connection, wanted, act)


def preview_resume(
    connection: Connection, run_id: UUID, *, paths: Collection[str] | None = None
) -> tuple[Plan, float, int]:
    """What `resume_run` would do, without doing it: the same function, whose transition is thrown away.

    Also the seconds that the kept steps had worked, and the generation that was seen. Call it in one snapshot
    (REPEATABLE READ). Raises NothingToResume.
    """
    values = connection.execute(READ_RUN, (run_id,)).fetchone()
    if values is None:
        raise RunNotFound("There is no such run.")
    run = run_row(values)
    assert run.version_id is not None
    generation = run.generation
    tx = Transition(definition_of(connection, run.version_id), run, Rows(connection, run_id), actor="preview")
    plan = core.resume(tx, paths=paths)
    saved = connection.execute(SAVED, (run_id,)).fetchone()
    return plan, float(saved[0]) if saved else 0.0, generation
