"""Bulk operations against PostgreSQL: sweepers, people and what happens to runs meanwhile.

Faults 38, 42 and 59. What they could bring back: a run that is resumed twice, one that is left out, a stop that does
not stop, a report that does not add up, an act in the name of somebody who may no longer do it.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from django.db import connection

from builder.workflows.models import Version
from runs.bulk.drive import drive
from runs.bulk.services import (
    BulkChanged,
    NoRunsSelected,
    Pace,
    Selection,
    SelectionChanged,
    TooManyRuns,
    begin_bulk,
    continue_bulk,
    preview_bulk,
    stop_bulk,
)
from runs.core.commands import NotPossibleNow
from runs.engine.commands import CommandIdTaken
from runs.models import BulkOperation, BulkRun, Run
from runs.selectors.filters import Filters
from teams.access import Actor
from teams.models import AuditRecord, Membership, Role
from tests.bulk import FAILED, a_second_passes, begin, counts, failed_runs, generations, report
from tests.engine import World
from tests.hands import Hand
from tests.people import Cast

pytestmark = pytest.mark.django_db(transaction=True)


# ---------------------------------------------------------------------- pace


def test_no_more_runs_are_done_in_a_second_than_the_rate_allows(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    failed_runs(world, version, hands[0], 5)
    bulk = begin(ana, world, rate_per_s=2)
    assert drive() == 2
    assert drive() == 0
    a_second_passes(bulk)
    assert drive() == 2
    a_second_passes(bulk)
    assert drive() == 1
    assert counts(bulk) == {"done": 5}


def test_a_slow_rate_is_kept_over_more_than_a_second(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    failed_runs(world, version, hands[0], 2)
    bulk = begin(ana, world, rate_per_s=0.25)
    assert drive() == 1
    a_second_passes(bulk)
    assert drive() == 0
    for _ in range(3):
        a_second_passes(bulk)
    assert drive() == 1


def test_after_the_canary_it_waits_until_a_person_continues(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    runs = failed_runs(world, version, hands[0], 5)
    bulk = begin(ana, world, canary=2)
    drive()
    drive()
    assert counts(bulk) == {"done": 2, "pending": 3}
    assert generations(runs[:2]) == {2}
    assert (report(bulk)["status"], report(bulk)["reason"]["code"]) == ("waiting", "canary")
    continue_bulk(actor=ana, bulk=bulk, revision=report(bulk)["revision"])
    drive()
    assert counts(bulk) == {"done": 5}


def test_a_canary_as_large_as_the_whole_is_the_whole(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    failed_runs(world, version, hands[0], 2)
    bulk = begin(ana, world, canary=2)
    drive()
    assert report(bulk)["status"] == "done"


# ---------------------------------------------------------------------- stop and continue


def test_a_stop_leaves_the_rest_untouched_and_it_goes_on_where_it_was(
    world: World, hands: list[Hand], version: Version, ana: Actor, people: Cast
) -> None:
    runs = failed_runs(world, version, hands[0], 4)
    bulk = begin(ana, world, rate_per_s=1)
    assert drive() == 1
    stop_bulk(actor=ana, bulk=bulk)
    stop_bulk(actor=ana, bulk=bulk)  # a second click
    a_second_passes(bulk)
    assert drive() == 0
    assert counts(bulk) == {"done": 1, "pending": 3}
    assert generations(runs[1:]) == {1}
    assert report(bulk)["reason"] == {"code": "by_person", "message": f"{ana.name} stopped it."}
    owner = people.actor(Role.OWNER)
    continue_bulk(actor=owner, bulk=bulk, revision=report(bulk)["revision"])
    for _ in range(3):
        a_second_passes(bulk)
        drive()
    assert counts(bulk) == {"done": 4}
    assert Counter(BulkRun.objects.filter(bulk=bulk).values_list("actor", flat=True)) == {ana.name: 1, owner.name: 3}
    trail = AuditRecord.objects.filter(target_id=str(bulk.id)).order_by("id").values_list("action", "actor_name")
    assert list(trail) == [("bulk.start", ana.name), ("bulk.stop", ana.name), ("bulk.continue", owner.name)]


def test_a_continue_that_comes_late_is_refused(world: World, hands: list[Hand], version: Version, ana: Actor) -> None:
    failed_runs(world, version, hands[0], 2)
    bulk = begin(ana, world, canary=1)
    drive()
    seen = report(bulk)["revision"]
    stop_bulk(actor=ana, bulk=bulk)
    with pytest.raises(BulkChanged):
        continue_bulk(actor=ana, bulk=bulk, revision=seen)
    now = report(bulk)["revision"]
    continue_bulk(actor=ana, bulk=bulk, revision=now)
    with pytest.raises(BulkChanged):
        continue_bulk(actor=ana, bulk=bulk, revision=now)
    with pytest.raises(NotPossibleNow):
        continue_bulk(actor=ana, bulk=bulk, revision=report(bulk)["revision"])


def test_what_is_done_is_neither_stopped_nor_continued(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    failed_runs(world, version, hands[0], 1)
    bulk = begin(ana, world)
    drive()
    with pytest.raises(NotPossibleNow):
        stop_bulk(actor=ana, bulk=bulk)
    with pytest.raises(NotPossibleNow):
        continue_bulk(actor=ana, bulk=bulk, revision=report(bulk)["revision"])


# ---------------------------------------------------------------------- in whose name


@pytest.mark.parametrize("loss", ["removed", "demoted", "deactivated", "deleted"])
def test_it_stops_where_the_person_may_no_longer_do_it_and_another_may_continue(
    world: World, hands: list[Hand], version: Version, ana: Actor, people: Cast, loss: str
) -> None:
    """lobehub/lobehub PR 17263, langflow-ai/langflow PR 10205: an owner's key went on working after the owner was
    demoted. There are no keys for programs here as yet; what acts later in a person's name asks each time whether they
    may.
    """
    runs = failed_runs(world, version, hands[0], 3)
    bulk = begin(ana, world, rate_per_s=1)
    assert drive() == 1
    a_second_passes(bulk)
    lose_permission(ana, loss)
    assert drive() == 0
    assert (report(bulk)["status"], report(bulk)["reason"]["code"]) == ("stopped", "permission_lost")
    assert generations(runs[1:]) == {1}
    continue_bulk(actor=people.actor(Role.ADMIN), bulk=bulk, revision=report(bulk)["revision"])
    for _ in range(2):
        a_second_passes(bulk)
        drive()
    assert counts(bulk) == {"done": 3}


def lose_permission(ana: Actor, loss: str) -> None:
    assert ana.user is not None
    match loss:
        case "removed":
            Membership.objects.filter(user=ana.user).delete()
        case "demoted":
            Membership.objects.filter(user=ana.user).update(role=Role.VIEWER)
        case "deactivated":
            type(ana.user).objects.filter(id=ana.user.id).update(is_active=False)
        case "deleted":
            type(ana.user).objects.get(id=ana.user.id).delete()


# ---------------------------------------------------------------------- choosing


def test_a_preview_counts_and_plans_and_changes_nothing(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    runs = failed_runs(world, version, hands[0], 7)
    running = world.start(version).run_id
    everything = Selection(filters=Filters())
    before = dict(Run.objects.values_list("id", "event_seq"))
    found = preview_bulk(actor=ana, workspace=world.workspace, operation="resume", selection=everything)
    assert (found.count, found.skipped, found.by_status) == (8, 0, {"failed": 7, "running": 1})
    assert [run.id for run, _ in found.plans] == runs[:5]
    assert {(plan.allowed, *plan.again, plan.kept_count) for _, plan in found.plans} == {(True, "A", "B", 1)}
    found = preview_bulk(actor=ana, workspace=world.workspace, operation="cancel", selection=everything)
    assert (found.count, found.skipped) == (8, 7)
    assert [(run.id, plan.stops_count) for run, plan in found.plans] == [(running, 2)]
    found = preview_bulk(actor=ana, workspace=world.workspace, operation="resume", selection=Selection(ids=[running]))
    assert [plan.allowed for _, plan in found.plans] == [False]
    assert dict(Run.objects.values_list("id", "event_seq")) == before
    assert not BulkOperation.objects.exists()


def test_the_same_request_again_is_the_same_operation_and_another_one_is_refused(
    world: World, hands: list[Hand], version: Version, ana: Actor, people: Cast
) -> None:
    failed_runs(world, version, hands[0], 2)
    command_id = uuid4()
    first = begin(ana, world, command_id=command_id)
    assert begin(ana, world, command_id=command_id).id == first.id
    assert BulkRun.objects.count() == 2
    with pytest.raises(CommandIdTaken):
        begin(ana, world, command_id=command_id, request={"canary": 1})
    with pytest.raises(CommandIdTaken):
        begin_bulk(
            actor=Actor("user", "Olga", people.stranger), workspace=people.other, command_id=command_id,
            operation="resume", selection=FAILED, pace=Pace(), request={"operation": "resume"},
        )  # fmt: skip


def test_two_requests_with_one_id_at_the_same_moment_begin_one_operation(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    failed_runs(world, version, hands[0], 3)
    command_id = uuid4()

    def one(_: int) -> UUID:
        try:
            return begin(ana, world, command_id=command_id).id
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(one, range(2))) == {command_id}
    assert BulkRun.objects.count() == 3
    assert AuditRecord.objects.filter(action="bulk.start").count() == 1


def test_a_selection_that_is_empty_too_large_or_not_what_was_seen_begins_nothing(
    world: World, hands: list[Hand], version: Version, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoRunsSelected):
        begin(ana, world)
    runs = failed_runs(world, version, hands[0], 2)
    with pytest.raises(NoRunsSelected):
        begin(ana, world, Selection(ids=[*runs, uuid4()]))
    with pytest.raises(SelectionChanged):
        begin(ana, world, expected_count=1)
    monkeypatch.setattr("runs.bulk.services.RUNS_LIMIT", 1)
    with pytest.raises(TooManyRuns):
        begin(ana, world)
    assert not BulkOperation.objects.exists()
    assert not AuditRecord.objects.filter(action="bulk.start").exists()


def test_runs_of_another_workspace_are_never_chosen(
    world: World, hands: list[Hand], version: Version, ana: Actor, people: Cast
) -> None:
    with World(workspace=people.other) as elsewhere:
        (foreign,) = failed_runs(elsewhere, elsewhere.draw("S > A"), hands[0], 1)
    with pytest.raises(NoRunsSelected):
        begin(ana, world, Selection(ids=[foreign]))
    with pytest.raises(NoRunsSelected):
        begin(ana, world)
