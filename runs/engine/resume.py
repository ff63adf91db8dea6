"""Resume a run in place: the same run goes on from what failed."""

from collections.abc import Collection
from uuid import UUID

from runs.core import resume as core
from runs.core.plan import Plan
from runs.engine.commands import Command, Commanded
from runs.engine.operations import Operation, perform, preview
from runs.store.read import Connection


def resuming(paths: Collection[str] | None = None) -> Operation:
    return lambda tx: core.resume(tx, paths=paths)


def resume_run(
    connection: Connection, wanted: Command, *, paths: Collection[str] | None = None, seen: str | None = None
) -> Commanded:
    """Reopens what failed and lets it go on. Raises NothingToResume, GenerationChanged, PlanChanged."""
    return perform(connection, wanted, resuming(paths), seen=seen)


def preview_resume(
    connection: Connection, run_id: UUID, *, paths: Collection[str] | None = None
) -> tuple[Plan, float, int]:
    """What `resume_run` would do, the seconds that it saves, and the generation that was seen."""
    shown = preview(connection, run_id, resuming(paths))
    return shown.plan, shown.saved_s, shown.generation
