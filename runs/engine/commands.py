"""A person's act on a run, once: known by the id that their client made.

The command's row is written in the act's own transaction, so a repeated request (a double click, a lost reply) gets the
first one's result; an act that saw an older generation of the run is refused.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kit.errors import Conflict
from runs.core.transition import Transition
from runs.engine.transact import Told, begin, told_by
from runs.payloads import json_text
from runs.store.read import Connection
from runs.store.write import write

FIND = "SELECT run_id, operation, result FROM runs_command WHERE id = %s"
KEEP = """INSERT INTO runs_command (id, run_id, operation, actor, result, created_at)
    VALUES (%s, %s, %s, %s, %s, statement_timestamp()) ON CONFLICT (id) DO NOTHING"""

KEEP_PERSON = "UPDATE runs_command SET user_id = %s WHERE id = %s"


class GenerationChanged(Conflict):
    code = "generation_changed"


class CommandIdTaken(Conflict):
    code = "command_id_taken"

    def __init__(self) -> None:
        super().__init__("This command id was used for something else. Make a new one for each act.")


@dataclass(frozen=True)
class Command:
    """Who does what to which run. `generation` is the one that they saw; None where it does not matter. `subject` is
    what of the run is meant (a path, a wait), so that one id never stands for two acts.
    """

    id: UUID
    run_id: UUID
    operation: str
    actor: str
    generation: int | None = None
    subject: str | None = None


def keep_person(connection: Connection, done: Command, user_id: UUID | None) -> None:
    """Who gave a command, beside the name that they had then. In the command's own transaction."""
    connection.execute(KEEP_PERSON, (user_id, done.id))


@dataclass(frozen=True)
class Commanded:
    result: dict[str, Any]
    told: Told | None  # None: the command had been done before


def command(connection: Connection, wanted: Command, act: Callable[[Transition], dict[str, Any]]) -> Commanded:
    """Does it in the caller's transaction, or answers what it did before. Raises GenerationChanged, and what `act`
    raises.
    """
    tx = begin(connection, wanted.run_id, actor=wanted.actor)
    earlier = connection.execute(FIND, (wanted.id,)).fetchone()
    if earlier is not None:
        kept = json.loads(earlier[2])
        if (*earlier[:2], kept["subject"]) != (wanted.run_id, wanted.operation, wanted.subject):
            raise CommandIdTaken
        return Commanded(kept["result"], told=None)
    if wanted.generation is not None and wanted.generation != tx.run.generation:
        raise GenerationChanged(
            f"Somebody resumed this run meanwhile: it is at generation {tx.run.generation}, "
            f"you saw {wanted.generation}. Look at it again.",
            generation=tx.run.generation,
        )
    tx.tell("command", None, {"operation": wanted.operation})
    result = act(tx)
    kept = json_text({"subject": wanted.subject, "result": result})
    values = (wanted.id, wanted.run_id, wanted.operation, wanted.actor, kept)
    if connection.execute(KEEP, values).rowcount == 0:  # just now, for another run
        raise CommandIdTaken
    write(connection, tx)
    return Commanded(result, told_by(tx))
