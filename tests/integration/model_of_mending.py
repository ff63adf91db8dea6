"""What people do to single steps, and what bodies keep, as rules of the model in runs_store_model_test.py."""

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from kit.errors import AppError
from kit.ids import new_id
from runs.core.definition import Definition
from runs.engine.cancel import cancel_run
from runs.engine.checkpoint import FencedOut, keep_checkpoint
from runs.engine.epoch import raise_epoch
from runs.engine.fork import Forking, fork_run
from runs.engine.repair import edit_step, retry_step, skip_step, supply_step
from tests.random_runs import PORTS

if TYPE_CHECKING:
    from runs.engine.commands import Command
    from runs.store.claim import Held
    from tests.engine import World
    from tests.hands import Hand

DICE = st.randoms(use_true_random=False)
BROKEN_IN = "SELECT what FROM runs_broken WHERE run_id = %s"
CHECKPOINTS = "SELECT count(*) FROM runs_checkpoint WHERE step_run_id = %s AND fence = %s"


class Mending:
    world: "World"
    run_id: UUID
    definition: Definition
    held: "list[tuple[Hand, Held]]"
    hands: "list[Hand]"
    dead: "list[Hand]"

    def order(self, command: "Command", act: Any) -> Any:
        raise NotImplementedError

    def is_present(self, held: "Held") -> bool:
        raise NotImplementedError

    def new_hand(self) -> "Hand":
        raise NotImplementedError

    @rule(dice=DICE, what=st.sampled_from(["skip", "supply", "retry", "edit"]))
    def mend_a_step(self, dice: Random, what: str) -> None:
        """Whatever the step does just now: most of these are refused, and a refusal changes nothing."""
        statuses = self.world.statuses(self.run_id)
        stuck = [path for path, status in statuses.items() if status in ("failed", "blocked", "retry_wait")]
        path = dice.choice(stuck or list(statuses))
        connection, command = self.world.connection, self.world.command(self.run_id, what)
        port = dice.choice([None, *PORTS.get(self.definition.by_key[path.rpartition(".")[2]].kind, ("out",))])
        acts = {
            "skip": lambda: skip_step(connection, command, path=path),
            "supply": lambda: supply_step(connection, command, path=path, output={"by": "hand"}, port=port),
            "retry": lambda: retry_step(connection, command, path=path),
            "edit": lambda: edit_step(connection, command, path=path, given={"value": "edited"}),
        }
        result = self.order(command, acts[what])
        after = self.world.statuses(self.run_id)[path]
        if result is not None:
            expected = {"skip": {"skipped"}, "supply": {"succeeded"}, "retry": {"ready", "running"}}
            assert after in expected.get(what, {"ready", "pending", "running", "waiting"}), (what, path, after)

    @rule(dice=DICE)
    def fork(self, dice: Random) -> None:
        """The new run begins whole; it is cancelled at once, so that the workers of the model stay with theirs."""
        path = dice.choice([None, *self.world.statuses(self.run_id)])
        connection, command = self.world.connection, self.world.command(self.run_id, "fork")
        wanted = Forking(path=path, version_id=self.other_version(dice))
        result = self.order(command, lambda: fork_run(connection, command, wanted, then=lambda told: None))
        if result is None:
            return
        made = UUID(result["run"])
        assert [what for (what,) in connection.execute(BROKEN_IN, (made,))] == []
        try:
            with connection.transaction():
                cancel_run(connection, self.world.command(made, "cancel"))
        except AppError:
            assert self.world.run(made).status in ("succeeded", "failed")
        assert [what for (what,) in connection.execute(BROKEN_IN, (made,))] == []

    def other_version(self, dice: Random) -> UUID | None:
        """Mostly the run's own; else one in which a step has other settings, or an edge is gone."""
        graph = self.definition.graph
        plain = [node for node in graph.nodes if node.kind == "pass_through"]
        if dice.randrange(3) or not (plain or graph.edges):
            return None
        if plain and (dice.randrange(2) or not graph.edges):
            chosen = dice.choice(plain)
            nodes = tuple(replace(each, config={"value": 2}) if each is chosen else each for each in graph.nodes)
            graph = replace(graph, nodes=nodes)
        else:
            gone = dice.choice(graph.edges)
            graph = replace(graph, edges=tuple(edge for edge in graph.edges if edge is not gone))
        return UUID(str(self.world.publish(graph).id))

    @precondition(lambda self: self.held)
    @rule(dice=DICE)
    def keep(self, dice: Random) -> None:
        """A body keeps a value, and keeps it again because the reply was lost: one row, and none of a zombie."""
        hand, held = dice.choice(self.held)
        present = self.is_present(held)
        key = new_id().hex  # never drawn twice: the same key once more is no second row
        before = self._kept(held)
        for _ in range(2):
            try:
                keep_checkpoint(hand.connection, held, kind="once", key=key, value=1)
                assert present
            except FencedOut:
                assert not present
        assert self._kept(held) == before + present

    def _kept(self, held: "Held") -> int:
        row = self.world.connection.execute(CHECKPOINTS, (held.step_run_id, held.fence)).fetchone()
        assert row is not None
        return int(row[0])

    @rule(dice=DICE)
    def fail_over(self, dice: Random) -> None:
        """Every worker of before is void; whoever was there begins again under a new id."""
        if dice.randrange(4):
            return
        raise_epoch(self.world.connection, actor="Ana", note="a failover of the model")
        for hand in self.hands:
            assert hand.claim().held is None
        self.dead += self.hands
        self.hands = [self.new_hand(), self.new_hand()]
