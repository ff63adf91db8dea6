"""Workflows as wide and as deep as real ones, with real workers; the largest with a worker killed in the middle.

What they could bring back: a join of hundreds that is decided twice or never, a run that slows down with its width.
"""

import time
from collections.abc import Iterator, Mapping

import pytest

from runs.models import Event, StepRun
from tests import shapes
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

SHORTEST_S = 1.0  # what the critical path is scaled down to
SHAPES = {
    "seismology": shapes.seismology(pairs=200),
    "genome": shapes.genome(chromosomes=4, parts=10),
    "epigenomics": shapes.epigenomics(lanes=2, chunks=20),
    "soykb": shapes.soykb(samples=6, chunks=10),
    "pipeline": shapes.pipeline(samples=12),
    "montage": shapes.montage(images=15, overlaps=60),
}
LARGEST, SLOWEST_STEPS_S = shapes.montage(images=108, overlaps=1890), 20


@pytest.fixture(scope="module")
def fleet(shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path_factory.mktemp("fleet")) as fleet:
        fleet.is_supervised = True
        for _ in range(2):
            fleet.worker(threads=8)
        fleet.sweeper()
        fleet.ready()
        yield fleet


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_real_shape_runs_each_task_once_after_all_that_it_needs(fleet: Fleet, name: str) -> None:
    tasks = SHAPES[name]
    scale = SHORTEST_S / shapes.critical_path_s(tasks)
    run = fleet.start(fleet.world.publish(shapes.graph_of(tasks, kind="test_nap", scale=scale)))
    fleet.wait_for(run, "succeeded")
    started = dict(Event.objects.filter(run_id=run, type="step.running").values_list("path", "seq"))
    ended = dict(Event.objects.filter(run_id=run, type="step.succeeded").values_list("path", "seq"))
    assert Event.objects.filter(run_id=run, type="step.running").count() == len(started) == len(tasks)
    for task in tasks:
        assert started[task.name] > max((ended[parent] for parent in task.parents), default=0)
    fleet.check()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_thousand_tasks_in_one_run_keep_their_pace_and_survive_a_kill_in_the_middle(fleet: Fleet) -> None:
    graph = shapes.graph_of(LARGEST, kind="pass_through", config_of={"value": 1})
    began = time.monotonic()
    run = fleet.start(fleet.world.publish(graph))
    done = StepRun.objects.filter(run_id=run, status="succeeded")
    fleet.wait(lambda: done.count() > len(LARGEST) / 2, what="half of the tasks")
    fleet.processes[0].kill()
    fleet.wait_for(run, "succeeded", patience_s=len(LARGEST) / SLOWEST_STEPS_S)
    print(f"{len(LARGEST) / (time.monotonic() - began):.0f} steps a second")
    lost = StepRun.objects.filter(run_id=run, attempt=2).count()
    assert Event.objects.filter(run_id=run, type="step.running").count() == len(LARGEST) + lost
    assert lost <= 8
    fleet.check()
