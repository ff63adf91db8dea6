"""kill -9 of the worker at each named point between claim and wake-up: another worker goes on, and nothing runs twice.

Faults 2, 4, 5, 6, 7, 8 of the fault matrix. What each point could bring back: a step that is lost (claimed by the dead,
finished and never followed), one that runs again after its success, events with a gap, counters that lie.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fleet import Fleet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.crash]

# point -> whether the killed attempt's body may have begun (it then runs once more)
POINTS = {
    "after_claim": False,
    "before_finish": True,
    "in_finish": True,
    "after_finish": False,
    "before_wake": False,
    "after_upload": True,
}
BIG = "x" * 20_000  # larger than a row holds: uploaded before the finish


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_point_costs_at_most_one_attempt(
    point: str, process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    with Fleet(process_environment, tmp_path) as fleet:
        version = fleet.world.draw(
            "S > A > E[Y] > J > O",
            configs={
                "A": {"value": BIG},
                "E": {"items": [1, 2, 3]},
                "Y": {"value": "{{ item }}"},
                "J": {"value": "{{ steps.E.output }}"},
            },
        )
        hit = "" if point in ("after_claim", "after_upload") else "@2"  # these are passed once by each worker
        failpoints = f"{point}{hit}?marker={marker}:exit9"
        for _ in range(2):
            fleet.worker(failpoints=failpoints)
        fleet.sweeper()
        started = fleet.world.start(version)
        fleet.announce(started)
        fleet.wait_for(started.run_id, "succeeded")
        assert marker.exists(), f"the point {point} was never reached"
        assert fleet.world.output(started.run_id, "J") == [1, 2, 3]
        attempts = {path: step.attempt for path, step in fleet.world.steps(started.run_id).items() if path != "S"}
        assert sum(attempts.values()) <= len(attempts) + 1
        begun = fleet.launches()
        assert sum(begun.values()) <= len(attempts) + POINTS[point]
        fleet.check()
