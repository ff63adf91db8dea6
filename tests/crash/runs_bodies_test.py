"""Bodies that do not behave, in whole runs: the step says what happened, the worker goes on, the run can be resumed.

Faults 11, 12, 15, 51, 52 and 63 of the fault matrix (the runner alone: runner_*_test.py). What they could bring back: a
step that runs for ever, a worker that dies of a step's output, a value that comes back changed, a run that cannot be
resumed.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from builder.graph.model import Policy
from runs.engine.resume import resume_run
from runs.models import LogChunk, Payload, StepRun
from tests.fleet import Fleet

pytestmark = pytest.mark.crash

ODD_VALUES: dict[str, Any] = {
    "NUL": "a\x00b",
    "lone surrogate": "x\ud800y",
    "64-bit integer": 2**63 - 1,
    "below 64 bits": -(2**63),
    "more than a float can": 2**80 + 1,
    "empty key": {"": {"": [None, True, 1.5, ""]}},
    "astral": "\U0001f600 \u2028",
}


@pytest.fixture(scope="module")
def fleet(shared_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(shared_environment, tmp_path_factory.mktemp("fleet")) as fleet:
        for _ in range(2):
            fleet.worker(threads=4)
        fleet.sweeper()
        fleet.ready()
        yield fleet


def one_step(fleet: Fleet, kind: str, value: Any = None, *, limit_s: float | None = None) -> UUID:
    """A run with a quick step, one of that kind, and an end that reads it."""
    drawing = f"S > A > X:test_{kind} > O"
    configs = {"A": {"value": "before"}, "X": {"value": value}, "O": {"value": "{{ steps.X.output }}"}}
    return fleet.start(fleet.world.draw(drawing, configs=configs, policies={"X": Policy(limit_s=limit_s)}))


def ended(fleet: Fleet, run: UUID, *, status: str) -> StepRun:
    """The step, once its run has ended so; nothing else is amiss, and every process of the fleet is there."""
    fleet.wait_for(run, status)
    assert fleet.world.statuses(run)["A"] == "succeeded"
    assert all(process.is_up for process in fleet.processes)
    return fleet.world.steps(run)["X"]


def took(step: StepRun) -> timedelta:
    assert step.finished_at is not None
    assert step.started_at is not None
    return step.finished_at - step.started_at


def code(step: StepRun) -> str:
    return str(json.loads(step.error or "{}").get("code"))


def test_bodies_that_do_not_end_are_ended_in_time(fleet: Fleet) -> None:
    kinds = ("block_in_c", "ignore_term", "spin", "print_for_ever", "swallow_term")
    runs = {kind: one_step(fleet, kind, limit_s=1) for kind in kinds}
    for kind, run in runs.items():
        step = ended(fleet, run, status="failed")
        assert code(step) == "timed_out", kind
        slowest_s = 1 + 2 + 5 if kind in ("block_in_c", "ignore_term") else 1 + 2
        assert timedelta(seconds=1) <= took(step) < timedelta(seconds=slowest_s + 2), (kind, took(step))
    fleet.check()


def test_a_log_without_end_is_cut_and_its_step_goes_on(fleet: Fleet) -> None:
    run = one_step(fleet, "print_much", 20_000)
    step = ended(fleet, run, status="succeeded")
    assert json.loads(step.output or "") == "printed"
    kept = sum(len(chunk.text) for chunk in LogChunk.objects.filter(step_run_id=step.id))
    assert 900_000 < kept < 1_200_000
    fleet.check()


def test_a_step_whose_process_dies_each_time_fails_after_three_and_others_go_on(fleet: Fleet) -> None:
    configs = {
        "E": {"items": [1, 2, 3], "on_item_failure": "continue", "window": 3},
        "I": {"condition": "{{ item == 2 }}"},
        "Y": {"value": "{{ item }}"},
    }
    drawing = "S > E[I ?true> X:test_segfault, I ?false> Y:test_echo] > O"
    poisoned = fleet.start(fleet.world.draw(drawing, configs=configs))
    fleet.wait_for(poisoned, "succeeded")
    steps = fleet.world.steps(poisoned)
    assert (steps["E[1].X"].status, steps["E[1].X"].crash_count, code(steps["E[1].X"])) == ("failed", 3, "worker_lost")
    assert [steps[f"E[{index}].Y"].status for index in (0, 2)] == ["succeeded"] * 2
    fleet.check()


def test_a_body_that_takes_all_memory_fails_alone(fleet: Fleet) -> None:
    run = one_step(fleet, "hog_memory")
    other = one_step(fleet, "echo", 1)
    step = ended(fleet, run, status="failed")
    assert (code(step), step.crash_count) == ("out_of_memory", 0)
    ended(fleet, other, status="succeeded")
    fleet.check()


def test_odd_values_come_back_equal(fleet: Fleet) -> None:
    configs = {"X": {"value": "{{ run.input }}"}, "O": {"value": "{{ steps.X.output }}"}}
    version = fleet.world.draw("S > A > X:test_echo > O", configs=configs)
    runs = {name: fleet.start(version, value) for name, value in ODD_VALUES.items()}
    for name, run in runs.items():
        ended(fleet, run, status="succeeded")
        assert fleet.world.output(run, "X") == ODD_VALUES[name]
        assert fleet.world.output(run, "O") == ODD_VALUES[name], "as an expression of the next step sees it"
    fleet.check()


def test_what_is_no_json_fails_the_step_with_the_place_named(fleet: Fleet) -> None:
    runs = {name: one_step(fleet, "odd_output", name) for name in ("nan", "infinity", "circle", "deep", "object")}
    for name, run in runs.items():
        step = ended(fleet, run, status="failed")
        assert step.output is None
        assert step.attempt == 1, "it would give the same again"
        assert json.loads(step.error or "")["message"], name
    assert "rows[1].total" in (fleet.world.steps(runs["nan"])["X"].error or "")
    fleet.check()


def test_fifty_megabytes_are_refused_with_a_clear_word_and_the_run_can_be_resumed(fleet: Fleet) -> None:
    """5 MB are kept, and read by the next step."""
    kept = one_step(fleet, "big_output", {"character": "z", "count": 5_000_000})
    refused = one_step(fleet, "big_output", {"character": "z", "count": 50_000_000})
    step = ended(fleet, kept, status="succeeded")
    assert step.output is None
    payload = Payload.objects.get(hash=step.output_ref)
    assert json.loads(payload.body) == "z" * 5_000_000
    for attempt in (1, 2):
        step = ended(fleet, refused, status="failed")
        assert (step.attempt, step.output, step.output_ref) == (attempt, None, None)
        assert "output" in code(step) or "large" in code(step), code(step)
        if attempt == 1:
            resume(fleet, refused)
            fleet.wait(lambda: fleet.world.steps(refused)["X"].attempt == 2, what="the second attempt")
    fleet.check()


def resume(fleet: Fleet, run: UUID) -> None:
    wanted = fleet.world.command(run, "resume", generation=fleet.world.run(run).generation)
    with fleet.world.connection.transaction():
        done = resume_run(fleet.world.connection, wanted)
    assert done.told is not None
    done.told.announce()


def test_an_expression_that_loops_fails_its_branch_and_holds_nobody_up(fleet: Fleet) -> None:
    bomb = "".join(f"{{% for {name} in range(9999) %}}" for name in "abc") + "{% endfor %}" * 3
    drawing = "S > A > I, I ?true> B, I ?false> C, B + C > M > O"
    slow = fleet.start(fleet.world.draw(drawing, configs={"I": {"condition": bomb + "{{ steps.A.output }}"}}))
    quick = [fleet.start(fleet.world.draw("S > A > B > C > O")) for _ in range(5)]
    for run in quick:
        fleet.wait_for(run, "succeeded")
    assert fleet.world.run(slow).status in ("running", "failed")
    fleet.wait_for(slow, "failed")
    steps = fleet.world.steps(slow)
    assert steps["A"].status == "succeeded"
    assert code(steps["I"]).startswith("expression_")
    assert {steps[path].status for path in "BCMO"} == {"skipped"}
    fleet.check()
