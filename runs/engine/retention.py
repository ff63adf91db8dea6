"""Housekeeping: takes away, in small batches, what nobody can reach or wants to keep any more.

Nothing of an open run ever goes: the database itself refuses to delete it, and drops no day that still has a run. What
other runs refer to (a fork's origin, a child's parent) stays until those are gone.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

import psycopg
from django.db.models import CASCADE, SET_NULL, Model
from django.db.models.fields.reverse_related import ForeignObjectRel

from kit.clock import monotonic_s
from kit.failpoints import failpoint
from runs.artifacts import forget_staged
from runs.engine.artifacts import sweep_files
from runs.models import Run, StepRun
from runs.store import retention as store
from runs.store.read import Connection

PAYLOADS_AT_ONCE = 200
RUNS_AT_ONCE = 20
STAGED_S = 24 * 3600.0  # of a file that an attempt staged as an artifact: longer than any attempt needs to tell of it
GRACE_S = 3600.0  # of what was uploaded and not yet referred to; safety does not depend on it
LOCK_MS = 50  # dropping a day needs the whole table for a moment; whoever waits for that lets all writers wait
BUDGET_S = 1.0  # of one turn

logger = logging.getLogger(__name__)


@dataclass
class Taken:
    """How much one turn took away."""

    payloads: int = 0
    files: int = 0
    runs: int = 0
    days: int = 0


@dataclass
class Housekeeping:
    """One sweeper's. `days` is how long runs are kept where their workspace does not say: 0 is for ever."""

    days: int = 0
    grace_s: float = GRACE_S
    _after: bytes = b""
    _after_file: int = 0
    _ended: set[object] = field(default_factory=set)

    def turn(self, connection: Connection) -> Taken:
        """Everything once, for about a second at most. `connection` is in autocommit mode."""
        until = monotonic_s() + BUDGET_S
        done = Taken(payloads=self._payloads(connection), files=self._files(connection))
        self._ended = set(store.ended_days(connection, days=self.days, kept_by=kept_by()))
        while monotonic_s() < until and (runs := self._runs(connection)):
            done.runs += runs
        done.days = self._days(connection)
        connection.execute(store.OLD_WORKERS)
        connection.execute(store.OLD_SWEEPERS)
        return done

    def _payloads(self, connection: Connection) -> int:
        references = store.payload_references(connection)
        last, gone = store.sweep_payloads(
            connection, references, after=self._after, batch=PAYLOADS_AT_ONCE, grace_s=self.grace_s
        )
        self._after = last or b""
        return gone

    def _files(self, connection: Connection) -> int:
        forget_staged(older_s=STAGED_S)
        self._after_file, gone = sweep_files(
            connection, after=self._after_file, batch=PAYLOADS_AT_ONCE, grace_s=self.grace_s
        )
        return gone

    def _runs(self, connection: Connection) -> int:
        """One batch of expired runs, in one transaction. Of days that are dropped as a whole the large tables wait."""
        with connection.transaction():
            found = store.take_expired(connection, days=self.days, kept_by=kept_by(), batch=RUNS_AT_ONCE)
            ids = [run_id for run_id, _ in found]
            lone = [(run_id, day) for run_id, day in found if day not in self._ended]
            if ids:
                _forget(connection, ids, rows_of=[run_id for run_id, _ in lone], days={day for _, day in lone})
                failpoint("in_retention")
        return len(ids)

    def _days(self, connection: Connection) -> int:
        dropped = 0
        for day in store.ended_days(connection, days=self.days, kept_by=kept_by()):
            try:
                dropped += store.drop_day(connection, day, lock_ms=LOCK_MS)
            except psycopg.errors.LockNotAvailable:
                logger.info("somebody reads the event log: %s is dropped later", day)
        return dropped


def _forget(connection: Connection, ids: list[UUID], *, rows_of: list[UUID], days: set[object]) -> None:
    """The runs first: only what belongs to no run may be deleted. Foreign keys are compared at the commit."""
    for statement in store.FORGET_STEPS:
        connection.execute(statement, (rows_of,))
    connection.execute("DELETE FROM runs_run WHERE id = ANY(%s)", (ids,))
    connection.execute(store.FORGET_EVENTS, (rows_of, list(days)))
    for statement in forgetting(Run):
        connection.execute(statement, (ids,))


@cache
def forgetting(model: type[Model]) -> tuple[str, ...]:
    """Statements that delete all that belongs to runs, whatever tables there are: what lies deepest first."""
    return tuple(_below(model, "SELECT unnest(%s::uuid[])"))


def _below(model: type[Model], chosen: str) -> Iterator[str]:
    for relation in _relations(model):
        if relation.related_model in (model, Run):  # goes in the same statement; or keeps the run (kept_by)
            continue
        table, column, key = _names(relation)
        if relation.on_delete is SET_NULL:
            yield f"UPDATE {table} SET {column} = NULL WHERE {column} IN ({chosen})"
        elif relation.on_delete is CASCADE:
            yield from _below(relation.related_model, f"SELECT {key} FROM {table} WHERE {column} IN ({chosen})")
            yield f"DELETE FROM {table} WHERE {column} IN ({chosen})"


# A step finds the run that it has started by that run's row, also when it is resumed: so that row stays as long as the
# step's own run. No foreign key tells of the two. Indexes: the primary key, run_children.
INSIDE_OTHERS = (
    "NOT EXISTS (SELECT FROM runs_run o WHERE o.id = r.parent_run_id)",
    """NOT EXISTS (SELECT FROM runs_run o WHERE o.parent_run_id = r.id
        AND o.status IN ('running', 'paused', 'cancelling'))""",
)


@cache
def kept_by() -> str:
    """Conditions that no other run refers to the run `r`, or to a step of it."""
    parts = [*INSIDE_OTHERS]
    for relation in _relations(Run):
        if relation.related_model is Run:
            _, column, _ = _names(relation)
            parts.append(f"NOT EXISTS (SELECT FROM runs_run o WHERE o.{column} = r.id AND o.id <> r.id)")
    for relation in _relations(StepRun):
        table, column, _ = _names(relation)
        if relation.related_model is Run:
            owner = "o.id"
        elif relation.related_model is StepRun and relation.field.name != "parent":  # a step lies in its own run
            owner = "o.run_id"
        else:
            continue
        parts.append(
            f"NOT EXISTS (SELECT FROM runs_steprun s JOIN {table} o ON o.{column} = s.id "
            f"WHERE s.run_id = r.id AND {owner} <> r.id)"
        )
    return "".join(f" AND {part}" for part in parts)


def _relations(model: type[Model]) -> list[ForeignObjectRel]:
    """All foreign keys that lead to the model's rows, also those that have no name on its side."""
    fields = model._meta.get_fields(include_hidden=True)  # noqa: SLF001 - Django's own way to ask
    return [field for field in fields if isinstance(field, ForeignObjectRel) and not field.many_to_many]


def _names(relation: ForeignObjectRel) -> tuple[str, str, str]:
    """Table, column of the foreign key, column of the primary key."""
    options = relation.related_model._meta  # noqa: SLF001
    return options.db_table, str(relation.field.column), str(options.pk.column)
