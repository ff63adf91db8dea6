"""Whether a run may start with an input: what the start step's schema says."""

from typing import Any
from uuid import UUID

from kit.errors import BadInput
from runs.engine.definitions import definition_of
from runs.engine.start import input_schema
from runs.store.read import Connection
from steps.base import StepFailure
from steps.schema_bounded import check_bounded as schema_problems


class BadRunInput(BadInput):
    code = "bad_run_input"


def check_input(connection: Connection, version_id: UUID, run_input: Any) -> None:
    """Raises BadRunInput, naming the fields."""
    schema = input_schema(definition_of(connection, version_id))
    if not schema:
        return
    try:
        problems = schema_problems(run_input, dict(schema))
    except StepFailure as failure:
        raise BadRunInput(f"The start step's schema cannot be used: {failure.message}") from failure
    if problems:
        fields = [
            {"field": "input" + problem["path"].removeprefix("$"), "message": problem["message"]}
            for problem in problems
        ]
        raise BadRunInput("The input does not fit the start step's schema.", fields=fields)
