"""The rules of the core against a naive reference: whatever the graph, the outcomes and their order."""

import os
from random import Random
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from runs.core.fold import fold
from tests.graphs import show
from tests.memory import MemoryRun
from tests.random_runs import UPSTREAM, Bodies, advance, candidates, play, random_graph
from tests.reference import Reference

EXAMPLES = 2_000 if os.environ.get("PAWL_PROVE") else 60
DICE = st.randoms(use_true_random=False)


def begun(dice: Random, **options: Any) -> tuple[MemoryRun, Bodies]:
    graph = random_graph(dice, upstream=options.pop("upstream", UPSTREAM))
    note(show(graph))
    return MemoryRun(graph), Bodies(dice, graph, **options)


def check_against(reference: Reference, memory: MemoryRun) -> None:
    assert memory.statuses() == reference.statuses
    assert memory.run.status == reference.run_status


@given(dice=DICE)
@settings(max_examples=EXAMPLES * 2)
def test_a_run_ends_as_the_reference_says_whatever_the_order(dice: Random) -> None:
    memory, bodies = begun(dice)
    play(memory, bodies)
    check_against(Reference(memory.graph, bodies), memory)


@given(dice=DICE)
@settings(max_examples=EXAMPLES)
def test_the_events_alone_give_the_same_statuses_at_every_moment(dice: Random) -> None:
    memory, bodies = begun(dice, item_policies=("fail_at_end", "continue", "fail_fast"))
    while True:
        folded = fold(memory.definition, memory.events)
        assert (folded.run, folded.steps) == (memory.run.status, memory.statuses())
        if not (found := candidates(memory)):
            return
        advance(memory, bodies, dice.choice(found))
