"""Begins the run that a fork makes: its copies stand already, what is left to run follows by the rules of any run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.core.advance import propagate, reset
from runs.core.fork import Fork, Place
from runs.core.rows import FORKED, Row, Stored
from runs.core.states import StepStatus
from runs.core.transition import ScopeKey, Transition


@dataclass(frozen=True)
class Standing:
    """A step run of the fork that its rows are made of before it begins: a copy, or a container that goes on."""

    place: Place
    row: Row


def standing(tx: Transition, fork: Fork, *, ids: Mapping[int, int]) -> list[Standing]:
    """`ids` are the new ids of step runs, by the ids of those that they stand for."""
    return [Standing(place, _row(tx, place, ids)) for place in fork.places if place.source is not None]


def _row(tx: Transition, place: Place, ids: Mapping[int, int]) -> Row:
    source = place.source
    assert source is not None
    assert source.id is not None
    row = Row(
        id=ids[source.id],
        path=place.path,
        node_id=place.node.id,
        status=source.status if place.is_copy else StepStatus.CANCELLED,
        parent_id=None if place.parent is None else ids[place.parent],
        index=place.index,
        delivery=tx.definition.delivery_of(place.node),
    )
    if not place.is_copy:
        row.reason, row.items = FORKED, place.items
        return row
    row.origin, row.attempt, row.edition = "copied", source.attempt, source.edition
    row.port, row.handled, row.reason = source.port, source.handled, source.reason
    row.error, row.items = source.error, source.items
    return row


def begin_fork(
    tx: Transition, fork: Fork, rows: list[Standing], *, ids: Mapping[int, int], run_input: Stored, number: int
) -> None:
    """`number` is the source's, `rows` are what `standing` gave. What is left to run in items stands as stopped, until
    its container opens the item.
    """
    tx.tell(f"run.{tx.run.status}", None, {"generation": tx.run.generation, "forked_from": number})
    scopes: dict[ScopeKey, list[Row]] = {(None, None): []}
    for each in rows:
        tx.add_standing(each.row)
        _tell(tx, each.row)
        scopes.setdefault((each.row.parent_id, each.row.index), []).append(each.row)
    begun = [(place, _fresh(tx, place, ids)) for place in fork.places if place.source is None]
    for key in {(None, None), *((row.parent_id, row.index) for _, row in begun)}:
        tx.adopt(scopes.get(key, []), key)
    for place, row in begun:
        tx.add_row(row, (row.parent_id, row.index))
        if row.status is StepStatus.CANCELLED:
            tx.tell("step.cancelled", row, {"reason": FORKED})
        elif not tx.definition.specs[place.node.kind].has_input:
            tx.succeed_at_once(row, run_input)
    for row in scopes[(None, None)]:
        if row.reason == FORKED:
            reset(tx, row)
    propagate(tx, (None, None))


def _fresh(tx: Transition, place: Place, ids: Mapping[int, int]) -> Row:
    is_inside = place.parent is not None
    return Row(
        id=None,
        path=place.path,
        node_id=place.node.id,
        status=StepStatus.CANCELLED if is_inside else StepStatus.PENDING,
        parent_id=ids[place.parent] if place.parent is not None else None,
        index=place.index,
        delivery=tx.definition.delivery_of(place.node),
        reason=FORKED if is_inside else None,
    )


def _tell(tx: Transition, row: Row) -> None:
    """As it was told in the source, so that the events alone say how the run stands."""
    data: dict[str, Any] = {"origin": row.origin}
    match row.status:
        case StepStatus.SUCCEEDED:
            data["port"] = row.port
            if row.items is not None:
                data |= {"total": row.items.total, "failed": row.items.failed}
        case StepStatus.FAILED:
            data |= {"error": row.error, **({"handled": row.handled} if row.handled else {})}
        case _:
            data["reason"] = row.reason
    tx.tell(f"step.{row.status}", row, data)
