"""People mend runs at any moment, in any way: what comes out is what the reference says of a run mended so."""

import os
from random import Random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from kit.errors import AppError
from runs.core.commands import cancel
from runs.core.plan import Plan
from runs.core.repair import edit_input, retry_now, skip, supply_output
from runs.core.resume import resume
from runs.core.rows import Row, Stored
from runs.core.states import StepStatus
from runs.core.transition import Transition
from tests.graphs import show
from tests.memory import MemoryRun, copied
from tests.random_runs import PORTS, Bodies, advance, candidates, random_graph
from tests.reference import Ending, Reference, Result

EXAMPLES = 2_000 if os.environ.get("PAWL_PROVE") else 60
DICE = st.randoms(use_true_random=False)


class Mended:
    """A run that is played, and mended whenever the dice say so."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        # Not mixed: what was skipped stays so where a person has something after it done (see resume_test).
        graph = random_graph(
            dice,
            upstream=(dice.choice(["skip", "wait"]),),
            maps_catch=False,
            joins=("all",),
            containers=("map", "loop"),
        )
        note(show(graph))
        self.memory = MemoryRun(graph)
        policies = ("fail_at_end", "fail_fast")
        self.bodies = Bodies(dice, graph, may_fail=False, most_failures=1, item_policies=policies)
        self.handled: dict[str, Result] = {}
        self.by_hand: dict[str, Ending] = {}

    def result(self, path: str) -> Result:
        return self.handled.get(path, self.bodies(path))

    def play(self) -> None:
        while self.goes_on():
            if found := candidates(self.memory):
                advance(self.memory, self.bodies, path := self.dice.choice(found))
                row = self.memory.by_path(path)
                if row.status is StepStatus.FAILED and row.handled:
                    self.handled[path] = Result(port=None)

    def goes_on(self) -> bool:
        if self.memory.run.status == "running" and self.dice.randrange(20) == 0:
            self.memory.transact(cancel)
        if candidates(self.memory) and self.dice.randrange(6):
            return True
        return self.mend() or self.resume() or bool(candidates(self.memory))

    def resume(self) -> bool:
        try:
            self.memory.transact(resume)
        except AppError:
            return False
        return True

    def mend(self) -> bool:
        """One step in one of the ways, if that is possible; its preview says what the act does, and changes nothing."""
        stuck = [row for row in self.memory.rows.values() if row.status in (StepStatus.FAILED, StepStatus.BLOCKED)]
        stuck += [row for row in self.memory.rows.values() if row.status is StepStatus.RETRY_WAIT]
        if not stuck or not self.dice.randrange(3):
            return False
        row = self.dice.choice(stuck)
        act = self.dice.choice([edit_input, skip, supply_output, retry_now])
        if row.items is not None:
            return False  # what becomes of a whole container is told by examples
        return self.do(row, act)

    def do(self, row: Row, act: object) -> bool:
        path, port = row.path, self.dice.choice(PORTS.get(self.memory.definition.nodes[row.node_id].kind, ("out",)))

        def change(tx: Transition) -> Plan:
            mine = self.memory._in(tx, path)
            if act is supply_output:
                return supply_output(tx, mine, output=Stored(text="1"), port=port)
            return act(tx, mine)  # type: ignore[operator, no-any-return]

        before = {each.path: copied(each) for each in self.memory.rows.values()}
        try:
            plan = self.memory.preview(change)
        except AppError:
            return False
        assert {each.path: each for each in self.memory.rows.values()} == before
        self.memory.places += 1
        assert self.memory.transact(change) == plan
        self.nothing_finished_has_changed(before)
        if act in (skip, supply_output):
            self.by_hand[path] = Ending("skipped", "out") if act is skip else Ending("succeeded", port)
        return True

    def nothing_finished_has_changed(self, before: dict[str, Row]) -> None:
        now = {each.path: copied(each) for each in self.memory.rows.values()}
        done = [path for path, row in before.items() if row.status is StepStatus.SUCCEEDED]
        assert {path: now[path] for path in done} == {path: before[path] for path in done}


@given(dice=DICE)
@settings(max_examples=EXAMPLES)
def test_a_run_that_people_mend_at_any_moment_ends_as_if_nothing_else_had_failed(dice: Random) -> None:
    mended = Mended(dice)
    mended.play()
    memory = mended.memory
    reference = Reference(memory.graph, mended.result, kept=mended.by_hand)
    assert memory.statuses() == reference.statuses
    assert memory.run.status in ("succeeded", "cancelled")  # the latter where its last step ended after the cancel
