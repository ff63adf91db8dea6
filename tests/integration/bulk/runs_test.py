"""Bulk operations against PostgreSQL: sweepers, people and what happens to runs meanwhile.

Faults 38, 42 and 59. What they could bring back: a run that is resumed twice, one that is left out, a stop that does
not stop, a report that does not add up, an act in the name of somebody who may no longer do it.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from builder.workflows.models import Version
from kit.failpoints import FailpointHit
from runs import services as runs_services
from runs.bulk import drive as driving
from runs.bulk.drive import drive
from runs.bulk.operations import OPERATIONS
from runs.bulk.services import (
    Selection,
    stop_bulk,
)
from runs.core.states import RunStatus
from runs.link import Link
from runs.models import BulkOperation, BulkRun, Event, Run
from runs.selectors.bulk import result_page
from runs.store.read import lock_run
from teams.access import Actor
from teams.models import AuditRecord
from tests.bulk import BROKEN, begin, counts, failed_runs, generations, report
from tests.engine import World
from tests.hands import Hand
from tests.staging import failpoints, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


# ---------------------------------------------------------------------- what it does


def test_every_failed_run_is_resumed_once_and_the_report_says_so(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    runs = failed_runs(world, version, hands[0], 5)
    other = world.start(version).run_id
    bulk = begin(ana, world)
    assert drive() == 5
    assert drive() == 0
    assert counts(bulk) == {"done": 5}
    assert (report(bulk)["status"], generations(runs), generations([other])) == ("done", {2}, {1})
    assert {world.run(run).status for run in runs} == {"running"}
    acts = AuditRecord.objects.filter(action="run.resume", actor_id=ana.id)
    assert {act.target_id for act in acts} == {str(run) for run in runs}
    assert set(Event.objects.filter(type="command", run_id__in=runs).values_list("actor", flat=True)) == {ana.name}
    assert BulkRun.objects.filter(bulk=bulk, actor=ana.name, acted_at__isnull=False).count() == 5


@pytest.mark.parametrize(
    ("operation", "before", "after"),
    [("cancel", [], "cancelled"), ("pause", [], "paused"), ("unpause", ["pause"], "running")],
)
def test_each_operation_does_to_a_run_what_the_single_act_does(
    world: World, version: Version, ana: Actor, operation: str, before: list[str], after: str
) -> None:
    run_id = world.start(version).run_id
    for each in [*before, operation]:
        bulk = begin(ana, world, Selection(ids=[run_id]), operation=each)
        drive()
        assert counts(bulk) == {"done": 1}
    assert world.run(run_id).status == after


def test_a_run_that_changed_meanwhile_is_refused_or_skipped_with_its_reason(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    resumed, cancelling, fine = failed_runs(world, version, hands[0], 3)
    bulk = begin(ana, world)
    for run_id in (resumed, cancelling):
        run = Run.objects.get(id=run_id)
        runs_services.resume_run(actor=ana, run=run, command_id=uuid4(), generation=1)
    held = hands[0].take()
    assert held.run_id == resumed
    hands[0].finish(held, BROKEN)
    hands[0].take()
    runs_services.cancel_run(actor=ana, run=Run.objects.get(id=cancelling), command_id=uuid4())
    drive()
    found = {row.run_id: (row.status, row.code) for row in BulkRun.objects.filter(bulk=bulk)}
    assert found == {
        resumed: ("refused", "generation_changed"),
        cancelling: ("skipped", "not_possible_now"),
        fine: ("done", None),
    }
    assert generations([resumed]) == {2}
    assert counts(bulk) == {"done": 1, "refused": 1, "skipped": 1}
    assert report(bulk)["status"] == "done"


def test_one_run_that_nobody_can_act_on_keeps_no_other_waiting(
    world: World, hands: list[Hand], version: Version, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *rest = failed_runs(world, version, hands[0], 3)
    act = OPERATIONS["resume"].act

    def resume(wanted: Any) -> Any:
        if wanted.run.id == first:
            raise KeyError("a defect")
        return act(wanted)

    monkeypatch.setitem(OPERATIONS, "resume", replace(OPERATIONS["resume"], act=resume))
    bulk = begin(ana, world)
    drive()
    assert counts(bulk) == {"done": 2, "refused": 1}
    assert (generations([first]), generations(rest)) == ({1}, {2})


def test_a_run_that_is_gone_is_skipped_and_its_result_still_told(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    gone, _ = failed_runs(world, version, hands[0], 2)
    bulk = begin(ana, world)
    number = world.run(gone).number
    BulkRun.objects.filter(run_id=gone).update(run_id=uuid4())  # retention took the run away
    drive()
    assert counts(bulk) == {"done": 1, "skipped": 1}
    told = result_page(bulk, status="skipped", limit=10)["items"]
    assert [(item["run"]["number"], item["code"]) for item in told] == [(number, "run_not_found")]


def test_a_run_that_is_locked_just_then_comes_later(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    first, second = failed_runs(world, version, hands[0], 2)
    bulk = begin(ana, world)
    with world.connection.transaction():
        assert lock_run(world.connection, first) is not None
        drive()
        assert counts(bulk) == {"done": 1, "pending": 1}
        assert generations([second]) == {2}
    drive()
    assert counts(bulk) == {"done": 2}


# ---------------------------------------------------------------------- sweepers


def drive_in_a_thread(_: int) -> int:
    try:
        done = 0
        while BulkOperation.objects.filter(status="running").exists():
            done += drive()
        return done
    finally:
        connection.close()


def test_three_sweepers_do_each_run_once(world: World, hands: list[Hand], version: Version, ana: Actor) -> None:
    runs = failed_runs(world, version, hands[0], 30)
    bulk = begin(ana, world)
    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(drive_in_a_thread, range(3))) >= 30
    assert counts(bulk) == {"done": 30}
    assert generations(runs) == {2}
    resumes = Event.objects.filter(type="run.running", run_id__in=runs).values_list("run_id", flat=True)
    assert set(Counter(resumes).values()) == {2}, "its start, and one resume"


def test_a_sweeper_that_dies_after_the_act_and_before_its_commit_has_done_nothing(
    world: World, hands: list[Hand], version: Version, ana: Actor
) -> None:
    runs = failed_runs(world, version, hands[0], 3)
    bulk = begin(ana, world)
    with failpoints("in_bulk@2:raise"), pytest.raises(FailpointHit):
        drive()
    assert counts(bulk) == {"done": 1, "pending": 2}
    assert generations(runs[1:]) == {1}
    drive()
    assert counts(bulk) == {"done": 3}
    assert generations(runs) == {2}


def test_a_commit_whose_reply_is_lost_is_not_done_again(
    world: World, hands: list[Hand], version: Version, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = failed_runs(world, version, hands[0], 2)
    bulk = begin(ana, world)
    commit, lost = connection.connection.commit, []

    def commit_and_lose() -> None:
        commit()
        if not lost and BulkRun.objects.filter(status="done").exists():
            lost.append(True)
            raise OperationalError("the connection was closed")

    monkeypatch.setattr(connection, "_commit", commit_and_lose)
    drive()
    monkeypatch.undo()
    drive()
    assert lost
    assert counts(bulk) == {"done": 2}
    assert generations(runs) == {2}


def test_a_run_that_cannot_be_done_just_now_keeps_no_other_waiting(
    world: World, hands: list[Hand], version: Version, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = failed_runs(world, version, hands[0], 2)
    act = driving._result_of

    def busy(operation: Any, wanted: Any) -> Any:
        if wanted.run.id == first:
            raise OperationalError("lock timeout")
        return act(operation, wanted)

    monkeypatch.setattr(driving, "_result_of", busy)
    bulk = begin(ana, world)
    drive()
    assert (counts(bulk), generations([second])) == ({"done": 1, "pending": 1}, {2})
    monkeypatch.undo()
    drive()
    assert counts(bulk) == {"done": 2}


def test_two_operations_share_the_sweeper(world: World, hands: list[Hand], version: Version, ana: Actor) -> None:
    failed_runs(world, version, hands[0], 2)
    running = [world.start(version).run_id for _ in range(2)]
    slow = begin(ana, world, rate_per_s=0.01)
    other = begin(ana, world, Selection(ids=running), operation="cancel")
    drive()
    assert (counts(slow), counts(other)) == ({"done": 1, "pending": 1}, {"done": 2})


def test_a_stop_waits_for_no_more_than_the_run_that_is_being_done(
    world: World, hands: list[Hand], version: Version, ana: Actor, tmp_path: Any
) -> None:
    failed_runs(world, version, hands[0], 3)
    bulk = begin(ana, world)
    go = tmp_path / "go"
    with failpoints(f"in_bulk@1:pause={go}"), ThreadPoolExecutor(2) as pool:
        driver = pool.submit(drive_in_a_thread, 0)
        with closing(Link(name="look")) as link:
            wait_until(lambda: sessions(link, "state = 'idle in transaction'"))
        stopper = pool.submit(stop_in_a_thread, ana, bulk)
        with closing(Link(name="look")) as link:
            wait_until(lambda: stopper.done() or sessions(link, "wait_event_type = 'Lock'"))
        go.touch()
        stopper.result()
        driver.result()
    assert counts(bulk)["done"] < 3
    assert report(bulk)["status"] == "stopped"


def stop_in_a_thread(ana: Actor, bulk: BulkOperation) -> None:
    try:
        stop_bulk(actor=ana, bulk=bulk)
    finally:
        connection.close()


def sessions(link: Link, which: str) -> bool:
    found = link.connection.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {which}").fetchone()
    return bool(found and found[0])


def test_the_operations_say_which_runs_they_try() -> None:
    for name, operation in OPERATIONS.items():  # a label changes nothing of a run, whatever its status
        assert (RunStatus.SUCCEEDED in operation.applies_to) == (name == "label"), name
