"""The rules of the core against a naive reference: whatever the graph, the outcomes and their order."""

import os
from contextlib import suppress
from random import Random
from typing import Any
from uuid import uuid4

from hypothesis import given, note, settings
from hypothesis import strategies as st

from runs.core.breakpoints import Breakpoints
from runs.core.commands import cancel
from runs.core.control import pause, unpause
from runs.core.fold import fold
from runs.core.joins import has_run
from runs.core.resume import NothingToResume, resume
from runs.core.rows import Row, RunRow
from runs.core.states import RunStatus, StepStatus
from tests.graphs import show
from tests.memory import MemoryRun, copied
from tests.random_runs import JOINS, Bodies, advance, candidates, play, random_graph
from tests.reference import Reference, Result

EXAMPLES = 2_000 if os.environ.get("PAWL_PROVE") else 60
DICE = st.randoms(use_true_random=False)


def begun(dice: Random, *, stops: bool = False, **options: Any) -> tuple[MemoryRun, Bodies]:
    """`stops`: at breakpoints, too."""
    shape = {name: options.pop(name) for name in ("upstream", "maps_catch", "joins", "containers") if name in options}
    graph = random_graph(dice, **shape)
    note(show(graph))
    held = frozenset(node.id for node in graph.nodes if stops and node.id != "n_S" and dice.randrange(3) == 0)
    run = RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0, breakpoints=Breakpoints(nodes=held))
    return MemoryRun(graph, run=run), Bodies(dice, graph, **options)


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
def test_pauses_and_breakpoints_change_nothing_of_how_a_run_ends(dice: Random) -> None:
    memory, bodies = begun(dice, stops=True)
    passed: set[str] = set()
    while True:
        if memory.run.status is RunStatus.PAUSED and (not candidates(memory) or dice.randrange(3) == 0):
            assert passed.isdisjoint(memory.run.paused_at)  # nothing is held twice
            passed |= set(memory.run.paused_at)
            memory.transact(unpause)
        elif memory.run.status is RunStatus.RUNNING and dice.randrange(5) == 0:
            memory.transact(pause)
        if found := candidates(memory):
            advance(memory, bodies, dice.choice(found))
        elif memory.run.status is not RunStatus.PAUSED:
            break
    assert passed >= {row.path for row in memory.rows.values() if is_held(memory, row) and row.attempt}
    check_against(Reference(memory.graph, bodies), memory)


def is_held(memory: MemoryRun, row: Row) -> bool:
    return memory.run.breakpoints.hold(row.node_id, row.path)


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


@given(dice=DICE)
@settings(max_examples=EXAMPLES * 2)
def test_a_resume_reaches_what_the_reference_says(dice: Random) -> None:
    upstream = dice.choice([("skip", "wait"), ("skip", "default", "fail")])
    memory, bodies = begun(dice, upstream=upstream)
    play(memory, bodies)
    first = Reference(memory.graph, bodies)
    again = Bodies(dice, memory.graph, may_fail="wait" not in upstream)
    again.drawn |= {path: bodies(path) for path in bodies.drawn if f"{path}[0]" in str(first.statuses)}
    with suppress(NothingToResume):
        memory.transact(resume)
    play(memory, again)
    check_against(first if first.run_status == "succeeded" else Reference.after(first, again), memory)


@given(dice=DICE)
@settings(max_examples=EXAMPLES * 2)
def test_resumed_at_any_moment_a_run_ends_as_if_nothing_had_failed(dice: Random) -> None:
    # what a map that fails fast leaves open when a join or a try makes up for its failure depends on the order
    shapes = {
        "fast": {"joins": ("all",), "containers": ("map", "loop"), "item_policies": ("fail_at_end", "fail_fast")},
        "caught": {"joins": JOINS, "item_policies": ("fail_at_end",)},
    }
    policies = {"upstream": ("skip", "wait"), "maps_catch": False, **dice.choice([*shapes.values()])}
    memory, bodies = begun(dice, may_fail=False, most_failures=1, **policies)
    handled: dict[str, Result] = {}

    def result(path: str) -> Result:
        return handled.get(path, bodies(path))

    while interrupt(memory, dice):
        if found := candidates(memory):
            advance(memory, bodies, path := dice.choice(found))
            row = memory.by_path(path)
            if row.status is StepStatus.FAILED and row.handled:
                handled[path] = Result(port=None)
    handled |= {  # what a join or a try made up for; of a container that is told by its items
        path: Result(port=None)
        for path, row in rows_of(memory).items()
        if row.status is StepStatus.FAILED and row.items is None
    }
    assert memory.statuses() == Reference(memory.graph, result).statuses
    assert memory.run.status in ("succeeded", "cancelled")  # the latter where its last step ended after the cancel


@given(dice=DICE)
@settings(max_examples=EXAMPLES)
def test_a_join_that_takes_the_first_stops_what_leads_only_to_it_and_nothing_else(dice: Random) -> None:
    memory, bodies = begun(dice, joins=("all", "first"), upstream=("skip", "default", "fail"))
    play(memory, bodies)
    reference = Reference(memory.graph, bodies)
    left = {path: status for path, status in memory.statuses().items() if not is_lost(memory, path)}
    assert left == {path: status for path, status in reference.statuses.items() if not is_lost(memory, path)}
    assert memory.run.status == reference.run_status
    with suppress(NothingToResume):
        assert not any(is_lost(memory, path) for path in memory.preview(resume).again)


def is_lost(memory: MemoryRun, path: str) -> bool:
    """Whether the step, or a container around it, leads only to a join that has taken the first."""
    scope, _, key = path.rpartition(".")
    if scope and is_lost(memory, scope[: scope.rindex("[")]):
        return True
    node = memory.definition.by_key[key]
    found = {row.path: row for row in memory.rows.values()}
    races = [each for each in memory.definition.scope_of(node.parent).order if each.policy.join == "first"]
    ran = [race for race in races if has_run(found[f"{scope}.{race.key}".lstrip(".")])]
    return any(node.id in memory.definition.only_to(race.id) for race in ran)


def interrupt(memory: MemoryRun, dice: Random) -> bool:
    """Now and then, and whenever nothing else can go on: a pause, a cancel, or a resume, whose preview says what it
    does. False where nothing is left to do.
    """
    if memory.run.status == "running" and dice.randrange(12) == 0:
        memory.transact(dice.choice([cancel, pause]))
    if memory.run.status == "paused" and (not candidates(memory) or dice.randrange(3) == 0):
        memory.transact(dice.choice([cancel, unpause, unpause]))
    if not candidates(memory) or dice.randrange(8) == 0:
        done = {path: row for path, row in rows_of(memory).items() if row.status is StepStatus.SUCCEEDED}
        seq = memory.run.event_seq
        try:
            plan = memory.preview(resume)
        except NothingToResume:
            return bool(candidates(memory))
        assert memory.run.event_seq == seq
        assert memory.transact(resume) == plan
        assert {path: row for path, row in rows_of(memory).items() if path in done} == done
    return True


def rows_of(memory: MemoryRun) -> dict[str, Row]:
    return {row.path: copied(row) for row in memory.rows.values()}
