"""What a hostile reader found in the engine: interleavings, lost replies and leftovers of earlier attempts."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import OperationalError as DjangoOperationalError

from kit.ids import new_id
from runs import attempt
from runs.core.outcomes import Error, Failed, Succeeded, Waits
from runs.engine.cancel import cancel_run
from runs.engine.checkpoint import FencedOut, keep_checkpoint
from runs.engine.claim import claim
from runs.engine.finish import Finished, Request, Wish, finish, keep_values
from runs.engine.resume import resume_run
from runs.engine.sweep import recover
from runs.runner.context import Context
from runs.store.claim import Held
from steps.base import StepFailure
from steps.registry import all_specs
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)


def take(world: World, *, worker_id: UUID | None = None) -> Held:
    found = claim(
        world.connection, worker=worker_id or world.process.id, claim_id=new_id(), queue="default",
        kinds=list(all_specs()),
    )  # fmt: skip
    assert found.held is not None
    return found.held


def end(world: World, held: Held, outcome: Any, *, wish: Wish | None = None) -> Finished:
    return finish(world.connection, [request(world, held, outcome, wish=wish)]).results[0]


def request(world: World, held: Held, outcome: Any, *, wish: Wish | None = None) -> Request:
    return Request(held, keep_values(world.connection, outcome), wish, 0.0)


def wish_of(world: World) -> Wish:
    return Wish(world.process.id, new_id(), ("default",), list(all_specs()))


def test_what_a_thread_knows_of_a_run_is_dropped_when_its_attempt_is_fenced_out(monkeypatch: Any) -> None:
    with World() as world:
        version = world.draw("S > A, A > B, A > C, B + C > O", configs={k: {"value": 1} for k in "ABC"})
        started = world.start(version)
        slot = world.slot
        real, calls = slot._attempt, []

        def once_fenced_out(held: Held, notes: Any) -> Any:
            calls.append(held.path)
            if held.path == "B" and held.attempt == 1:
                recover(world.connection, held.run_id, step_run_id=held.step_run_id, fence=held.fence, detail="frozen")
                return None  # what a refused checkpoint leads to
            if held.path == "C":
                return Waits("timer", 0.0, {}, output=None)
            return real(held, notes)

        monkeypatch.setattr(slot, "_attempt", once_fenced_out)
        world.work()
        world.sweep()
        world.work()
        assert world.statuses(started.run_id) == dict.fromkeys("SABCO", "succeeded")
        assert world.broken() == []


def test_a_partial_result_whose_reply_was_lost_is_kept_once(monkeypatch: Any) -> None:
    lost: list[str] = []

    def losing(connection: Any, held: Held, **kept: Any) -> None:
        keep_checkpoint(connection, held, **kept)
        if kept["kind"] == "partial" and not lost:
            lost.append(kept["key"])
            raise psycopg.OperationalError("the reply to COMMIT was lost")

    with World() as world:
        world.start(world.draw("S > A > O", configs={"A": {"value": 1}}))
        held = take(world)
        monkeypatch.setattr(attempt, "keep_checkpoint", losing)
        attempt.Notes(world.link, held).keep("partial", "1", {"rows": 2})
        found = world.connection.execute(
            "SELECT count(*) FROM runs_checkpoint WHERE kind = 'partial' AND step_run_id = %s", (held.step_run_id,)
        ).fetchone()
        assert found == (1,)


def test_values_in_a_workers_memory_are_counted_by_their_size() -> None:
    with World() as world:
        version = world.draw("S > A > B > O", configs={"A": {"value": "{{ run.input }}"}, "B": {"value": 1}})
        world.start(version, "x" * 900_000)
        world.work()
        values = world.process.values
        held = sum(len(json.dumps(value)) for value, _ in values._kept.values())
        assert values._used >= held * 0.9, f"{held} characters are held, {values._used} are counted"


def test_a_maps_output_in_a_workers_memory_is_counted_by_its_size() -> None:
    with World() as world:
        version = world.draw(
            "S > E[Y] > J > O",
            configs={
                "E": {"items": list(range(20))},
                "Y": {"value": "{{ run.input }}"},
                "J": {"value": "{{ steps.E.output | length }}"},
            },
        )
        started = world.start(version, "y" * 40_000)
        world.work()
        values = world.process.values
        assert values._kept[(started.run_id, "E")][1] >= 20 * 40_000


def test_an_output_kept_by_an_earlier_attempt_does_not_hide_the_last_ones() -> None:
    """A timer's large output is stored as it is parked; after a cancel and a resume it is small."""
    with World() as world:
        version = world.draw("S > A > B > O", configs={"A": {"value": 1}, "B": {"value": "{{ steps.A.output }}"}})
        started = world.start(version)
        end(world, take(world), Waits("timer", 3600.0, {}, output="old" * 5_000))
        with world.connection.transaction():
            cancel_run(world.connection, world.command(started.run_id, "cancel"))
        with world.connection.transaction():
            resume_run(world.connection, world.command(started.run_id, "resume"))
        end(world, take(world), Succeeded("new"))
        world.work()
        assert world.output(started.run_id, "B") == "new"


def test_an_attempts_input_is_its_own_also_where_it_is_large() -> None:
    with World() as world:
        started = world.start(world.draw("S > A > O", configs={"A": {"value": 1}}))
        end(world, take(world), Failed(Error("x", "y"), input={"value": "small"}))
        with world.connection.transaction():
            resume_run(world.connection, world.command(started.run_id, "resume"))
        end(world, take(world), Failed(Error("x", "y"), input={"value": "large" * 5_000}))
        rows = world.connection.execute(
            "SELECT number, input FROM runs_attempt WHERE run_id = %s ORDER BY number", (started.run_id,)
        ).fetchall()
        assert rows[0] == (1, '{"value":"small"}')
        assert rows[1][1] != rows[0][1]
        step = world.steps(started.run_id)["A"]
        assert (step.input is None) == (step.input_ref is not None)


def test_a_database_that_is_away_while_credentials_are_read_costs_no_attempt(monkeypatch: Any) -> None:
    """The credentials are read through Django, whose errors are not psycopg's."""
    failed: list[int] = []

    def away_at_first(workspace: UUID, names: list[str]) -> dict[str, Any]:
        if not failed:
            failed.append(1)
            raise DjangoOperationalError("the database system is shutting down")
        return {names[0]: {}}

    monkeypatch.setattr(attempt, "settings_of", away_at_first)
    with World() as world:
        version = world.draw("S > A > O", configs={"A": {"value": 1, "connection": "c"}})
        world.start(version)
        held = take(world)
        monkeypatch.setattr(world.slot.child, "run", lambda job, **_: Succeeded(1))
        assert world.slot._attempt(held, attempt.Notes(world.link, held)) == Succeeded(1)


def test_a_checkpoint_whose_key_cannot_be_stored_is_the_steps_failure_and_not_the_workers() -> None:
    channel = SimpleNamespace(store=lambda text: None)
    task = SimpleNamespace(
        scope={}, storage_root="/", outbound_allow=[], checkpoints=[], previous=None, output_limit_bytes=1_000
    )
    for name in ("run_id", "path", "attempt", "idempotency_key"):
        setattr(task, name, name)
    ctx = Context(task, fence=1, channel=channel, folder=Path("/nowhere"))  # type: ignore[arg-type]
    assert ctx.once("schlüssel 🔑", lambda: 1) == 1
    for key in ("a\x00b", "half \ud83d"):
        with pytest.raises(StepFailure, match="can be stored"):
            ctx.once(key, lambda: 1)


def test_a_fenced_out_checkpoint_is_refused() -> None:
    with World() as world:
        world.start(world.draw("S > A > O", configs={"A": {"value": 1}}))
        held = take(world)
        recover(world.connection, held.run_id, step_run_id=held.step_run_id, fence=held.fence, detail="x")
        with pytest.raises(FencedOut):
            keep_checkpoint(world.connection, held, kind="partial", key="1", value=1)
