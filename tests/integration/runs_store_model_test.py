"""Random commands against a real database: whatever comes in whatever order, and twice, the invariants hold.

Two workers (their bodies are played), lost workers and their late results, time, people; after every command nothing is
broken and nothing that succeeded has changed; in the end everything can be driven to its end.
"""

import os
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kit.errors import AppError
from kit.ids import new_id
from runs.core.breakpoints import Breakpoints
from runs.core.definition import Definition
from runs.core.fold import fold
from runs.core.rows import Event
from runs.core.transition import Transition
from runs.engine.callback import issue, receive
from runs.engine.cancel import cancel_run
from runs.engine.children import deliver
from runs.engine.commands import Command, CommandIdTaken
from runs.engine.control import change_breakpoints, pause_run, unpause_run
from runs.engine.decide import decide_step
from runs.engine.finish import Request
from runs.engine.resume import preview_resume, resume_run
from runs.engine.sweep import due, expire_waits, recover_dead, stop_overdue
from runs.engine.wait import Answer, answer_wait
from runs.store import fleet
from runs.store.claim import Held
from steps.registry import all_specs
from tests.engine import World
from tests.graphs import draw
from tests.hands import Hand
from tests.integration.model_of_mending import Mending
from tests.integration.model_of_waiting import Waiting
from tests.random_acts import every_graph
from tests.random_runs import random_graph

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timeout(3_600)]

PROVE = bool(os.environ.get("PAWL_PROVE"))
EXAMPLES = int(os.environ.get("PAWL_MODEL_EXAMPLES") or (20_000 if PROVE else 200))
FINAL = ("succeeded", "failed", "cancelled")
DICE = st.randoms(use_true_random=False)

BROKEN_IN = "SELECT what FROM runs_broken WHERE run_id = %s"
DONE = "SELECT path, attempt, fence, output, finished_at FROM runs_steprun WHERE run_id = %s AND status = 'succeeded'"
PRESENT = "SELECT status, fence FROM runs_steprun WHERE id = %s"
LET_TIME_PASS = """UPDATE runs_steprun SET not_before = statement_timestamp() - interval '1 second'
    WHERE run_id = %s AND (status = 'retry_wait' OR (status = 'waiting' AND wait_kind = 'timer'))"""
LET_DEADLINE_PASS = "UPDATE runs_run SET deadline_at = statement_timestamp() WHERE id = %s AND deadline_s IS NOT NULL"
LET_POST_PASS = "UPDATE runs_outbox SET not_before = statement_timestamp()"
LET_WAITS_EXPIRE = "UPDATE runs_wait SET expires_at = statement_timestamp() WHERE run_id = %s AND status = 'open'"


class Machine(Mending, Waiting, RuleBasedStateMachine):
    world: World

    @initialize(dice=DICE)
    def begin(self, dice: Random) -> None:
        self.graph = random_graph(dice, **every_graph(dice))
        self.definition = Definition(self.graph, all_specs())
        self.callable = self.world.publish(draw("S")).workflow_id
        self.run_id = self.world.start(self.world.publish(self.graph), deadline_s=3_600.0).run_id
        self.hands = [self.new_hand(), self.new_hand()]
        self.dead: list[Hand] = []
        self.held: list[tuple[Hand, Held]] = []  # what each believes to hold, the dead ones too
        self.asked: list[tuple[Hand, Request]] = []  # results that were sent, to be sent again
        self.commands: list[tuple[Command, Any]] = []
        self.known: dict[UUID, Transition | None] = {}
        self.done: dict[str, Any] = {}

    def teardown(self) -> None:
        if hasattr(self, "run_id"):
            self.drive_to_the_end()

    def new_hand(self) -> Hand:
        """Workers share connections, so that an example does not open a dozen."""
        return Hand(self.world.link)

    # ------------------------------------------------------------------ workers
    @rule(dice=DICE)
    def claim(self, dice: Random) -> None:
        hand, status = dice.choice(self.hands), self.run_status()
        held = hand.claim().held
        assert held is None or status == "running"
        self.take(hand, held)

    @rule(dice=DICE)
    def claim_and_lose_the_reply(self, dice: Random) -> None:
        hand, claim_id = dice.choice(self.hands), new_id()
        lost = hand.claim(claim_id).held
        found = hand.claim(claim_id, again=True).held
        if lost is not None:
            assert found == lost
        self.take(hand, found)

    @precondition(lambda self: self.held)
    @rule(dice=DICE)
    def finish(self, dice: Random) -> None:
        """One result, or several of one worker together; now and then from what the worker knows of the run."""
        hand, _ = dice.choice(self.held)
        mine = [held for other, held in self.held if other is hand]
        chosen = dice.sample(mine, k=min(len(mine), dice.randint(1, 3)))
        requests = [
            hand.request(held, self.outcome(held, dice), wish=hand.wish() if dice.randrange(2) else None)
            for held in chosen
        ]
        expected = [self.is_present(held) for held in chosen]
        before, status = self.event_seq(), self.run_status()
        known = self.known.pop(hand.id, None) if dice.randrange(3) else None
        idle = [hand.wish() for _ in range(dice.randrange(3))]
        done = hand.finish_all(requests, idle=idle, known=known, others=len(mine) - len(chosen))
        self.known[hand.id] = done.known
        self.held = [(other, held) for other, held in self.held if held not in chosen]
        self.asked += [(hand, request) for request in requests]
        if status == "paused":
            assert all(result.next is None for result in done.results)
            assert done.given == [None] * len(idle)
        for is_present, result in zip(expected, done.results, strict=True):
            assert is_present or result.result != "committed"
            self.take(hand, result.next)
        for gift in done.given:
            self.take(hand, gift)
        assert any(expected) == any(result.result == "committed" for result in done.results)
        assert any(expected) or self.event_seq() == before

    @precondition(lambda self: self.asked)
    @rule(dice=DICE)
    def send_a_result_again(self, dice: Random) -> None:
        hand, request = dice.choice(self.asked)
        before = self.event_seq()
        assert hand.finish_all([request]).results[0].result in ("already", "fenced_out")
        assert self.event_seq() == before

    @rule(dice=DICE)
    def lose_a_worker(self, dice: Random) -> None:
        hand = dice.choice(self.hands)
        assert fleet.bury(self.world.connection, hand.id)
        assert hand.claim().held is None
        recover_dead(self.world.connection)
        recover_dead(self.world.connection)
        self.hands = [*(other for other in self.hands if other is not hand), self.new_hand()]
        self.dead.append(hand)

    @rule()
    def hear_what_to_stop(self) -> None:
        for hand in self.hands:
            mine = [held for other, held in self.held if other is hand]
            heard = hand.beat([(held.step_run_id, held.fence) for held in mine])
            assert heard.alive
            is_stopping = self.run_status() == "cancelling"
            stop = {(held.step_run_id, held.fence) for held in mine if is_stopping or not self.is_present(held)}
            assert heard.stop == stop

    # ------------------------------------------------------------------ time
    @rule()
    def let_time_pass(self) -> None:
        self.world.connection.execute(LET_TIME_PASS, (self.run_id,))
        due(self.world.connection)
        due(self.world.connection)

    @rule(dice=DICE)
    def let_waits_expire(self, dice: Random) -> None:
        if dice.randrange(4) == 0:
            self.world.connection.execute(LET_WAITS_EXPIRE, (self.run_id,))
        expire_waits(self.world.connection)

    @rule(dice=DICE)
    def let_the_deadline_pass(self, dice: Random) -> None:
        was_open = self.run_status() in ("running", "paused")
        if passes := dice.randrange(6) == 0:
            self.world.connection.execute(LET_DEADLINE_PASS, (self.run_id,))
        assert stop_overdue(self.world.connection) == (was_open and passes)
        assert stop_overdue(self.world.connection) == 0
        if was_open and passes:
            assert self.run_status() in ("cancelling", "failed")

    # ------------------------------------------------------------------ people
    @rule(dice=DICE)
    def resume(self, dice: Random) -> None:
        stale = dice.randrange(6) == 0
        paths = None if dice.randrange(3) else [dice.choice(list(self.world.statuses(self.run_id)))]
        generation = self.world.run(self.run_id).generation - stale
        preview = None
        try:
            with self.world.connection.transaction():
                preview, _, _ = preview_resume(self.world.connection, self.run_id, paths=paths)
        except AppError:
            pass
        command = self.world.command(self.run_id, "resume", generation=generation)
        result = self.order(command, lambda: resume_run(self.world.connection, command, paths=paths))
        assert (result is not None) == (preview is not None and not stale)
        if result is not None and preview is not None:
            assert result["again"] == preview.again

    @rule(dice=DICE)
    def cancel(self, dice: Random) -> None:
        if dice.randrange(4) == 0:
            self.cancel_now()

    def cancel_now(self) -> None:
        command = self.world.command(self.run_id, "cancel")
        self.order(command, lambda: cancel_run(self.world.connection, command))

    @rule(dice=DICE)
    def pause(self, dice: Random) -> None:
        if dice.randrange(2) == 0:
            command = self.world.command(self.run_id, "pause")
            result = self.order(command, lambda: pause_run(self.world.connection, command))
            assert result is None or self.run_status() == "paused"

    @rule()
    def unpause(self) -> None:
        command = self.world.command(self.run_id, "unpause")
        result = self.order(command, lambda: unpause_run(self.world.connection, command))
        assert result is None or self.run_status() == "running"

    @rule(dice=DICE)
    def stop_before(self, dice: Random) -> None:
        """Other breakpoints from now on, some of nodes, some of what exists by its path."""
        nodes = [node.id for node in self.graph.nodes if node.id != "n_S" and dice.randrange(4) == 0]
        paths = [path for path in self.world.statuses(self.run_id) if path != "S" and dice.randrange(8) == 0]
        points = Breakpoints(frozenset(nodes), frozenset(paths))
        command = self.world.command(self.run_id, "breakpoints")
        self.order(command, lambda: change_breakpoints(self.world.connection, command, points))

    @rule(dice=DICE)
    def answer(self, dice: Random) -> None:
        waits = self.world.connection.execute("SELECT id FROM runs_wait WHERE run_id = %s", (self.run_id,)).fetchall()
        if waits:
            given = Answer(dice.choice(waits)[0], dice.choice(["approved", "rejected"]), "", None, None)
            command = self.world.command(self.run_id, "answer")
            self.order(command, lambda: answer_wait(self.world.connection, command, given))

    @rule(dice=DICE)
    def call_back(self, dice: Random) -> None:
        """By the link of any step, whatever it does just now: what comes early may be for a wait that never comes."""
        path = dice.choice(list(self.world.statuses(self.run_id)))
        token = issue(self.world.connection, self.run_id, {"it": path}, secret="of the test")["it"]
        before = self.event_seq()
        try:
            with self.world.connection.transaction():
                result = receive(self.world.connection, token, "5").result
        except AppError:
            result = "already"
        assert (self.event_seq() == before) == (result == "already")

    @rule(dice=DICE)
    def decide(self, dice: Random) -> None:
        open_ = [path for path, status in self.world.statuses(self.run_id).items() if status == "needs_decision"]
        if open_:
            self.decide_one(dice.choice(open_), dice.choice(["happened", "not_happened", "run_again", "skip"]))

    def decide_one(self, path: str, decision: Any) -> None:
        command = self.world.command(self.run_id, "decide")
        self.order(command, lambda: decide_step(self.world.connection, command, path=path, decision=decision))

    @precondition(lambda self: self.commands)
    @rule(dice=DICE)
    def click_again(self, dice: Random) -> None:
        command, result = dice.choice(self.commands)
        before = self.event_seq()
        operations = {"resume": resume_run, "cancel": cancel_run, "pause": pause_run, "unpause": unpause_run}
        if command.operation in operations:
            with self.world.connection.transaction():
                assert operations[command.operation](self.world.connection, command).result == result
        other = Command(command.id, command.run_id, "something else", "Bob")
        with pytest.raises(CommandIdTaken):
            cancel_run(self.world.connection, other)
        assert self.event_seq() == before

    def order(self, command: Command, act: Any) -> Any:
        """What the command did, or None where it was refused; a refusal changes nothing."""
        before = self.event_seq()
        try:
            with self.world.connection.transaction():
                result = act().result
        except AppError:
            assert self.event_seq() == before
            return None
        self.commands.append((command, result))
        return result

    # ------------------------------------------------------------------ what must always hold
    @invariant()
    def nothing_is_broken(self) -> None:
        if not hasattr(self, "run_id"):
            return
        broken = [what for (what,) in self.world.connection.execute(BROKEN_IN, (self.run_id,))]
        assert broken == []
        done = {path: rest for path, *rest in self.world.connection.execute(DONE, (self.run_id,))}
        assert {path: done[path] for path in self.done} == self.done
        self.done = done

    # ------------------------------------------------------------------ inside
    def event_seq(self) -> int:
        return self.world.run(self.run_id).event_seq

    def run_status(self) -> str:
        return self.world.run(self.run_id).status

    def is_present(self, held: Held) -> bool:
        return self.world.connection.execute(PRESENT, (held.step_run_id,)).fetchone() == ("running", held.fence)

    def take(self, hand: Hand, held: Held | None) -> None:
        if held is not None and (hand, held) not in self.held:
            assert self.is_present(held)
            self.held.append((hand, held))

    def drive_to_the_end(self) -> None:
        """Every open run ends: time passes, workers come back, people decide, what stays blocked is cancelled."""
        dice = Random(0)
        for hand in self.hands:
            fleet.bury(self.world.connection, hand.id)
        self.hands = [hand := self.new_hand()]
        for _ in range(2_000):
            before = self.event_seq()
            recover_dead(self.world.connection)
            self.let_time_pass()
            self.world.connection.execute(LET_POST_PASS)
            deliver(self.world.connection)
            self.world.connection.execute(LET_WAITS_EXPIRE, (self.run_id,))
            expire_waits(self.world.connection)
            held = hand.claim().held
            if held is not None:
                hand.finish(held, self.success(held, dice))
                continue
            statuses = self.world.statuses(self.run_id)
            undecided = [path for path, status in statuses.items() if status == "needs_decision"]
            if self.run_status() == "paused":
                self.unpause()
            elif undecided and self.run_status() == "running":
                self.decide_one(undecided[0], "run_again")
            elif self.run_status() in FINAL:
                break
            elif self.event_seq() == before:
                assert "blocked" in statuses.values(), f"nothing of it goes on, and nobody is asked: {statuses}"
                self.cancel_now()
        self.nothing_is_broken()
        assert self.run_status() in FINAL
        self.the_events_alone_tell_the_same()

    def the_events_alone_tell_the_same(self) -> None:
        rows = self.world.connection.execute(
            "SELECT seq, type, path, attempt FROM runs_event WHERE run_id = %s ORDER BY seq", (self.run_id,)
        )
        folded = fold(self.definition, [Event(*row, data={}) for row in rows])
        assert folded.run == self.run_status()
        assert folded.steps == self.world.statuses(self.run_id)


def test_whatever_happens_in_whatever_order_the_invariants_hold() -> None:
    with World() as world:
        Machine.world = world
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=50,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
