"""kill -9 of sweepers in the middle of firings: each tick and each end of a run starts one run, whoever dies.

Row 38 of the fault matrix for triggers. What it could bring back: a tick that two sweepers fire, one that is lost
between the ledger and its run, a run that the end of another starts twice or never, a cancel that nobody does.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runs.models import Firing, Run, Trigger
from runs.triggers import services
from teams.access import SYSTEM
from tests.fleet import Fleet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.crash]

TICKS = 40


def test_sweepers_that_die_while_they_fire_start_each_run_once(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    with Fleet(process_environment, tmp_path) as fleet:
        first, second = fleet.world.draw("S > O"), fleet.world.draw("S > O")
        schedule = services.create_trigger(
            actor=SYSTEM, workflow=first.workflow, kind="schedule", name="often",
            settings={"cron": "0 0 1 1 *", "overlap": "allow"},
        )  # fmt: skip
        after = services.create_trigger(
            actor=SYSTEM, workflow=second.workflow, kind="run_end", name="after",
            settings={"source": str(first.workflow_id)},
        )  # fmt: skip
        past = datetime(2026, 1, 1, tzinfo=UTC)
        Firing.objects.bulk_create(
            Firing(
                trigger=schedule, key=f"tick {n}", status="queued", due_at=past + timedelta(hours=n), created_at=past
            )
            for n in range(TICKS)
        )
        fleet.worker()
        dying = [
            fleet.sweeper(failpoints=f"{point}@{hit}?marker={tmp_path / point}:exit9")
            for point, hit in (("in_firing", 7), ("after_firing", 11))
        ]
        fleet.wait(lambda: all(not each.is_up for each in dying), what="the deaths of two sweepers")
        for _ in range(2):
            fleet.sweeper()
        fleet.wait(
            lambda: Run.objects.filter(trigger_id=after.id, status="succeeded").count() >= TICKS, what="all runs"
        )
        assert Run.objects.filter(trigger_id=schedule.id).count() == TICKS
        assert Run.objects.filter(trigger_id=after.id).count() == TICKS
        assert Firing.objects.filter(status="fired").count() == 2 * TICKS
        assert not Firing.objects.exclude(status="fired").exists()
        fleet.check()


def test_a_time_at_which_no_sweeper_was_there_is_in_the_ledger_and_one_late_run_makes_up_for_all(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    with Fleet(process_environment, tmp_path) as fleet:
        trigger = services.create_trigger(
            actor=SYSTEM, workflow=fleet.world.draw("S > O").workflow, kind="schedule", name="hourly",
            settings={"cron": "0 * * * *", "misfire": "run_once"},
        )  # fmt: skip
        down_since = datetime.now(UTC) - timedelta(hours=5)
        Trigger.objects.filter(id=trigger.id).update(decided_to=down_since, next_at=down_since)
        fleet.worker()
        fleet.sweeper()
        run = fleet.wait(lambda: Run.objects.filter(trigger_id=trigger.id).first(), what="the late run")
        fleet.wait_for(run.id, "succeeded")
        ledger = list(Firing.objects.filter(trigger=trigger).order_by("due_at").values_list("status", flat=True))
        assert ledger == ["missed"] * (len(ledger) - 1) + ["fired"]
        assert len(ledger) in (5, 6)
        fleet.check()
