"""Forks against a naive rule: whatever is forked from where, at any moment, ends as a fresh run of that version would.

What each body does is told by everything that its step is and needs, written out by naive recursion. So a copy that
should have run again would show, and so would a node hash that covers too little.
"""

import os
from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from builder.graph.model import Edge, Graph, Node
from kit.errors import AppError
from runs.core.commands import cancel
from runs.core.fold import fold
from runs.core.outcomes import Again, Fans, Outcome, Succeeded
from runs.core.resume import resume
from runs.core.rows import Row
from runs.core.states import StepStatus
from tests.graphs import show
from tests.memory import MemoryRun
from tests.random_runs import BROKEN, PORTS, random_graph
from tests.reference import Reference, Result

EXAMPLES = 2_000 if os.environ.get("PAWL_PROVE") else 60
DICE = st.randoms(use_true_random=False)


def told(graph: Graph, node: Node) -> str:
    """All that the node is and needs, in words: its ways in, its containers, and of a container its body."""
    by_id = {each.id: each for each in graph.nodes}
    ways = sorted(
        f"{edge.source_port}<{told(graph, by_id[edge.source])}" for edge in graph.edges if edge.target == node.id
    )
    policy = node.policy
    own = f"{node.key} {node.kind} {dict(node.config)} {policy.on_error} {policy.on_upstream_failure} {policy.join}"
    around = f" in {told(graph, by_id[node.parent])}" if node.parent else ""
    return f"({own} {ways}{around})"


class Bodies:
    """What bodies do, by a number made of what their steps are: equal steps do the same in each run."""

    def __init__(self, graph: Graph, *, salt: int, fails: bool) -> None:
        self.graph, self.salt, self.fails = graph, salt, fails
        self.nodes = {node.key: node for node in graph.nodes}

    def __call__(self, path: str) -> Result:
        node = self.nodes[path.rsplit(".", 1)[-1]]
        items = "".join(each for each in path if each.isdigit() or each in "[]")
        dice = Random(f"{self.salt} {told(self.graph, node)} {items}")
        if self.fails and node.policy.on_error != "fail" and dice.randrange(4) == 0:
            return Result(port=None)
        if node.kind == "map":
            return Result(items=dice.randint(0, 3), window=dice.randint(1, 2))
        if node.kind == "loop":
            return Result(items=dice.randint(1, 3))
        return Result(port=dice.choice(PORTS.get(node.kind, ("out",))))

    def outcome(self, row: Row) -> Outcome:
        path, result = row.path, self(row.path)
        if row.items is not None:  # a loop that asks
            return Again(row.items.cursor < (result.items or 0))
        if result.port is None:
            return BROKEN
        if self.nodes[path.rsplit(".", 1)[-1]].kind == "loop":
            return Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last")
        if result.items is not None:
            return Fans([*range(result.items)], result.window, result.on_item_failure)
        return Succeeded(path, result.port)


def changed(graph: Graph, dice: Random) -> Graph:
    """The graph with something different: settings, an edge more or less, a step more."""
    match dice.randrange(4):
        case 0:
            chosen = dice.choice(graph.nodes[1:] or graph.nodes)
            nodes = tuple(replace(n, config={"value": dice.random()}) if n is chosen else n for n in graph.nodes)
            return replace(graph, nodes=nodes)
        case 1 if graph.edges:
            gone = dice.choice(graph.edges)
            return replace(graph, edges=tuple(edge for edge in graph.edges if edge is not gone))
        case 2:
            parent = dice.choice([None, *(node.id for node in graph.nodes if node.kind in ("map", "loop"))])
            node = Node("n_new", "new", "pass_through", parent=parent)
            befores = [each for each in graph.nodes if each.parent == parent]
            edges = [Edge("e_new", dice.choice(befores).id, "n_new")] if befores and dice.randrange(2) else []
            return replace(graph, nodes=(*graph.nodes, node), edges=(*graph.edges, *edges))
        case _:
            return graph


def play(memory: MemoryRun, bodies: Bodies, dice: Random, *, steps: int = 10_000) -> None:
    """Ready steps end in an order that is drawn, some of them after a failure that a resume takes up."""
    for _ in range(steps):
        ready = [row.path for row in memory.rows.values() if row.status in (StepStatus.READY, StepStatus.RUNNING)]
        if not ready:
            return
        path = dice.choice(ready)
        memory.finish(path, bodies.outcome(memory.by_path(path)))


def disturbed(memory: MemoryRun, bodies: Bodies, dice: Random) -> None:
    """The source at any moment: in the middle, failed, cancelled, resumed, or at its end."""
    play(memory, bodies, dice, steps=dice.choice([0, 2, 5, 10, 10_000]))
    caught = {node.key for node in memory.graph.nodes if node.policy.on_error != "fail"}  # would be kept as they are
    ready = [path for path in memory.ready() if path.rsplit(".", 1)[-1] not in caught]
    if ready and dice.randrange(2):
        memory.finish(dice.choice(ready), BROKEN)
    if memory.run.status == "running" and dice.randrange(3) == 0:
        memory.transact(cancel)
    if dice.randrange(4) == 0:
        try:
            memory.transact(resume)
        except AppError:
            return
        play(memory, bodies, dice, steps=3)


def same(row: Row) -> tuple[object, ...]:
    return row.status, row.port, row.handled, row.reason, row.attempt, row.edition


@given(dice=DICE)
@settings(max_examples=EXAMPLES)
def test_a_fork_ends_as_a_fresh_run_of_its_version_would(dice: Random) -> None:
    graph = random_graph(dice, upstream=("skip",), joins=("all",), maps_catch=False, containers=("map", "loop"))
    salt, fails = dice.randrange(10**6), dice.randrange(2) == 0
    memory = MemoryRun(graph)
    disturbed(memory, Bodies(graph, salt=salt, fails=fails), dice)
    version = changed(graph, dice)
    target = dice.choice([None, *memory.statuses()])
    note(f"{show(graph)}\n-- {target} of {memory.statuses()} on\n{show(version)}")
    before = (memory.statuses(), len(memory.events))
    try:
        fork, planned = memory.fork(target, graph=None if version is graph else version)
    except AppError:
        return
    assert (memory.statuses(), len(memory.events)) == before
    bodies = Bodies(version, salt=salt, fails=fails)
    copies = {place.path: place.source for place in planned.places if place.is_copy}
    play(fork, bodies, dice)
    assert fork.statuses() == Reference(version, bodies).statuses
    started = Counter(event.path for event in fork.events if event.type == "step.running")
    for path, source in copies.items():
        assert source is not None
        assert same(fork.by_path(path)) == same(source)
        assert started[path] == 0
    assert target not in copies
    folded = fold(fork.definition, fork.events)
    assert (folded.run, folded.steps) == (fork.run.status, fork.statuses())
