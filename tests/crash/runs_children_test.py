"""Runs inside runs with real workers and a sweeper that are killed between the locks of two runs.

Faults 2, 4 and 8 of the fault matrix, across two runs. What they could bring back: a child that is started twice or
never, an end that nobody hears of (the parent waits for ever) or takes twice, a cancel that leaves a child running.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from builder.workflows.models import Version
from runs.engine.cancel import cancel_run
from runs.engine.control import pause_run, unpause_run
from runs.models import Event, Outbox, Run
from tests.fleet import Fleet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.crash]

KINDS = {"C": "run_workflow"}


def nested(fleet: Fleet, **configs: Any) -> Version:
    """A run that calls another one in each of three items."""
    child = fleet.world.draw(
        "S > A > O", configs={"A": {"value": "{{ run.input * 2 }}"}, "O": {"value": "{{ steps.A.output }}"}, **configs}
    )
    return fleet.world.draw(
        "S > E[C] > K",
        kinds={**KINDS, "E": "map"},
        configs={
            "E": {"items": [1, 2, 3]},
            "C": {"workflow": str(child.workflow_id), "input": "{{ item }}"},
            "K": {"value": "{{ steps.E.output }}"},
        },
    )


def told_once(run_id: UUID) -> bool:
    found = Event.objects.filter(run_id=run_id, type="step.succeeded", path__contains=".C")
    return found.count() == len(set(found.values_list("path", flat=True))) == 3


@pytest.mark.parametrize("number", [1, 2, 4, 6])
def test_a_worker_killed_while_it_delivers_loses_no_child_and_starts_none_twice(
    number: int, process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.worker(threads=1, failpoints=f"in_delivery@{number}?marker={marker}:exit9")
        fleet.worker(threads=1, failpoints=f"in_delivery@{number}?marker={marker}:exit9")
        fleet.sweeper()
        fleet.ready()
        run = fleet.start(nested(fleet))
        fleet.wait_for(run, "succeeded")
        assert fleet.world.output(run, "K") == [2, 4, 6]
        assert Run.objects.filter(parent_run_id=run).count() == 3
        assert told_once(run)
        assert not Outbox.objects.exists()
        fleet.check()


def test_without_a_worker_that_delivers_a_sweeper_does(process_environment: Mapping[str, str], tmp_path: Path) -> None:
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.worker(failpoints="before_wake:raise")
        fleet.sweeper()
        fleet.ready()
        run = fleet.start(nested(fleet))
        fleet.wait_for(run, "succeeded")
        assert told_once(run)
        fleet.check()


def test_a_cancel_reaches_every_child_though_a_sweeper_is_killed_in_it(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.worker()
        fleet.ready()
        run = fleet.start(nested(fleet, A={"value": "{{ run.input }}"}))
        fleet.wait_for(run, "succeeded")
        slow = fleet.world.draw("S > D > O", configs={"D": {"seconds": 3600}, "O": {"value": 1}})
        configs = {"C1": {"workflow": str(slow.workflow_id)}, "C2": {"workflow": str(slow.workflow_id)}}
        run = fleet.start(fleet.world.draw("S > C1 + C2", kinds=KINDS, configs=configs))
        children = Run.objects.filter(parent_run_id=run)
        fleet.wait(lambda: children.filter(waiting_count=1).count() == 2, what="both children to wait")
        with fleet.world.connection.transaction():
            cancel_run(fleet.world.connection, fleet.world.command(run, "cancel"))
        fleet.sweeper(failpoints=f"in_delivery@2?marker={marker}:exit9")
        fleet.wait(marker.exists, what="the sweeper to die")
        fleet.sweeper()
        fleet.wait(lambda: children.filter(status="cancelled").count() == 2, what="both children to be cancelled")
        fleet.wait(lambda: not Outbox.objects.exists(), what="the outbox to be empty")
        fleet.check()


def test_a_pause_reaches_every_child_though_a_sweeper_is_killed_in_it(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.worker()
        fleet.ready()
        slow = fleet.world.draw("S > D > A", configs={"D": {"seconds": 3600}, "A": {"value": 1}}, kinds={"D": "delay"})
        configs = {"C1": {"workflow": str(slow.workflow_id)}, "C2": {"workflow": str(slow.workflow_id)}}
        run = fleet.start(fleet.world.draw("S > C1 + C2", kinds=KINDS, configs=configs))
        children = Run.objects.filter(parent_run_id=run)
        fleet.wait(lambda: children.filter(waiting_count=1).count() == 2, what="both children to wait")
        connection = fleet.world.connection
        with connection.transaction():
            pause_run(connection, fleet.world.command(run, "pause"))
        fleet.sweeper(failpoints=f"in_delivery@2?marker={marker}:exit9")
        fleet.wait(marker.exists, what="the sweeper to die")
        fleet.sweeper()
        fleet.wait(lambda: children.filter(paused_by="parent").count() == 2, what="both children to be paused")
        connection.execute(
            "UPDATE runs_steprun SET not_before = now() WHERE status = 'waiting' AND wait_kind = 'timer'"
        )
        with connection.transaction():
            unpause_run(connection, fleet.world.command(run, "unpause"))
        fleet.wait_for(run, "succeeded")
        assert not Outbox.objects.exists()
        fleet.check()
