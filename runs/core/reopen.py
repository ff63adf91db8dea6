"""What a resume opens again among siblings: the top level of a run, or one item of a container."""

from collections.abc import Callable, Mapping

from runs.core.definition import Definition
from runs.core.joins import lost_ways
from runs.core.rows import OUTRUN, UPSTREAM_FAILED, Row
from runs.core.states import StepStatus

# A live step run that has begun, or is about to: what it decided on stays as it is.
BEGUN = frozenset(
    {
        StepStatus.READY,
        StepStatus.RUNNING,
        StepStatus.RETRY_WAIT,
        StepStatus.WAITING,
        StepStatus.NEEDS_DECISION,
        StepStatus.SUCCEEDED,
    }
)


def what_reopens(
    definition: Definition, rows: Mapping[str, Row], *, is_root: Callable[[Row], bool] | None = None
) -> list[Row]:
    """The rows to reset, in order: roots (all that can be, unless told otherwise), and what they kept from running.

    A step that was skipped because of a failure stays skipped where something after it, which needed it to be settled,
    has begun without it; only a fork could run it now. What leads only to a join that took the first stays as it is.
    """
    first = next(iter(rows), None)
    container = definition.nodes[first].parent if first is not None else None
    lost = lost_ways(definition, container, rows)
    roots = [row for id_, row in rows.items() if id_ not in lost and (is_root or is_reopenable)(row)]
    chosen, below = {row.path for row in roots}, _downstream(definition, roots) - lost
    return [
        row
        for node_id, row in rows.items()
        if row.path in chosen or (node_id in below and _was_kept(row) and not _is_overtaken(definition, rows, row))
    ]


def is_reopenable(row: Row) -> bool:
    """What can be run again on its own: failures, and what a cancel or a policy stopped. Never a success."""
    if row.status is StepStatus.FAILED:
        return row.handled is None
    return row.status is StepStatus.BLOCKED or (row.status is StepStatus.CANCELLED and row.reason != OUTRUN)


def _was_kept(row: Row) -> bool:
    """Whether a failure before it kept the step from running."""
    if row.status is StepStatus.FAILED:
        return row.handled is None and row.error is not None and row.error.get("code") == UPSTREAM_FAILED
    return row.status is StepStatus.BLOCKED or (row.status is StepStatus.SKIPPED and row.reason == UPSTREAM_FAILED)


def _is_overtaken(definition: Definition, rows: Mapping[str, Row], row: Row) -> bool:
    return row.status is StepStatus.SKIPPED and any(
        _has_begun(rows[edge.target]) and definition.nodes[edge.target].policy.join == "all"
        for edge in definition.outgoing[row.node_id]
    )


def _has_begun(row: Row) -> bool:
    """Containers that opened items go on with them, so they have begun even where they failed."""
    return row.status in BEGUN or row.items is not None or row.handled is not None


def _downstream(definition: Definition, rows: list[Row]) -> set[str]:
    found: set[str] = set()
    queue = [row.node_id for row in rows]
    while queue:
        for edge in definition.outgoing[queue.pop()]:
            if edge.target not in found:
                found.add(edge.target)
                queue.append(edge.target)
    return found
