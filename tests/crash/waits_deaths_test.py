"""Callbacks and limits in real processes: early, late, five times at once, while workers and sweepers die.

Faults 47, 48 of the fault matrix. What they could bring back: a callback that is used twice or lost, a wait that stays
open although its answer came, a step that waits for a worker for ever.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings

from builder.graph.model import Policy
from config.services import ports
from kit.clock import monotonic_s
from runs.engine.callback import issue
from runs.models import Callback, Event
from tests.fleet import Fleet

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.crash]

DRAWING = "S > A > K:wait_for_callback > B"


def token_of(fleet: Fleet, run_id: UUID) -> str:
    return issue(fleet.world.connection, run_id, {"it": "K"}, secret=settings.SECRET_KEY)["it"]


def post(port: int, token: str, body: object) -> str:
    """As the outside, by HTTP: the result, or the code of the refusal."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/callbacks/{token}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return str(json.load(answer)["result"])
    except urllib.error.HTTPError as problem:
        return str(json.load(problem)["code"])


@pytest.mark.parametrize("point", ["before_finish@2", "in_finish@2", "after_finish@2"])
def test_an_early_callback_is_used_once_though_the_worker_dies_where_its_wait_would_open(
    point: str, process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    marker = tmp_path / "died"
    port = ports.free_port()
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.web(port)
        version = fleet.world.draw(DRAWING, configs={"K": {}})
        started = fleet.world.start(version)
        assert post(port, token_of(fleet, started.run_id), "early") == "kept"
        fleet.worker(failpoints=f"{point}?marker={marker}:exit9", threads=1)
        fleet.worker(failpoints=f"{point}?marker={marker}:exit9", threads=1)
        fleet.sweeper()
        fleet.announce(started)
        fleet.wait_for(started.run_id, "succeeded")
        assert marker.exists(), "nobody died"
        assert fleet.world.output(started.run_id, "K") == "early"
        assert Event.objects.filter(run_id=started.run_id, path="K", type="step.succeeded").count() == 1
        assert Callback.objects.get(run_id=started.run_id).used_at is not None
        fleet.check()


def test_of_five_callbacks_at_any_moment_one_counts_though_a_worker_is_killed(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    port = ports.free_port()
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.web(port)
        version = fleet.world.draw(DRAWING, configs={"K": {}})
        workers = [fleet.worker() for _ in range(2)]
        fleet.sweeper()
        fleet.ready()
        runs = [fleet.start(version) for _ in range(12)]
        tokens = {run_id: token_of(fleet, run_id) for run_id in runs}

        def five(number: int) -> list[str]:
            time.sleep(number * 0.05)  # the first come early, the last while the step waits
            with ThreadPoolExecutor(5) as pool:
                return list(pool.map(lambda body: post(port, tokens[runs[number]], body), range(5)))

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(five, range(len(runs))))
            workers[0].kill()
        for run_id in runs:
            fleet.wait_for(run_id, "succeeded")
        for run_id, heard in zip(runs, answers, strict=True):
            assert sorted(heard)[:4] == ["already"] * 4
            assert sorted(heard)[4] in ("taken", "kept")
            counted = next(number for number, result in enumerate(heard) if result != "already")
            assert fleet.world.output(run_id, "K") == counted
            assert post(port, tokens[run_id], "late") == "already"
        fleet.check()


def test_a_step_that_no_worker_serves_fails_within_two_seconds_of_its_limit_though_a_sweeper_dies(
    process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    with Fleet(process_environment, tmp_path) as fleet:
        fleet.sweeper(failpoints=f"in_sweep?marker={tmp_path / 'died'}:exit9")
        fleet.sweeper()
        fleet.worker()
        fleet.ready()
        policies = {"A": Policy(queue="nobody", queue_limit_s=2.0, on_error="port")}
        version = fleet.world.draw("S > A > B, A !> C", policies=policies)
        began = monotonic_s()
        run_id = fleet.start(version)
        fleet.wait_for(run_id, "succeeded")
        assert 2.0 <= monotonic_s() - began < 2.0 + 2.0 + 3.0  # the rest: C is claimed and runs
        assert fleet.world.statuses(run_id) == {"S": "succeeded", "A": "failed", "B": "skipped", "C": "succeeded"}
        fleet.check()
