"""Limits that pass, and runs that a step starts, as rules of the model in runs_store_model_test.py; and how bodies of
every kind end.
"""

from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import rule

from runs.core.definition import Definition
from runs.core.outcomes import Again, Crashed, Fans, Outcome, Skipped, Stopped, Succeeded, TimedOut, Waits
from runs.core.rows import CHILD
from runs.engine.children import deliver
from runs.engine.sweep import fail_over_limit
from tests.random_acts import WAITS
from tests.random_runs import BROKEN, FLAKY, PORTS

if TYPE_CHECKING:
    from runs.store.claim import Held
    from tests.engine import World

DICE = st.randoms(use_true_random=False)
OPENED = "SELECT item_cursor FROM runs_steprun WHERE id = %s AND item_total IS NOT NULL"
PASS_LIMITS = """UPDATE runs_steprun SET {which}_limit_s = 1, {which}_until = statement_timestamp()
    WHERE run_id = %s AND path = %s AND status = ANY(%s)"""
LIMITED = {"queue": ["ready"], "total": ["ready", "retry_wait", "waiting"]}
UNANSWERED: tuple[Outcome, ...] = (
    FLAKY,
    BROKEN,
    TimedOut(1.0),
    TimedOut(1.0, "idle_limit"),
    TimedOut(1.0, "total_limit"),
    Crashed("killed"),
    Stopped(),
    Skipped(),
)


class Waiting:
    world: "World"
    run_id: UUID
    definition: Definition
    callable: UUID  # a workflow whose runs end at once

    def run_status(self) -> str:
        raise NotImplementedError

    @rule(dice=DICE)
    def let_a_limit_pass(self, dice: Random) -> None:
        """What waited for a worker, or took, too long in all: failed once, and not while its run is paused."""
        statuses, which = self.world.statuses(self.run_id), dice.choice(list(LIMITED))
        path = dice.choice([path for path, status in statuses.items() if status in LIMITED[which]] or list(statuses))
        status = LIMITED[which] if dice.randrange(3) == 0 else []
        self.world.connection.execute(PASS_LIMITS.format(which=which), (self.run_id, path, status))
        is_over = self.run_status() == "running" and statuses[path] in status
        assert fail_over_limit(self.world.connection) == is_over or self.run_status() != "running"
        assert not is_over or self.world.statuses(self.run_id)[path] == "failed"
        assert fail_over_limit(self.world.connection) == 0

    @rule()
    def deliver_what_runs_tell_each_other(self) -> None:
        deliver(self.world.connection)

    # ------------------------------------------------------------------ bodies
    def outcome(self, held: "Held", dice: Random) -> Outcome:
        if dice.randrange(3) == 0:
            return dice.choice([*UNANSWERED, self.question(dice.choice(["approval", "form", "callback"]), dice)])
        kind = self.definition.nodes[held.node_id].kind
        if kind in WAITS:
            return self.question(WAITS[kind], dice)
        return self.success(held, dice)

    def question(self, kind: str, dice: Random) -> Outcome:
        if kind == "timer":
            return Waits("timer", 5.0, {})
        if kind == CHILD:  # one that ends at once, or that is not there
            return Waits(CHILD, None, {"workflow": str(dice.choice([self.callable, self.run_id])), "input": None})
        rules = {"approvals_needed": dice.choice([1, 1, 2]), "on_expire": dice.choice(["fail", "reject"])}
        return Waits(kind, dice.choice([None, 60.0]), rules)

    def success(self, held: "Held", dice: Random) -> Outcome:
        kind = self.definition.nodes[held.node_id].kind
        opened = self.world.connection.execute(OPENED, (held.step_run_id,)).fetchone()
        if opened is not None:  # a loop that asks
            return Again(dice.randrange(2) == 0 and opened[0] < 3, at_most="end")
        if kind == "loop":
            return Fans([None], 1, "fail_at_end", mode="rounds", most=dice.randint(1, 3), gather="last")
        if kind == "try_block":
            return Fans([None], 1, "fail_at_end", mode="once", gather="last")
        if kind == "map":
            policy = dice.choice(["fail_fast", "fail_at_end", "continue"])
            tolerated = dice.choice([0, 0, 1])
            return Fans([*range(dice.randint(0, 3))], dice.randint(1, 2), policy, tolerated=tolerated)
        return Succeeded({"x": 1}, dice.choice(PORTS.get(kind, ("out",))))
