"""What a person does to one step that cannot go on: edit its input, skip it, give its output by hand, retry it now."""

from typing import Any
from uuid import UUID

from django.conf import settings
from pydantic import ValidationError

from builder.graph.model import Node
from kit.errors import BadInput
from runs.core import repair as core
from runs.core.plan import Plan
from runs.core.rows import Row, Stored
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded
from runs.engine.inside import acted_inside
from runs.engine.operations import Operation, peek, perform, step_at
from runs.payloads import READ_PAYLOADS, json_text, to_upload
from runs.store.read import Connection
from steps import registry

# The settings that a person gave stay on the step run until it succeeds. They are its input from now on, so that an
# attempt which ends without a word shows them too; the old input is on the attempt that had it.
KEEP_OVERRIDE = "UPDATE runs_steprun SET override = %(text)s, override_ref = %(ref)s WHERE id = %(id)s"
READ_OVERRIDE = "SELECT override, override_ref FROM runs_steprun WHERE id = %s"
FIXED = frozenset({"connection"})  # of every kind that has it: whose credentials are used is the author's to say


NOTHING = Stored(text="null")


class BadStepInput(BadInput):
    code = "bad_step_input"


class ValueTooLarge(BadInput):
    code = "value_too_large"


def given_value(value: Any, *, what: str) -> Stored:
    """A value that a person gives, for the transition that keeps it. Raises ValueTooLarge, NotJson."""
    text = json_text(value)
    size = len(text)
    if size > settings.OUTPUT_LIMIT_BYTES:
        limit = settings.OUTPUT_LIMIT_BYTES
        message = f"The {what} has {size:,} bytes of JSON; the limit is {limit:,}."
        raise ValueTooLarge(message, size_bytes=size, limit_bytes=limit)
    return to_upload(text)


def check_input(connection: Connection, run_id: UUID, *, path: str, given: Any) -> None:
    """Whether a step can run on these settings: all of them, resolved; nothing in them is evaluated any more.

    Raises StepNotFound, BadStepInput: the kind's own checks, and what only a new version may change (code, connection).
    """
    tx = peek(connection, run_id)
    node = tx.node(step_at(connection, tx, path))
    if not isinstance(given, dict):
        message = "The input of a step is an object: its settings by name."
        raise BadStepInput(message, fields=[{"field": "input", "message": message}])
    problems = _fixed(node, given) or _refused(node, given)
    if problems:
        told = "; ".join(f"{each['field']}: {each['message']}" for each in problems)
        raise BadStepInput(f"The step cannot run on this input: {told}", fields=problems)


def _fixed(node: Node, given: dict[str, Any]) -> list[dict[str, str]]:
    """Whoever may run a workflow may not write its code, nor use other credentials."""
    names = sorted(registry.literal_fields(node.kind) | FIXED)
    message = "is a part of the workflow: publish a version with another one, and fork the run onto it"
    return [
        {"field": f"input.{name}", "message": message} for name in names if given.get(name) != node.config.get(name)
    ]


def _refused(node: Node, given: dict[str, Any]) -> list[dict[str, str]]:
    try:
        registry.get(node.kind).config.model_validate(given)
    except ValidationError as problem:
        found = problem.errors(include_url=False, include_context=False, include_input=False)
        return [{"field": ".".join(["input", *map(str, each["loc"])]), "message": each["msg"]} for each in found[:20]]
    return []


def override_of(connection: Connection, step_run_id: int) -> str | None:
    """The settings that a person gave the step run, as JSON; None where nobody did."""
    text, ref = connection.execute(READ_OVERRIDE, (step_run_id,)).fetchone() or (None, None)
    if ref is not None:
        _, text = connection.execute(READ_PAYLOADS, ([bytes(ref)],)).fetchone() or (None, None)
    return text


# ---------------------------------------------------------------------- operations


def editing(connection: Connection, *, path: str) -> Operation:
    return lambda tx: _edit(connection, tx, step_at(connection, tx, path))


def _edit(connection: Connection, tx: Transition, row: Row) -> Plan:
    return core.edit_input(tx, row, inside=acted_inside(connection, tx.run.id).get(row.id or 0))


def skipping(connection: Connection, *, path: str) -> Operation:
    return lambda tx: core.skip(tx, step_at(connection, tx, path))


def supplying(connection: Connection, *, path: str, output: Stored, port: str | None = None) -> Operation:
    return lambda tx: core.supply_output(tx, step_at(connection, tx, path), output=output, port=port)


def retrying(connection: Connection, *, path: str) -> Operation:
    return lambda tx: core.retry_now(tx, step_at(connection, tx, path))


def edit_step(connection: Connection, wanted: Command, *, path: str, given: Any, seen: str | None = None) -> Commanded:
    """Raises StepNotFound, BadStepInput, ValueTooLarge, NotPossibleNow, GenerationChanged, PlanChanged."""
    check_input(connection, wanted.run_id, path=path, given=given)
    override = given_value(given, what="input")

    def act(tx: Transition) -> Plan:
        row = step_at(connection, tx, path)
        plan = _edit(connection, tx, row)
        row.input = override
        values = {"text": override.text, "ref": override.ref, "id": row.id}
        connection.execute(KEEP_OVERRIDE, values)
        return plan

    return perform(connection, wanted, act, seen=seen)


def skip_step(connection: Connection, wanted: Command, *, path: str, seen: str | None = None) -> Commanded:
    """Raises StepNotFound, NotPossibleNow, GenerationChanged, PlanChanged."""
    return perform(connection, wanted, skipping(connection, path=path), seen=seen)


def supply_step(
    connection: Connection, wanted: Command, *, path: str, output: Any, port: str | None = None,
    seen: str | None = None,
) -> Commanded:  # fmt: skip
    """Raises StepNotFound, ValueTooLarge, NotPossibleNow, GenerationChanged, PlanChanged."""
    kept = given_value(output, what="output")
    return perform(connection, wanted, supplying(connection, path=path, output=kept, port=port), seen=seen)


def retry_step(connection: Connection, wanted: Command, *, path: str, seen: str | None = None) -> Commanded:
    """Raises StepNotFound, NotPossibleNow, GenerationChanged, PlanChanged."""
    return perform(connection, wanted, retrying(connection, path=path), seen=seen)
