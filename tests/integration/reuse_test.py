"""Results that are reused instead of being made again, and those that never may be."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from builder.graph.model import Policy, Retry
from builder.workflows.models import Version
from runs.core.outcomes import Succeeded
from runs.models import Event, Payload, StepRun
from runs.store.retention import sweep_payloads
from teams.models import Workspace
from tests.engine import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("extra_kinds")]

OWN = Policy(reuse="workflow")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A line for each call of a body."""
    return tmp_path / "book"


def calls(book: Path) -> int:
    return len(book.read_text().splitlines()) if book.exists() else 0


def version(world: World, book: Path, *, policy: Policy = OWN, value: Any = "{{ run.input }}") -> Version:
    config = {"value": {"book": str(book), "value": value}}
    return world.draw("S > A", kinds={"A": "test_count_calls"}, configs={"A": config}, policies={"A": policy})


def ran(world: World, pinned: Version, run_input: Any = 1) -> UUID:
    run_id = world.start(pinned, run_input).run_id
    world.work()
    return run_id


def step(run_id: UUID, path: str = "A") -> StepRun:
    return StepRun.objects.get(run_id=run_id, path=path)


# ---------------------------------------------------------------------- reused


def test_a_result_of_the_same_input_is_taken_and_its_source_told(world: World, book: Path) -> None:
    pinned = version(world, book)
    first, second = ran(world, pinned), ran(world, pinned)
    source = {"run": str(first), "number": world.run(first).number, "path": "A"}
    assert calls(book) == 1
    assert (step(second).status, step(second).origin) == ("succeeded", "reused")
    assert step(second).output == step(first).output
    assert json.loads(step(second).reused_from or "") == source
    event = Event.objects.get(run_id=second, type="step.succeeded", path="A")
    assert json.loads(event.data) == {"port": "out", "origin": "reused", "source": source}
    assert json.loads(step(second).input or "")["value"]["value"] == 1


def test_another_input_is_another_call(world: World, book: Path) -> None:
    pinned = version(world, book)
    ran(world, pinned, 1), ran(world, pinned, 2)
    assert calls(book) == 2


def test_equal_items_of_a_run_are_worked_on_once(world: World, book: Path) -> None:
    config = {"value": {"book": str(book), "value": "{{ item }}"}}
    configs = {"E": {"items": ["x", "y", "x", "x"], "window": 1}, "A": config}
    policies = {"A": Policy(reuse="run")}
    pinned = world.draw("S > E[A]", kinds={"A": "test_count_calls"}, configs=configs, policies=policies)
    run_id = ran(world, pinned)
    ran(world, pinned)
    assert calls(book) == 4  # two for each run
    origins = [step(run_id, f"E[{index}].A").origin for index in range(4)]
    assert origins == ["executed", "executed", "reused", "reused"]


def test_a_large_result_is_reused_by_reference_and_kept_by_it(world: World, book: Path) -> None:
    pinned = version(world, book, value={"large": "x" * 20_000})
    _, second = ran(world, pinned), ran(world, pinned)
    assert calls(book) == 1
    assert step(second).output_ref is not None
    references = [("runs_steprun", "output_ref"), ("runs_steprun", "input_ref"), ("runs_attempt", "input_ref")]
    sweep_payloads(world.connection, references, after=b"", batch=100, grace_s=-1)
    assert Payload.objects.filter(hash=bytes(step(second).output_ref or b"")).exists()


# ---------------------------------------------------------------------- never reused


def test_no_result_of_another_workspace_is_reused(world: World, book: Path) -> None:
    everywhere = Policy(reuse="workspace")
    ran(world, version(world, book, policy=everywhere))
    ran(world, version(world, book, policy=everywhere))
    assert calls(book) == 1
    with World(workspace=Workspace.objects.create(slug="other", name="Other")) as other:
        run_id = ran(other, version(other, book, policy=everywhere))
        assert calls(book) == 2
        assert step(run_id).origin == "executed"


def test_a_workflow_reuses_nothing_of_another_one(world: World, book: Path) -> None:
    ran(world, version(world, book)), ran(world, version(world, book))
    assert calls(book) == 2


def test_what_is_too_old_is_made_again(world: World, book: Path) -> None:
    pinned = version(world, book, policy=replace(OWN, reuse_for_s=3600))
    first = ran(world, pinned)
    connection = world.connection
    connection.execute("ALTER TABLE runs_steprun DISABLE TRIGGER USER")
    connection.execute(
        "UPDATE runs_steprun SET finished_at = now() - interval '61 minutes' WHERE run_id = %s", (first,)
    )
    connection.execute("ALTER TABLE runs_steprun ENABLE TRIGGER USER")
    ran(world, pinned)
    assert calls(book) == 2


def test_a_reused_result_gets_no_younger_by_being_reused(world: World, book: Path) -> None:
    pinned = version(world, book)
    first, second = ran(world, pinned), ran(world, pinned)
    third = ran(world, pinned)
    assert calls(book) == 1
    assert json.loads(step(third).reused_from or "")["run"] == str(first) != str(second)


def test_a_failure_is_not_reused(world: World, book: Path) -> None:
    pinned = version(world, book, policy=replace(OWN, retry=Retry(attempts=1)), value="fail")
    ran(world, pinned), ran(world, pinned)
    assert calls(book) == 2


@pytest.mark.parametrize(("policy", "expected"), [(OWN, 2), (replace(OWN, reuse_effects=True), 1)])
def test_a_step_with_effects_reuses_only_where_its_node_says_so(
    world: World, book: Path, policy: Policy, expected: int
) -> None:
    pinned = version(world, book, policy=replace(policy, delivery="at_most_once"))
    ran(world, pinned), ran(world, pinned)
    assert calls(book) == expected


def test_without_a_word_nothing_is_reused(world: World, book: Path) -> None:
    pinned = version(world, book, policy=Policy())
    ran(world, pinned), ran(world, pinned)
    assert calls(book) == 2
    assert StepRun.objects.filter(input_hash__isnull=False).count() == 0


def test_a_reused_result_whose_value_is_gone_gives_the_step_back(
    world: World, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run was deleted between the look and the finish; the next attempt calls the body."""
    from runs import worker

    pinned = version(world, book, value={"large": "x" * 20_000})
    ran(world, pinned)
    real, struck = worker.keep_values, []

    def gone_once(connection: Any, outcome: Any) -> Any:
        kept = real(connection, outcome)
        if not isinstance(outcome, Succeeded) and not struck:
            struck.append(1)
            kept = replace(kept, output=replace(kept.output, ref=b"\x00" * 32))
        return kept

    monkeypatch.setattr(worker, "keep_values", gone_once)
    run_id = ran(world, pinned)
    world.work()
    assert struck == [1]
    assert (step(run_id).status, step(run_id).attempt) == ("succeeded", 2)
