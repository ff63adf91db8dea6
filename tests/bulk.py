"""What tests of bulk operations share: failed runs, and looking at what became of them."""

from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from builder.workflows.models import Version
from runs.bulk.services import (
    Pace,
    Selection,
    begin_bulk,
)
from runs.core.outcomes import Error, Failed
from runs.models import BulkOperation, Run
from runs.selectors.bulk import shapes_of
from runs.selectors.filters import Filters
from teams.access import Actor
from tests.engine import World
from tests.hands import Hand

BROKEN = Failed(Error("broken", "It broke."))
FAILED = Selection(filters=Filters(status=["failed"]))


def failed_runs(world: World, version: Version, hand: Hand, count: int) -> list[UUID]:
    runs = [world.start(version).run_id for _ in range(count)]
    for _ in runs:
        hand.finish(hand.take(), BROKEN)
    return runs


def begin(ana: Actor, world: World, selection: Selection = FAILED, **options: Any) -> BulkOperation:
    operation = options.pop("operation", "resume")
    pace = Pace(options.pop("rate_per_s", None), options.pop("canary", None))
    command_id = options.pop("command_id", None) or uuid4()
    bulk, _ = begin_bulk(
        actor=ana, workspace=world.workspace, command_id=command_id, operation=operation, selection=selection,
        pace=pace, request={"operation": operation, **options.pop("request", {})}, **options,
    )  # fmt: skip
    return bulk


def report(bulk: BulkOperation) -> dict[str, Any]:
    return shapes_of([BulkOperation.objects.get(id=bulk.id)])[0]


def counts(bulk: BulkOperation) -> dict[str, int]:
    found: dict[str, int] = report(bulk)["counts"]
    assert found["total"] == found["pending"] + found["done"] + found["refused"] + found["skipped"]
    return {status: count for status, count in found.items() if count and status != "total"}


def generations(runs: list[UUID]) -> set[int]:
    return set(Run.objects.filter(id__in=runs).values_list("generation", flat=True))


def a_second_passes(bulk: BulkOperation) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_bulkrun SET acted_at = acted_at - interval '1.01 s' WHERE bulk_id = %s", [bulk.id])
