"""Decide an unknown outcome: a person says what became of an at-most-once step that ended without a word."""

from typing import Any

from runs.core.commands import Decision, decide_outcome
from runs.core.plan import Plan, finished_before, plan_of
from runs.core.rows import Stored
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.engine.operations import Operation, StepNotFound, step_at
from runs.engine.repair import given_value
from runs.store.read import Connection

__all__ = ["StepNotFound", "decide_step", "deciding"]


def deciding(connection: Connection, *, path: str, decision: Decision, output: Stored | None = None) -> Operation:
    def act(tx: Transition) -> Plan:
        row = step_at(connection, tx, path)
        kept = finished_before(tx)
        decide_outcome(tx, row, decision, output=output)
        return plan_of(tx, kept, new_keys={path} if decision == "run_again" else ())

    return act


def decide_step(
    connection: Connection, wanted: Command, *, path: str, decision: Decision, output: Any = None,
    seen: str | None = None,
) -> Commanded:  # fmt: skip
    """Raises StepNotFound, NotPossibleNow, GenerationChanged, PlanChanged, OutputTooLarge. `output` is taken with
    'happened' only.
    """
    stored = given_value(output, what="output") if decision == "happened" else None
    operation = deciding(connection, path=path, decision=decision, output=stored)

    def act(tx: Transition) -> dict[str, Any]:
        operation(tx).must_be(seen)
        return {"status": step_at(connection, tx, path).status.value}

    return command(connection, wanted, act)
