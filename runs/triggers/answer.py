"""What a run answers, whole: for whoever waits for it outside, and for the run that its end starts."""

import json
from typing import Any
from uuid import UUID

from kit.errors import BadInput
from runs.store.read import Connection

LIMIT = 1024 * 1024  # characters of JSON
# Index: step_run_path. As in runs.selectors.runs.run_output: of the output steps the last to end.
READ_OUTPUT = """SELECT s.output, p.body, coalesce(p.size, length(s.output)) FROM runs_steprun s
    LEFT JOIN runs_payload p ON p.hash = s.output_ref AND p.size <= %s
    WHERE s.run_id = %s AND s.parent_id IS NULL AND s.kind = 'output' AND s.status = 'succeeded'
    ORDER BY s.finished_at DESC, s.id DESC LIMIT 1"""


class AnswerTooLarge(BadInput):
    code = "answer_too_large"


def answer_of(connection: Connection, run_id: UUID) -> Any:
    """None where no output step has run. Raises AnswerTooLarge."""
    found = connection.execute(READ_OUTPUT, (LIMIT, run_id)).fetchone()
    if found is None:
        return None
    output, body, size = found
    text = output if output is not None else body
    if text is None or size > LIMIT:
        raise AnswerTooLarge(f"The output of the run is larger than {LIMIT} characters. Look at it in Pawl.")
    return json.loads(text)
