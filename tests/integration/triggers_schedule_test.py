"""Schedules on a real database: one firing a tick whatever the number of sweepers, missed ticks, overlaps, edits."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from runs.link import Link
from runs.models import Firing, Run, Trigger
from runs.triggers import services
from runs.triggers.errors import BackfillTooLarge, BackfillTooOld, BadTrigger
from runs.triggers.sweep import Forgetting, fire_due
from teams.access import SYSTEM
from tests.engine import World
from tests.staging import failpoints

pytestmark = pytest.mark.django_db(transaction=True)

MINUTELY = {"cron": "* * * * *"}


def scheduled(world: World, *, drawing: str = "S > O", **settings: Any) -> Trigger:
    version = world.draw(drawing)
    return services.create_trigger(
        actor=SYSTEM, workflow=version.workflow, kind="schedule", name="nightly", settings={**MINUTELY, **settings}
    )


def slept(trigger: Trigger, *, minutes: float) -> None:
    """The service was down: the last decision about the schedule is so long ago."""
    past = now() - timedelta(minutes=minutes)
    Trigger.objects.filter(id=trigger.id).update(decided_to=past, next_at=past)


def now() -> datetime:
    return datetime.now(UTC)


def ledger(trigger: Trigger) -> list[tuple[str, str | None]]:
    rows = Firing.objects.filter(trigger=trigger).order_by("due_at")
    return [(row.status, row.reason) for row in rows]


def counts(trigger: Trigger) -> dict[str, int]:
    found = [status for status, _ in ledger(trigger)]
    return {status: found.count(status) for status in set(found)}


@pytest.fixture
def links() -> Iterator[list[Link]]:
    links = [Link(name=f"sweeper {n}") for n in range(4)]
    yield links
    for link in links:
        link.close()


def test_an_input_with_half_a_character_comes_back_as_it_was(world: World) -> None:
    trigger = scheduled(world, input={"\ud800": "\udfff"})
    assert json.loads(trigger.settings)["input"] == {"\ud800": "\udfff"}


def test_a_due_tick_starts_a_run_that_says_by_whom(world: World) -> None:
    trigger = scheduled(world, input={"batch": 9007199254740993})
    assert fire_due(world.connection) == 0  # nothing was due yet
    slept(trigger, minutes=1)
    assert fire_due(world.connection) == 1
    run = Run.objects.get(trigger_id=trigger.id)
    assert (run.trigger, run.actor, json.loads(run.input)) == ("schedule", "schedule nightly", {"batch": 2**53 + 1})
    world.work()
    assert world.run(run.id).status == "succeeded"


def test_five_hundred_ticks_and_four_sweepers_start_five_hundred_runs(world: World, links: list[Link]) -> None:
    trigger = scheduled(world, overlap="allow", misfire="all", misfire_limit=100)
    begin = now() - timedelta(minutes=500)
    made = services.backfill(actor=SYSTEM, trigger=trigger, begin=begin, end=now())
    assert made.ticks == made.queued == 500

    def sweep(link: Link) -> int:
        started = 0
        while link.connection.execute("SELECT FROM runs_firing WHERE status = 'queued' LIMIT 1").fetchone() is not None:
            started += fire_due(link.connection)
        return started

    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(sweep, links))
    assert sum(started) >= 500
    runs = Run.objects.filter(trigger_id=trigger.id)
    fired = Firing.objects.filter(trigger=trigger, status="fired")
    assert runs.count() == fired.count() == len(set(fired.values_list("run_id", flat=True)))
    assert fired.filter(is_backfill=True).count() == 500


def test_several_sweepers_decide_a_tick_once(world: World, links: list[Link]) -> None:
    trigger = scheduled(world, overlap="allow", misfire="all", misfire_limit=50)
    slept(trigger, minutes=50)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda link: [fire_due(link.connection) for _ in range(5)], links))
    while fire_due(world.connection):
        pass  # what the others left, who stepped back from each other
    keys = list(Firing.objects.filter(trigger=trigger).values_list("key", flat=True))
    assert 50 <= len(keys) == len(set(keys)) <= 52  # as minutes pass meanwhile
    assert Run.objects.filter(trigger_id=trigger.id).count() == len(keys)


def test_a_tick_that_is_in_the_ledger_is_not_fired_again_although_its_time_comes_back(world: World) -> None:
    trigger = scheduled(world, overlap="allow", misfire="all", misfire_limit=50)
    for _ in range(2):
        slept(trigger, minutes=10)
        fire_due(world.connection)
        fire_due(world.connection)
    runs = Run.objects.filter(trigger_id=trigger.id).count()
    ticks = Firing.objects.filter(trigger=trigger).count()
    assert 10 <= runs == ticks <= 11, f"{runs} runs for {ticks} ticks"


# ---------------------------------------------------------------------- missed


@pytest.mark.parametrize(("misfire", "fired"), [("skip", 0), ("run_once", 1), ("all", 3)])
def test_what_was_missed_is_in_the_ledger_and_the_policy_has_the_word(world: World, misfire: str, fired: int) -> None:
    half_an_hour_ago = (now().minute + 30) % 60
    trigger = scheduled(world, cron=f"{half_an_hour_ago} * * * *", overlap="allow", misfire=misfire, misfire_limit=3)
    slept(trigger, minutes=6 * 60)
    fire_due(world.connection)
    assert counts(trigger).get("fired", 0) == fired
    assert counts(trigger).get("missed", 0) == 6 - fired
    assert {reason for _, reason in ledger(trigger)} == {"late"}


def test_a_monthly_schedule_whose_minute_was_missed_runs_late_and_says_so(world: World) -> None:
    """n8n-io/n8n#34628: down at the one due minute, it ran a whole period later, and nothing told of it."""
    trigger = scheduled(world, cron="0 0 1 * *")
    first = now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    before = first - timedelta(minutes=5)
    Trigger.objects.filter(id=trigger.id).update(decided_to=before, next_at=first)
    fire_due(world.connection)
    firing = Firing.objects.get(trigger=trigger)
    assert (firing.status, firing.due_at) == ("fired", first)
    assert firing.reason == "late"
    assert Trigger.objects.get(id=trigger.id).next_at > now()


def test_a_backfill_runs_what_was_missed_once_however_often_it_is_asked_for(world: World) -> None:
    trigger = scheduled(world, cron="0 * * * *", overlap="queue", misfire="skip")
    begin, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 4, tzinfo=UTC)
    asked = [services.backfill(actor=SYSTEM, trigger=trigger, begin=begin, end=end) for _ in range(3)]
    assert [(each.ticks, each.queued) for each in asked] == [(5, 5), (5, 0), (5, 0)]
    for _ in range(6):
        fire_due(world.connection)
        assert Run.objects.filter(trigger_id=trigger.id, status="running").count() <= 1
        world.work()
    assert counts(trigger) == {"fired": 5}
    again = services.backfill(actor=SYSTEM, trigger=trigger, begin=begin, end=end)
    assert (again.ticks, again.queued) == (5, 0)


def test_a_backfill_has_a_bound_and_no_future(world: World) -> None:
    trigger = scheduled(world)
    with pytest.raises(BackfillTooLarge):
        services.backfill(actor=SYSTEM, trigger=trigger, begin=now() - timedelta(days=2), end=now())
    ahead = services.backfill(
        actor=SYSTEM, trigger=trigger, begin=now() + timedelta(hours=1), end=now() + timedelta(hours=2)
    )
    assert ahead.ticks == 0


def test_the_ledger_forgets_what_had_no_run_or_lost_it_and_back_fills_nothing_from_before(
    world: World, settings: Any
) -> None:
    trigger = scheduled(world, cron="0 * * * *")
    _due(world, trigger, 4)
    fire_due(world.connection)
    firings = Firing.objects.filter(trigger=trigger).order_by("due_at")
    world.connection.execute("UPDATE runs_firing SET created_at = created_at - interval '40 days'")
    world.connection.execute(
        "UPDATE runs_firing SET status = 'missed', reason = 'late' WHERE id = %s", (firings[2].id,)
    )
    world.connection.execute(
        "UPDATE runs_firing SET status = 'fired', run_id = gen_random_uuid() WHERE id = %s", (firings[3].id,)
    )
    assert Forgetting().look(world.connection, days=0) == Forgetting().look(world.connection, days=41) == 0
    assert Forgetting().look(world.connection, days=30) == 2
    assert [status for status, _ in ledger(trigger)] == ["fired", "queued"]
    settings.RETENTION_DAYS = 30
    with pytest.raises(BackfillTooOld):
        services.backfill(actor=SYSTEM, trigger=trigger, begin=now() - timedelta(days=31), end=now())


# ---------------------------------------------------------------------- overlap


def test_while_a_run_goes_on_the_next_tick_waits(world: World) -> None:
    trigger = scheduled(world, overlap="queue")
    _due(world, trigger, 3)
    fire_due(world.connection)
    assert counts(trigger) == {"fired": 1, "queued": 2}
    world.work()
    fire_due(world.connection)
    assert counts(trigger) == {"fired": 2, "queued": 1}
    assert Run.objects.filter(trigger_id=trigger.id, status="running").count() == 1


def test_while_a_run_goes_on_the_next_tick_is_skipped_and_the_ledger_says_so(world: World) -> None:
    trigger = scheduled(world, overlap="skip")
    _due(world, trigger, 1)
    fire_due(world.connection)
    _due(world, trigger, 2)
    fire_due(world.connection)
    assert counts(trigger) == {"fired": 1, "skipped": 2}
    assert Firing.objects.filter(trigger=trigger, status="skipped", reason="still_running").count() == 2


def test_the_next_tick_cancels_the_other_run_and_starts_when_that_has_ended(world: World) -> None:
    trigger = scheduled(world, overlap="cancel_other")
    _due(world, trigger, 1)
    fire_due(world.connection)
    first = Run.objects.get(trigger_id=trigger.id)
    _due(world, trigger, 2)
    fire_due(world.connection)
    assert world.run(first.id).status == "cancelled"
    fire_due(world.connection)
    assert counts(trigger) == {"fired": 2, "skipped": 1}
    assert Run.objects.get(trigger_id=trigger.id, status="running").id != first.id


def test_a_cancel_that_a_dying_sweeper_left_out_is_done_by_the_next(world: World) -> None:
    trigger = scheduled(world, overlap="cancel_other")
    _due(world, trigger, 1)
    fire_due(world.connection)
    first = Run.objects.get(trigger_id=trigger.id)
    _due(world, trigger, 1)
    with failpoints("after_firing:raise"):
        fire_due(world.connection)
    assert world.run(first.id).status == "running"
    fire_due(world.connection)
    assert world.run(first.id).status == "cancelled"


def test_two_sweepers_at_once_start_no_second_run_where_one_is_open(world: World, links: list[Link]) -> None:
    trigger = scheduled(world, overlap="queue")
    for _ in range(6):
        _due(world, trigger, 2)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda link: fire_due(link.connection), links))
        assert Run.objects.filter(trigger_id=trigger.id, status="running").count() == 1
        while fire_due(world.connection) or Firing.objects.filter(trigger=trigger, status="queued").exists():
            world.work()
        world.work()


def _due(world: World, trigger: Trigger, count: int) -> None:
    """That many ticks wait in the ledger, as a sweeper put them there."""
    last = Firing.objects.filter(trigger=trigger).count()
    for n in range(last, last + count):
        Firing.objects.create(
            trigger=trigger,
            key=f"tick {n}",
            status="queued",
            due_at=now() - timedelta(minutes=60 - n),
            created_at=now(),
        )


# ---------------------------------------------------------------------- people


def test_saving_a_schedule_ten_times_makes_no_second_timer_and_loses_no_tick(world: World) -> None:
    """n8n-io/n8n PR 27105, #27103: each save of an active workflow registered one more timer."""
    trigger = scheduled(world, overlap="allow", misfire="all", misfire_limit=50)
    slept(trigger, minutes=10)
    for n in range(10):
        trigger = Trigger.objects.get(id=trigger.id)
        services.change_trigger(
            actor=SYSTEM, trigger=trigger, settings={**MINUTELY, "overlap": "allow", "misfire": "all", "input": n}
        )
    fire_due(world.connection)
    fire_due(world.connection)
    assert 10 <= counts(trigger)["fired"] <= 11
    assert Run.objects.filter(trigger_id=trigger.id).count() == counts(trigger)["fired"]


def test_other_times_begin_when_they_are_saved_and_what_was_due_before_still_runs(world: World) -> None:
    trigger = scheduled(world, overlap="allow", misfire="all", misfire_limit=50)
    slept(trigger, minutes=5)
    services.change_trigger(actor=SYSTEM, trigger=trigger, settings={"cron": "0 0 1 1 *", "overlap": "allow"})
    fire_due(world.connection)
    assert set(counts(trigger)) == {"fired"}
    assert counts(trigger)["fired"] in (5, 6)
    assert (Trigger.objects.get(id=trigger.id).next_at or now()).month == 1


def test_a_disabled_schedule_fires_nothing_and_gives_up_its_queue(world: World) -> None:
    trigger = scheduled(world)
    slept(trigger, minutes=5)
    services.change_trigger(actor=SYSTEM, trigger=trigger, enabled=False)
    fire_due(world.connection)
    assert not Run.objects.filter(trigger_id=trigger.id).exists()
    assert set(counts(trigger)) <= {"skipped", "missed"}
    assert Trigger.objects.get(id=trigger.id).next_at is None
    services.change_trigger(actor=SYSTEM, trigger=Trigger.objects.get(id=trigger.id), enabled=True)
    assert Firing.objects.filter(trigger=trigger, status="queued").count() == 0


def test_a_deleted_schedule_fires_nothing_and_its_runs_stay(world: World) -> None:
    """n8n-io/n8n#15791: the timer of a deleted schedule went on."""
    trigger = scheduled(world)
    slept(trigger, minutes=1)
    fire_due(world.connection)
    trigger_id = trigger.id
    services.delete_trigger(actor=SYSTEM, trigger=Trigger.objects.get(id=trigger_id))
    assert fire_due(world.connection) == 0
    assert Run.objects.get(trigger_id=trigger_id).actor == "schedule nightly"


@pytest.mark.parametrize("obstacle", ["archived", "unpublished", "input"])
def test_what_cannot_start_is_failed_in_the_ledger_with_its_reason(world: World, obstacle: str) -> None:
    trigger = scheduled(world)
    workflow = trigger.workflow
    if obstacle == "archived":
        type(workflow).objects.filter(id=workflow.id).update(archived_at=now())
    elif obstacle == "unpublished":
        other = type(workflow).objects.create(workspace=world.workspace, name="empty")
        Trigger.objects.filter(id=trigger.id).update(workflow=other)
    else:
        graph = json.loads(workflow.versions.get().graph)
        start = next(node for node in graph["nodes"] if node["kind"] == "start")
        start["config"] = {"input_schema": {"type": "object", "required": ["total"]}}
        workflow.versions.create(number=2, graph=json.dumps(graph))
    slept(trigger, minutes=1)
    fire_due(world.connection)
    firing = Firing.objects.filter(trigger=trigger).order_by("due_at")[0]
    reasons = {"archived": "target_archived", "unpublished": "target_not_published", "input": "bad_run_input"}
    assert (firing.status, firing.reason) == ("failed", reasons[obstacle])
    assert firing.detail
    assert not Run.objects.filter(trigger_id=trigger.id).exists()


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"cron": "0 0 30 2 *"}, "settings.cron"),
        ({"cron": "* * * * * *"}, "settings.cron"),
        ({"cron": "0 0 * * *", "zone": "Mars"}, "settings.zone"),
        ({"cron": "0 0 * * *", "overlap": "maybe"}, "settings.overlap"),
        ({"cron": "0 0 * * *", "misfire_limit": 0}, "settings.misfire_limit"),
        ({"cron": "0 0 * * *", "speed": 1}, "settings.speed"),
        ({}, "settings.cron"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(world: World, settings: dict[str, Any], field: str) -> None:
    with pytest.raises(BadTrigger) as refused:
        services.create_trigger(
            actor=SYSTEM, workflow=world.draw("S > O").workflow, kind="schedule", name="x", settings=settings
        )
    assert refused.value.data["fields"][0]["field"] == field
    assert not Trigger.objects.exists()


def test_a_sweeper_that_dies_in_the_middle_of_a_firing_leaves_it_to_the_next(world: World) -> None:
    trigger = scheduled(world)
    slept(trigger, minutes=1)
    with failpoints("in_firing:raise"):
        assert fire_due(world.connection) == 0
    assert not Firing.objects.filter(trigger=trigger).exists()
    assert fire_due(world.connection) == 1
    assert Run.objects.filter(trigger_id=trigger.id).count() == counts(trigger)["fired"] == 1
