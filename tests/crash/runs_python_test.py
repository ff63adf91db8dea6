"""The user's own Python goes on where it stood: its sandbox, its child or its whole worker is killed in the middle."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from builder.graph.model import Policy, Retry
from runs.models import Attempt, Checkpoint, LogChunk, StepRun
from runs.runner.processes import children_of
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

COUNT = 1_000
CODE = """
import time

def main(inputs):
    at = pawl.cursor(start=0)
    first = at.value
    for number in range(first, inputs["count"]):
        print("did", number, flush=True)
        time.sleep(0.01)
        at.move(number + 1)
    return {"first": first, "attempt": pawl.attempt, "previous": pawl.previous and pawl.previous["outcome"]}
"""


@pytest.fixture
def fleet(shared_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path) as fleet:
        for _ in range(2):
            fleet.worker()
        fleet.sweeper()
        fleet.ready()
        yield fleet


def begun(fleet: Fleet) -> UUID:
    code = {"code": CODE, "inputs": {"count": COUNT}, "time_limit_s": 120}
    configs = {"A": code, "O": {"value": "{{ steps.A.output }}"}}
    policy = Policy(retry=Retry(attempts=3, first_delay_s=0.1, on=("*",)))
    return fleet.start(fleet.world.draw("S > A:python > O", configs=configs, policies={"A": policy}))


def position(run: UUID) -> int:
    step = StepRun.objects.get(run_id=run, path="A")
    kept = Checkpoint.objects.filter(step_run_id=step.id, kind="cursor").first()
    return int(json.loads(kept.value)) if kept else 0


def below(pid: int) -> Iterator[int]:
    for child in children_of(pid):
        yield from below(child)
        yield child


def sandbox(fleet: Fleet) -> int:
    """The one process that runs somebody's code."""
    pids = [pid for process in fleet.processes for root in process.pids() for pid in (root, *below(root))]
    found = {pid for pid in pids if b"inside.py" in Path(f"/proc/{pid}/cmdline").read_bytes()}
    (pid,) = found
    return pid


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def did(step: StepRun, *, attempt: int) -> list[int]:
    chunks = LogChunk.objects.filter(step_run_id=step.id, attempt=attempt).order_by("offset")
    lines = "".join(chunk.text for chunk in chunks).splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("did ")]


@pytest.mark.parametrize("who", ["the sandbox", "its child", "its worker"])
def test_a_loop_over_a_thousand_things_goes_on_where_it_stood(fleet: Fleet, who: str) -> None:
    run = begun(fleet)
    fleet.wait(lambda: position(run) >= COUNT // 4, what="a quarter of the loop")
    code = sandbox(fleet)
    if who == "its worker":
        (worker,) = {each.pid for each in fleet.workers() if code in set(below(each.pid))}
        os.kill(worker, signal.SIGKILL)
    else:
        os.kill(code if who == "the sandbox" else parent_of(code), signal.SIGKILL)
    fleet.wait_for(run, "succeeded")
    output = fleet.world.output(run, "A")
    assert COUNT // 4 <= output["first"] < COUNT
    assert output["attempt"] == 2
    assert output["previous"] == ("failed" if who == "the sandbox" else "lost")
    step = StepRun.objects.get(run_id=run, path="A")
    assert Attempt.objects.filter(step_run_id=step.id).count() == 2
    assert did(step, attempt=2) == list(range(output["first"], COUNT)), "what was done is not done again"
    again = max(did(step, attempt=1)) + 1 - output["first"]
    assert again <= (150 if who == "its worker" else 5), "a position is told at once, and stored within a second"
    fleet.check()
