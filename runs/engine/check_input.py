"""Whether a run may start with an input: what the start step's schema says.

That schema is somebody's, and may take seconds to work through. So it is looked at before a transaction and never in
one: who starts a run looks ahead, and its transaction compares what it finds with what was looked at.
"""

from typing import Any
from uuid import UUID

from kit.errors import AppError, BadInput
from kit.fields import below
from runs.engine.definitions import definition_of
from runs.engine.start import input_schema
from runs.store.read import Connection
from steps.base import StepFailure
from steps.schema_bounded import check_bounded as schema_problems
from steps.schema_bounded import is_cheap


class BadRunInput(BadInput):
    code = "bad_run_input"


class LookedTooEarly(Exception):
    """The transaction found something else than what was looked at before it: leave it, look again."""


def check_input(connection: Connection, version_id: UUID, run_input: Any) -> None:
    """Raises BadRunInput, naming the fields. `connection` is outside a transaction."""
    schema = input_schema(definition_of(connection, version_id))
    if not schema:
        return
    try:
        problems = schema_problems(run_input, dict(schema))
    except StepFailure as failure:
        raise BadRunInput(f"The start step's schema cannot be used: {failure.message}") from failure
    if problems:
        fields = [{"field": below("input", each["path"]), "message": each["message"]} for each in problems]
        raise BadRunInput("The input does not fit the start step's schema.", fields=fields)


def refusal_of(connection: Connection, version_id: UUID, run_input: Any) -> AppError | None:
    """What `check_input` raises, as a value: for who says so later, in a transaction."""
    try:
        check_input(connection, version_id, run_input)
    except AppError as refusal:
        return refusal
    return None


def takes_long(connection: Connection, version_id: UUID, run_input: Any) -> bool:
    """Whether the check needs a process of its own, and so may take seconds."""
    schema = input_schema(definition_of(connection, version_id))
    return bool(schema) and not is_cheap(run_input, dict(schema or {}))
