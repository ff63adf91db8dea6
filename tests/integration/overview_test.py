"""The overview's numbers against a plain count of the rows, whatever happened between the sweeper's looks."""

import random
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils.timezone import now

from builder.workflows.models import Version, Workflow
from kit.errors import NotFound
from kit.ids import new_id
from runs.engine.resume import resume_run
from runs.models import Firing, Look, Run, RunHour, StepRun, Trigger
from runs.overview.page import overview
from runs.overview.roll import roll
from teams.access import SYSTEM, person
from teams.models import User
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)


def put_run(version: Version, at: datetime, status: str, *, took_s: float = 10.0, generation: int = 1) -> UUID:
    """A row as the engine leaves it, at any time."""
    done = status in ("succeeded", "failed", "cancelled")
    run = Run.objects.create(
        number=int.from_bytes(uuid4().bytes[:7]), workspace=version.workflow.workspace, workflow=version.workflow,
        version=version, actor="Ana", status=status, generation=generation, run_day=at.date(), created_at=at,
        finished_at=at + timedelta(seconds=took_s) if done else None,
    )  # fmt: skip
    return run.id


def sums(world: World, *, period: str = "7d", workflow: Workflow | None = None) -> Any:
    return overview(SYSTEM, world.workspace, period=period, workflow=workflow)


def forget(world: World) -> None:
    """So that the world's invariants are not asked of runs without steps."""
    Run.objects.filter(workspace=world.workspace, status__in=["running", "paused"]).update(status="cancelled")
    Run.objects.filter(workspace=world.workspace).delete()


@pytest.fixture
def versions(world: World) -> Any:
    yield [world.draw("S > A"), world.draw("S > A")]
    forget(world)


def counted(world: World, since: datetime, workflow: UUID | None = None) -> dict[str, int]:
    rows = Run.objects.filter(workspace=world.workspace, created_at__gte=since)
    rows = rows.filter(workflow_id=workflow) if workflow else rows
    open_ = rows.filter(status__in=["running", "paused", "cancelling"]).count()
    return {"open": open_} | {each: rows.filter(status=each).count() for each in ("succeeded", "failed", "cancelled")}


def assert_exact(world: World, versions: list[Version]) -> None:
    for workflow in (None, versions[0].workflow):
        shown = sums(world, workflow=workflow)
        assert {name: shown["runs"][name] for name in ("open", "succeeded", "failed", "cancelled")} == counted(
            world, shown["since"], workflow.id if workflow else None
        )


def test_counts_are_exact_before_any_look_and_after_each(world: World, versions: list[Version]) -> None:
    chance = random.Random(7)
    began = now()
    for _ in range(120):
        status = chance.choice(["succeeded", "succeeded", "failed", "cancelled", "running"])
        put_run(chance.choice(versions), began - timedelta(hours=chance.uniform(0, 160)), status)
    assert_exact(world, versions)
    while Look.objects.filter(name="hours").count() == 0 or Look.objects.get(name="hours").looked_to < began:
        roll(world.connection)
        assert_exact(world, versions)
    assert RunHour.objects.filter(workspace=world.workspace).count() > 50


def look_until_now(world: World) -> None:
    began = now()
    roll(world.connection)
    while Look.objects.get(name="hours").looked_to < began:
        roll(world.connection)


def test_a_run_that_ends_or_is_resumed_days_later_changes_its_hour(world: World, versions: list[Version]) -> None:
    late = put_run(versions[0], now() - timedelta(days=3), "running")
    failed = put_run(versions[0], now() - timedelta(days=2), "failed")
    look_until_now(world)
    assert sums(world)["runs"]["failed"] == 1
    Run.objects.filter(id=late).update(status="succeeded", finished_at=now())
    Run.objects.filter(id=failed).update(status="running", finished_at=None, generation=2)
    roll(world.connection)
    assert_exact(world, versions)
    Run.objects.filter(id=failed).update(status="succeeded", finished_at=now())
    roll(world.connection)
    assert_exact(world, versions)
    assert sums(world)["runs"]["success_rate"] == 1.0


def test_a_look_that_died_before_its_commit_and_one_that_is_done_twice_change_nothing(
    world: World, versions: list[Version]
) -> None:
    for hours in range(1, 60, 3):
        put_run(versions[hours % 2], now() - timedelta(hours=hours), "failed")
    world.connection.execute("BEGIN")
    roll(world.connection)
    world.connection.execute("ROLLBACK")  # a savepoint inside: what was counted is gone with it
    assert RunHour.objects.count() == 0
    look_until_now(world)
    before = sorted(RunHour.objects.values_list("workflow_id", "hour", "failed"))
    Look.objects.filter(name="hours").update(looked_to=now() - timedelta(days=3))
    look_until_now(world)
    assert sorted(RunHour.objects.values_list("workflow_id", "hour", "failed")) == before


def test_durations_are_of_runs_that_succeeded(world: World, versions: list[Version]) -> None:
    for seconds in (10, 20, 30, 40, 50):
        put_run(versions[0], now() - timedelta(hours=2), "succeeded", took_s=seconds)
    put_run(versions[0], now() - timedelta(hours=2), "failed", took_s=9_000)
    for workflow in (None, versions[0].workflow):
        took = sums(world, period="24h", workflow=workflow)["durations"]
        assert took == {"p50_s": 30.0, "p95_s": pytest.approx(48.0), "sampled": 5, "is_exact": True}


def test_failures_by_step_and_what_resume_saved(world: World) -> None:
    version = world.draw("S > A > X", configs={"X": {"message": "no"}})
    started = world.start(version)
    world.work()
    with world.connection.transaction():
        resume_run(world.connection, world.command(started.run_id, "resume"))
    world.work()
    shown = sums(world, period="24h")
    assert [(each["key"], each["runs"], each["steps"]) for each in shown["failed_steps"]["items"]] == [("X", 1, 1)]
    kept = StepRun.objects.filter(run_id=started.run_id, status="succeeded")
    assert shown["saved"]["runs"] == 1
    assert shown["saved"]["steps"] == kept.count()
    assert shown["saved"]["seconds"] == pytest.approx(
        sum(
            (each.finished_at - each.started_at).total_seconds()
            for each in kept
            if each.finished_at and each.started_at
        )
    )


def test_lanes_say_since_when_the_oldest_step_waits_and_who_serves_them(world: World) -> None:
    world.start(world.draw("S > A"))
    (lane,) = sums(world)["lanes"]
    assert (lane["lane"], lane["workers"], lane["waiting"], lane["running"]) == ("default", 0, 1, 0)
    assert lane["oldest_at"] is not None
    world.work()
    assert sums(world)["lanes"][0]["workers"] == 1
    assert sums(world)["lanes"][0]["waiting"] == 0


def test_next_and_missed_firings_are_those_of_the_workspace_or_of_the_workflow(world: World) -> None:
    version, other = world.draw("S > A"), world.draw("S > A")
    trigger = Trigger.objects.create(
        workspace=world.workspace, workflow=version.workflow, kind="schedule", name="nightly",
        settings='{"cron": "0 2 * * *"}', next_at=now() + timedelta(hours=3), created_at=now(), updated_at=now(),
    )  # fmt: skip
    Firing.objects.create(
        trigger=trigger, key="t", status="missed", reason="late", due_at=now() - timedelta(hours=2), created_at=now()
    )
    shown = sums(world, period="24h")
    assert [each["trigger"]["name"] for each in shown["next"]] == ["nightly"]
    assert (shown["amiss"]["count"], shown["amiss"]["items"][0]["reason"]) == (1, "late")
    of_other = sums(world, period="24h", workflow=other.workflow)
    assert (of_other["next"], of_other["amiss"]["count"]) == ([], 0)
    trigger.delete()


def test_a_stranger_sees_no_overview(world: World) -> None:
    stranger = User.objects.create_user(f"{new_id().hex}@example.com", "long enough a word")
    with pytest.raises(NotFound):
        overview(person(stranger), world.workspace, period="24h")
