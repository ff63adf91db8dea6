"""Limits, turns and kinds with real workers: nothing is exceeded, nobody starves, and no room stays with the dead.

Faults 45, 57 and 58 of the fault matrix, and the slot that a cancelled run kept (A36 of the reported cases).
"""

import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import UUID

import pytest

from builder.graph.model import Policy, Retry
from runs.core.limits import workflow_limit
from runs.engine.cancel import cancel_run
from runs.engine.limits import set_limit
from runs.models import Attempt, StepRun
from runs.selectors.steps import step_for, why_not
from teams.models import Workspace
from tests.bench.flood import drain, flood
from tests.extra_kinds import FLEETS
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

FLOOD, OTHERS = 50_000, 20


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(shared_environment, folder) as fleet:
        yield fleet


def cancel(fleet: Fleet, run_id: UUID) -> None:
    with fleet.world.connection.transaction():
        cancel_run(fleet.world.connection, fleet.world.command(run_id, "cancel"))


@pytest.mark.parametrize("dies", [False, True], ids=["its worker lives", "its worker is dead"])
def test_after_a_cancel_the_next_run_of_a_limited_workflow_begins_within_five_seconds(fleet: Fleet, dies: bool) -> None:
    version = fleet.world.draw("S > A:test_sleep > O", configs={"A": {"value": 60}})
    set_limit(fleet.world.connection, workflow_limit(version.workflow_id), 1, actor="test")
    worker = fleet.worker(threads=1)
    first = fleet.start(version)
    fleet.wait_for_step(first, "A", "running")
    fleet.worker(threads=1)
    fleet.sweeper()
    second = fleet.start(version)
    time.sleep(1.5)
    assert fleet.world.statuses(second)["A"] == "ready"
    if dies:
        worker.kill()
    cancel(fleet, first)
    began = time.monotonic()
    fleet.wait_for(first, "cancelled")
    fleet.wait_for_step(second, "A", "running")
    assert time.monotonic() - began < 5
    cancel(fleet, second)
    fleet.wait_for(second, "cancelled")
    fleet.check()


def test_no_more_bodies_run_at_once_than_a_key_allows_although_workers_die(fleet: Fleet, tmp_path: Path) -> None:
    version = fleet.world.draw(
        "S > A:test_sleep > O", configs={"A": {"value": 0.3}}, policies={"A": Policy(limit_key="erp", limit_at_most=2)}
    )
    workers = [fleet.worker(threads=3), fleet.worker(threads=3)]
    fleet.sweeper()
    fleet.ready()
    runs = [fleet.start(version) for _ in range(12)]
    seen = 0
    killed = False
    while not all(fleet.world.run(run_id).status == "succeeded" for run_id in runs):
        running = StepRun.objects.filter(status="running", limit_key="erp").count()
        seen = max(seen, running)
        if running == 2 and not killed:
            workers[0].kill()
            killed = True
        fleet.wait(lambda: True, what="a moment")
        time.sleep(0.02)
    assert (seen, killed) == (2, True)
    fleet.check()


def test_a_workspace_that_floods_keeps_nobody_else_waiting_for_five_seconds(fleet: Fleet) -> None:
    """50,000 steps in line, two threads: somebody else's step starts as soon as a thread is free."""
    world = fleet.world
    flooding = world.draw("S > A:test_echo")
    flood(world.connection, flooding, runs=FLOOD)
    fleet.worker(threads=2)
    fleet.sweeper()
    fleet.ready()
    fleet.wait(lambda: Attempt.objects.exclude(worker=None).exists(), what="the flood's first steps")
    world.workspace = Workspace.objects.create(slug="small", name="Small")
    version = world.draw("S > A:test_echo")
    runs = []
    for _ in range(OTHERS):
        runs.append(fleet.start(version))
        time.sleep(0.25)
    for run_id in runs:
        fleet.wait_for(run_id, "succeeded")
    waits = sorted(
        (step.started_at - step.ready_at).total_seconds() for step in StepRun.objects.filter(run_id__in=runs, path="A")
    )
    left = StepRun.objects.filter(status="ready").count()
    for process in fleet.processes:
        process.kill()
    drain(world.connection, flooding)
    assert left > FLOOD / 10, f"the flood was gone: {left} left of it"
    assert waits[int(len(waits) * 0.95)] < 5


def test_a_kind_that_old_workers_lack_waits_for_a_new_one_and_says_so(fleet: Fleet) -> None:
    version = fleet.world.draw("S > A > B:test_echo > C > O")
    old = fleet.worker(PAWL_EXTRA_STEPS="")
    fleet.sweeper()
    fleet.ready()
    run_id = fleet.start(version)
    fleet.wait_for_step(run_id, "A", "succeeded")
    time.sleep(2.5)  # longer than the sweeper takes to wake whoever may
    run = fleet.world.run(run_id)
    assert fleet.world.statuses(run_id)["B"] == "ready"
    assert str(why_not(run, step_for(run, "B"))).startswith("Ready: no capable worker.")
    fleet.worker(PAWL_EXTRA_STEPS=FLEETS)
    fleet.wait_for(run_id, "succeeded")
    assert old.is_up
    assert {path: step.attempt for path, step in fleet.world.steps(run_id).items() if step.attempt} == {
        "A": 1, "B": 1, "C": 1, "O": 1,
    }  # fmt: skip
    fleet.check()


def test_an_old_worker_opens_items_of_a_kind_that_it_lacks_for_a_new_one(fleet: Fleet) -> None:
    """It cannot know what such a step may do twice, so it leaves it at most once."""
    version = fleet.world.draw("S > E[Y:test_echo] > O", configs={"E": {"items": [1, 2, 3]}})
    fleet.worker(PAWL_EXTRA_STEPS="")
    fleet.sweeper()
    fleet.ready()
    run_id = fleet.start(version)
    fleet.wait_for_step(run_id, "E", "waiting")
    assert fleet.world.steps(run_id)["E[0].Y"].delivery == "at_most_once"
    fleet.worker(PAWL_EXTRA_STEPS=FLEETS)
    fleet.wait_for(run_id, "succeeded")
    fleet.check()


class TooMany(BaseHTTPRequestHandler):
    """Says 429 and 'come again in 2 s' to each path once, then 200."""

    asked: set[str] = set()

    def do_GET(self) -> None:
        known = self.path in self.asked
        self.asked.add(self.path)
        self.send_response(200 if known else 429)
        if not known:
            self.send_header("Retry-After", "2")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def too_many() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), TooMany)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_two_hundred_steps_that_are_told_to_come_again_hold_no_thread_meanwhile(fleet: Fleet, too_many: int) -> None:
    address = f"http://127.0.0.1:{too_many}"
    version = fleet.world.draw(
        "S > E[Y:http_request] > O",
        configs={
            "E": {"items": "{{ range(200) | list }}", "window": 200, "on_item_failure": "continue"},
            "Y": {"method": "GET", "url": address + "/{{ item }}"},
        },
        policies={"Y": Policy(retry=Retry(attempts=2, first_delay_s=0.1))},
    )
    plain = fleet.world.draw("S > A > O")
    fleet.worker(threads=4, PAWL_OUTBOUND_ALLOW=f"127.0.0.1:{too_many}")
    fleet.sweeper()
    fleet.ready()
    run_id = fleet.start(version)
    waiting = StepRun.objects.filter(run_id=run_id, status="retry_wait")
    fleet.wait(lambda: waiting.count() >= 50, what="steps that were told to come again")
    other = fleet.start(plain)
    fleet.wait_for(other, "succeeded")
    assert waiting.exists(), "it came only after the others had stopped waiting"
    fleet.wait_for(run_id, "succeeded", patience_s=90)
    ends = {}
    for attempt in Attempt.objects.filter(run_id=run_id).exclude(worker=None).order_by("number"):
        if attempt.number == 1 and attempt.outcome == "failed":
            ends[attempt.step_run_id] = attempt.finished_at
        elif attempt.step_run_id in ends:
            assert (attempt.started_at - ends[attempt.step_run_id]).total_seconds() >= 2, "Retry-After is respected"
    assert len(ends) == 200
    fleet.check()
