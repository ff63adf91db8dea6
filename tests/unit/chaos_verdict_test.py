"""The verdict of the chaos job sees each kind of harm: a job that can only be content proves nothing."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.kinds import BEGAN, DONE
from tests.chaos.orders import Order
from tests.chaos.people import OPERATIONS, People
from tests.chaos.plan import Fault
from tests.chaos.shapes import Shape, Shapes
from tests.chaos.verdict import LEAST_RUNS, Facts, Trace, Verdict, judge

CHAIN: Shape = Shapes("/outside", "/mended").chain()
KIND = "chaos_keyed"
WORKFLOW = "workflow"
ORDERS = [Order(number * 11, CHAIN, run=f"run-{number}") for number in range(LEAST_RUNS)]
FIRST = "run-0"
FORK = Order(1, CHAIN, run="fork", source=FIRST, depth=1)


def healthy(*more: Order) -> Facts:
    """Every run is one step Z, done at its second attempt."""
    runs, steps, events, traces = [], [], [], []
    launches: Counter[Any] = Counter()
    for order in (*ORDERS, *more):
        run = str(order.run)
        runs.append((run, "succeeded", 4, WORKFLOW, str(order.number), run, None))
        steps.append((run, "Z", KIND, "succeeded", 2, "executed", str(CHAIN.gives(order.number)), 1))
        told = [("step.running", 1), ("step.retry_wait", 1), ("step.running", 2), ("step.succeeded", 2)]
        events += [(run, seq, kind, "Z", attempt, False) for seq, (kind, attempt) in enumerate(told, start=1)]
        for attempt, fence in ((1, 1), (2, 3)):
            launches[run, "Z", attempt] = 1
            traces.append(Trace(run, "Z", attempt, fence, f"key-{run}", BEGAN))
        traces.append(Trace(run, "Z", 2, 3, f"key-{run}", DONE))
    return Facts(runs, steps, events, [], traces, launches)


def people(*orders: Order) -> People:
    """They did everything that people do."""
    made = People([], {WORKFLOW: CHAIN}, started=1, mended=Path("/mended"), seed=1)
    made.desk.done.update(OPERATIONS)
    for order in orders or ORDERS:
        made.book.add(order)
    return made


def verdict_on(facts: Facts, *orders: Order, decided: bool = False) -> Verdict:
    asked = people(*orders)
    asked.decided |= {(FIRST, "Z")} if decided else set()
    return judge(facts, asked, struck=dict.fromkeys(Fault, 1))


def test_what_is_healthy_is_good() -> None:
    verdict = verdict_on(healthy())
    assert verdict.reasons() == []
    assert verdict.is_good
    line = json.loads(verdict.line())
    assert (line["runs"], line["rerun_attempts"], line["lost"]) == (LEAST_RUNS, LEAST_RUNS, 0)


def status(facts: Facts, to: str) -> Facts:
    return replace(facts, runs=[(FIRST, to, *facts.runs[0][2:]), *facts.runs[1:]])


def output(facts: Facts, to: str | None) -> Facts:
    return replace(facts, steps=[(*facts.steps[0][:6], to, 1), *facts.steps[1:]])


def more(facts: Facts, **rows: Any) -> Facts:
    return replace(facts, **{name: [*getattr(facts, name), *added] for name, added in rows.items()})


def inside(run: str, status: str) -> Any:
    """A run that the first run's step 7 started."""
    return (run, status, 0, WORKFLOW, "0", FIRST, 7)


HARM: dict[str, tuple[str, Callable[[Facts], Facts]]] = {
    "a run that runs for ever": ("lost", lambda facts: status(facts, "running")),
    "a run that failed": ("lost", lambda facts: status(facts, "failed")),
    "a run that is gone": ("lost", lambda facts: replace(facts, runs=facts.runs[1:])),
    "a run that nobody asked for": (
        "lost", lambda facts: more(facts, runs=[("x", "succeeded", 0, WORKFLOW, "1", "x", None)]),
    ),
    "a wrong output": ("lost", lambda facts: output(facts, "99")),
    "no output": ("lost", lambda facts: output(facts, None)),
    "a success without a body's end": (
        "lost",
        lambda facts: replace(facts, traces=[each for each in facts.traces if each.of != (FIRST, "Z", 2)]),
    ),
    "a start after the success": (
        "repeated_finished",
        lambda facts: replace(
            more(facts, events=[(FIRST, 5, "step.running", "Z", 3, False)]),
            runs=[(FIRST, "succeeded", 5, *facts.runs[0][3:]), *facts.runs[1:]],
        ),
    ),
    "a body after the success": (
        "repeated_finished",
        lambda facts: replace(facts, launches=facts.launches + Counter({(FIRST, "Z", 3): 1})),
    ),
    "an attempt that began twice": (
        "repeated_finished",
        lambda facts: replace(facts, launches=facts.launches + Counter({(FIRST, "Z", 2): 1})),
    ),
    "a copied step that began": (
        "repeated_finished",
        lambda facts: replace(facts, events=[*facts.events[:3], (*facts.events[3][:5], True), *facts.events[4:]]),
    ),
    "a run inside that failed": ("lost", lambda facts: more(facts, runs=[inside("x", "failed")])),
    "a step that started two runs": (
        "lost", lambda facts: more(facts, runs=[inside("x", "succeeded"), inside("y", "succeeded")]),
    ),
    "an event that is missing": ("event_gaps", lambda facts: replace(facts, events=facts.events[1:])),
    "an event number that the run does not know": (
        "event_gaps", lambda facts: more(facts, events=[(FIRST, 5, "command", None, None, False)]),
    ),
    "a broken invariant": ("invariants_broken", lambda facts: more(facts, broken=[(FIRST, "I6: counters differ")])),
    "a second idempotency key": (
        "invariants_broken", lambda facts: more(facts, traces=[Trace(FIRST, "Z", 3, 9, "another", BEGAN)]),
    ),
    "a fence that falls": (
        "invariants_broken", lambda facts: more(facts, traces=[Trace(FIRST, "Z", 3, 2, f"key-{FIRST}", BEGAN)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HARM)
def test_harm_of_each_kind_is_seen(what: str) -> None:
    kind, harm = HARM[what]
    verdict = verdict_on(harm(healthy()))
    assert getattr(verdict, kind), verdict.reasons()
    assert not verdict.is_good
    assert json.loads(verdict.line())[kind] >= 1


def test_what_is_at_most_once_and_began_twice_wants_a_decision() -> None:
    facts = healthy()
    facts = replace(facts, steps=[(FIRST, "Z", "chaos_at_most_once", *facts.steps[0][3:]), *facts.steps[1:]])
    assert verdict_on(facts).invariants_broken
    assert verdict_on(facts, decided=True).is_good


def test_a_job_in_which_nothing_happened_is_not_good() -> None:
    facts = healthy()
    calm = replace(facts, launches=Counter({each: 1 for each in facts.launches if each[2] == 1}))
    assert not verdict_on(calm).is_good
    assert not judge(facts, people(), struck={Fault.FLUSHALL: 1}).is_good
    few = replace(facts, runs=facts.runs[:1])
    assert not verdict_on(few, ORDERS[0]).is_good
    idle = people()
    del idle.desk.done["fork"]
    assert not judge(facts, idle, struck=dict.fromkeys(Fault, 1)).is_good


def test_a_fork_with_its_own_keys_is_good_and_one_with_its_origin_s_is_not() -> None:
    facts = healthy(FORK)
    assert verdict_on(facts, *ORDERS, FORK).reasons() == []
    own = f"key-{FORK.run}"
    shared = [replace(trace, key=f"key-{FIRST}") if trace.key == own else trace for trace in facts.traces]
    assert verdict_on(replace(facts, traces=shared), *ORDERS, FORK).invariants_broken
    same = replace(FORK, same_effects=True)
    assert verdict_on(replace(facts, traces=shared), *ORDERS, same).is_good
    assert verdict_on(facts, *ORDERS, same).invariants_broken
