"""Acts: an outside effect with its intent before and its result after it, and what a crash at each place leaves."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from runs.core.transition import Transition
from runs.engine import sweep
from runs.engine.cancel import cancel_run
from runs.engine.checkpoint import FencedOut, keep_checkpoint
from runs.engine.late import keep_late_effects
from runs.models import LateEffect, Run, StepRun
from runs.selectors.steps import step_detail
from runs.store import fleet
from tests.engine import World
from tests.hands import Hand
from tests.staging import lose, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("extra_kinds")]

INTENT = {"state": "intended", "idempotency_key": "k", "detail": {}}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book"


def ran(world: World, book: Path, *, dies: str) -> StepRun:
    config = {"value": {"book": str(book), "dies": dies}}
    run_id = world.start(world.draw("S > A", kinds={"A": "test_act_once"}, configs={"A": config})).run_id
    for _ in range(2):
        world.work()
        world.sweep()
    return StepRun.objects.get(run_id=run_id, path="A")


def shown(step: StepRun) -> Any:
    (act,) = step_detail(Run.objects.get(id=step.run_id), step, output={})["checkpoints"]
    return act["kind"], act["key"], act["value"]["state"]


def lines(book: Path) -> int:
    return len(book.read_text().splitlines()) if book.exists() else 0


def test_a_crash_before_the_first_act_is_safe_to_repeat(world: World, book: Path) -> None:
    step = ran(world, book, dies="before")
    assert (step.status, step.attempt, lines(book)) == ("succeeded", 2, 1)
    assert shown(step) == ("act", "write", "done")


def test_a_crash_inside_an_act_leaves_it_unknown_and_a_person_decides(world: World, book: Path) -> None:
    step = ran(world, book, dies="inside")
    assert (step.status, step.attempt, lines(book)) == ("needs_decision", 1, 1)
    assert shown(step) == ("act", "write", "unknown")


def test_a_crash_after_an_act_repeats_the_step_and_not_the_act(world: World, book: Path) -> None:
    step = ran(world, book, dies="after")
    assert (step.status, step.attempt, lines(book)) == ("succeeded", 2, 1)
    assert json.loads(step.output or "") == 7


def test_an_act_that_failed_says_how_and_is_not_tried_again_by_itself(world: World, book: Path) -> None:
    step = ran(world, book, dies="fails")
    assert (step.status, step.attempt, lines(book)) == ("failed", 1, 1)
    assert shown(step) == ("act", "write", "failed")


# ---------------------------------------------------------------------- sweeper and attempt


def taken(world: World, hand: Hand, book: Path) -> Any:
    config = {"value": {"book": str(book), "dies": ""}}
    world.start(world.draw("S > A", kinds={"A": "test_act_once"}, configs={"A": config}))
    claimed = hand.connection.execute(
        "UPDATE runs_steprun SET kind = 'pass_through' WHERE kind = 'test_act_once'"  # a hand serves no test kinds
    )
    assert claimed.rowcount == 1
    return hand.take()


def waits_for_lock(hand: Hand, *, seen_by: Hand) -> bool:
    """Asked outside the transaction that is open: PostgreSQL shows one the same activity all the time."""
    query = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"
    return seen_by.connection.execute(query, (hand.connection.info.backend_pid,)).fetchone() == ("Lock",)


def status(held: Any) -> str:
    return StepRun.objects.get(id=held.step_run_id).status


def test_an_intent_of_a_lost_attempt_is_a_persons_decision(world: World, hands: list[Hand], book: Path) -> None:
    held = taken(world, hands[0], book)
    keep_checkpoint(hands[0].connection, held, kind="act", key="write", value=INTENT, ordinal=1)
    lose(world, hands[0])
    assert status(held) == "needs_decision"


def test_without_an_intent_a_lost_attempt_is_repeated_and_its_late_intent_is_refused(
    world: World, hands: list[Hand], book: Path
) -> None:
    held = taken(world, hands[0], book)
    lose(world, hands[0])
    assert status(held) == "ready"
    with pytest.raises(FencedOut):
        keep_checkpoint(hands[0].connection, held, kind="act", key="write", value=INTENT, ordinal=1)


def test_an_intent_that_comes_while_the_sweeper_decides_waits_for_it_and_is_refused(
    world: World, hands: list[Hand], book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored in between, the act would happen, and the repeated step would do it again."""
    zombie = hands[0]
    held = taken(world, zombie, book)
    assert fleet.bury(world.connection, zombie.id)
    with ThreadPoolExecutor() as pool:
        waiting: list[Future[None]] = []
        real = sweep.crash

        def crash_while_an_intent_comes(tx: Transition, *arguments: Any) -> None:
            real(tx, *arguments)
            arrived = {"kind": "act", "key": "write", "value": INTENT, "ordinal": 1}
            waiting.append(pool.submit(keep_checkpoint, zombie.connection, held, **arrived))
            wait_until(lambda: waiting[0].done() or waits_for_lock(zombie, seen_by=hands[1]))

        monkeypatch.setattr(sweep, "crash", crash_while_an_intent_comes)
        assert sweep.recover_dead(world.connection) == 1
        with pytest.raises(FencedOut):
            waiting[0].result()
    assert status(held) == "ready"


# ------------------------------------------------------------------ late effects


def test_an_act_whose_outcome_comes_when_another_attempt_has_the_step_is_written_down_as_late(
    world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker was frozen between the intent and the effect, and taken for dead."""
    run_id = world.start(world.draw("S > A")).run_id
    done = {**INTENT, "state": "done", "result": 7}

    def run(job: Any, *, on_checkpoint: Any, **_: Any) -> None:
        on_checkpoint("act", "write", INTENT)
        assert fleet.bury(world.connection, world.process.id)
        assert sweep.recover_dead(world.connection) == 1
        hands[0].take()
        on_checkpoint("act", "write", done)

    monkeypatch.setattr(world.slot.child, "run", run)
    assert not world.slot.work("default")
    late = LateEffect.objects.get()
    assert (late.step_run.path, late.attempt, late.act, late.outcome) == ("A", 1, "write", "done")
    told = Client().get("/api/health").json()["late_zombie_effects"]
    assert not told["ok"]
    assert told["detail"].startswith("1 acts in the last 24 h")
    assert str(run_id) not in json.dumps(told), "anyone may read it"
    monkeypatch.undo()
    LateEffect.objects.update(at=timezone.now() - timedelta(days=2))
    assert Client().get("/api/health").json()["late_zombie_effects"]["ok"]


def test_late_effects_are_counted_once_and_those_of_a_cancelled_step_are_none(world: World, hands: list[Hand]) -> None:
    begun = [world.start(world.draw("S > A")).run_id for _ in range(2)]
    lost, cancelled = hands[0].take(), hands[0].take()
    cancel_run(world.connection, world.command(cancelled.run_id, "cancel"))
    assert cancelled.run_id in begun
    for _ in range(2):
        keep_late_effects(world.connection, lost, {}, worker=hands[0].id)
        keep_late_effects(world.connection, cancelled, {"write": "unknown"}, worker=hands[0].id)
    assert LateEffect.objects.count() == 0
    lose(world, hands[0])
    for outcome in ("unknown", "done", "done"):
        assert keep_late_effects(world.connection, lost, {"write": outcome}, worker=hands[0].id) == 1
    assert [late.outcome for late in LateEffect.objects.all()] == ["done"]
