"""Decide an unknown outcome: a person says what became of an at-most-once step that ended without a word."""

from typing import Any

from kit.errors import NotFound
from runs.core.commands import Decision, decide_outcome
from runs.core.rows import Stored
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.payloads import json_text
from runs.store.read import Connection

FIND = "SELECT id FROM runs_steprun WHERE run_id = %s AND path = %s"


class StepNotFound(NotFound):
    code = "step_not_found"


def decide_step(
    connection: Connection, wanted: Command, *, path: str, decision: Decision, output: Any = None
) -> Commanded:
    """Raises StepNotFound, NotPossibleNow, GenerationChanged. `output` is taken with 'happened' only."""

    def act(tx: Transition) -> dict[str, Any]:
        # PostgreSQL takes no NUL character, so no step has one
        found = None if "\0" in path else connection.execute(FIND, (wanted.run_id, path)).fetchone()
        if found is None:
            raise StepNotFound(f"This run has no step '{path}'.", path=path)
        row = tx.add_known(tx.loader.row(found[0]))
        tx.scope((row.parent_id, row.index))
        decide_outcome(tx, row, decision, output=Stored(text=json_text(output)))
        return {"status": row.status.value}

    return command(connection, wanted, act)
