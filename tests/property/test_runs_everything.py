"""Everything that can happen to a run, in whatever order: the invariants hold after each act, every preview is what the
act does, nothing that succeeded changes, and from wherever the run is it can be driven to its end.
"""

import os
from random import Random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from runs.core.fold import fold
from runs.core.rows import Row
from runs.core.states import RunStatus, StepStatus
from tests.graphs import show
from tests.memory import MemoryRun
from tests.random_acts import Player, every_graph
from tests.random_runs import random_graph

EXAMPLES = int(os.environ.get("PAWL_EVERYTHING_EXAMPLES") or (2_000 if os.environ.get("PAWL_PROVE") else 100))
DICE = st.randoms(use_true_random=False)


def begun(dice: Random) -> Player:
    graph = random_graph(dice, **every_graph(dice))
    note(show(graph))
    note(str({node.key: node.policy for node in graph.nodes}))
    return Player(dice, MemoryRun(graph))


@given(dice=DICE)
@settings(max_examples=EXAMPLES)
def test_whatever_happens_a_run_can_be_driven_to_its_end(dice: Random) -> None:
    player = begun(dice)
    player.play(dice.choice([5, 20, 60]))
    player.drive()
    follow_up(player)


def follow_up(player: Player) -> None:
    memory = player.memory
    assert memory.run.status is RunStatus.SUCCEEDED
    folded = fold(memory.definition, memory.events)
    assert (folded.run, folded.steps) == (memory.run.status, memory.statuses())
    for row in memory.rows.values():
        if row.status is StepStatus.SUCCEEDED and row.items is not None and row.origin == "executed":
            all_its_items_are_done(memory, row)


def all_its_items_are_done(memory: MemoryRun, container: Row) -> None:
    items = container.items
    assert items is not None
    assert (items.cursor, items.open, items.reopen) == (items.total, 0, []), container.path
    failed = 0
    for index in range(items.total):
        rows = [row for row in memory.rows.values() if (row.parent_id, row.index) == (container.id, index)]
        assert {row.node_id for row in rows} == {
            node.id for node in memory.graph.nodes if node.parent == container.node_id
        }, container.path
        failed += any(row.status is StepStatus.FAILED and row.handled is None for row in rows)
    inside = [node for node in memory.graph.nodes if node.parent == container.node_id]
    if any(node.policy.join != "all" for node in inside):
        return  # a join may have made up for a failure
    assert failed == items.failed or container.port == "failed", f"{container.path}: {failed} of its items failed"
