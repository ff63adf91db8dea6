"""What became of it all: Pawl's tables, read at rest, against the traces that bodies and launcher left outside."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tests.chaos.kinds import BEGAN, DONE
from tests.chaos.orders import Order
from tests.chaos.people import People
from tests.chaos.plan import Fault
from tests.chaos.shapes import LAST, Shape

LEAST_RUNS = 50
FINAL = ("succeeded", "failed", "cancelled")

RUNS = """SELECT id::text, status, event_seq, workflow_id::text, input, coalesce(root_id, id)::text, parent_step_id
    FROM runs_run"""
STEPS = """SELECT run_id::text, path, kind, status, attempt, origin, output, edition FROM runs_steprun"""
EVENTS = (
    """SELECT run_id::text, seq, type, path, attempt, data LIKE '%"copied"%' FROM runs_event ORDER BY run_id, seq"""
)
BROKEN = "SELECT run_id::text, what FROM runs_broken"

Attempt = tuple[str, str, int]  # run, path, number


@dataclass(frozen=True)
class Trace:
    """A line that a body wrote outside."""

    run: str
    path: str
    attempt: int
    fence: int
    key: str
    word: str

    @property
    def of(self) -> Attempt:
        return (self.run, self.path, self.attempt)


@dataclass
class Verdict:
    runs: int = 0
    steps: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    repeated_finished: list[str] = field(default_factory=list)
    event_gaps: list[str] = field(default_factory=list)
    invariants_broken: list[str] = field(default_factory=list)
    rerun_attempts: int = 0
    operations: Mapping[str, int] = field(default_factory=dict)  # what people did, as often as it was granted
    others: list[str] = field(default_factory=list)  # why it does not count although nothing broke

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.repeated_finished or self.event_gaps or self.invariants_broken or self.others)

    def reasons(self) -> list[str]:
        kinds = ("lost", "repeated_finished", "event_gaps", "invariants_broken", "others")
        return [f"{kind}: {each}" for kind in kinds for each in getattr(self, kind)]

    def line(self) -> str:
        counted = {
            "runs": self.runs,
            "steps": self.steps,
            "faults": dict(self.faults),
            "lost": len(self.lost),
            "repeated_finished": len(self.repeated_finished),
            "event_gaps": len(self.event_gaps),
            "invariants_broken": len(self.invariants_broken),
            "rerun_attempts": self.rerun_attempts,
            "operations": dict(sorted(self.operations.items())),
        }
        return json.dumps(counted)


@dataclass(frozen=True)
class Facts:
    """Everything that is compared."""

    runs: Sequence[Any]
    steps: Sequence[Any]
    events: Sequence[Any]
    broken: Sequence[Any]
    traces: Sequence[Trace]
    launches: Counter[Attempt]


def read_facts(database: psycopg.Connection[Any], *, outside: str, launches: str) -> Facts:
    """`outside` and `launches` are the texts of the two files."""
    traces = [_trace(line) for line in outside.splitlines()]
    begun: Counter[Attempt] = Counter()
    for line in launches.splitlines():
        run, path, attempt = line.split(" ")[:3]
        begun[run, path, int(attempt)] += 1
    database.execute("ANALYZE")
    read = [database.execute(query.encode()).fetchall() for query in (RUNS, STEPS, EVENTS, BROKEN)]
    return Facts(read[0], read[1], read[2], read[3], traces, begun)


def _trace(line: str) -> Trace:
    run, path, attempt, fence, key, word = line.split(" ")
    return Trace(run, path, int(attempt), int(fence), key, word)


def judge(facts: Facts, people: People, *, struck: Mapping[Fault, int]) -> Verdict:
    orders = people.book.orders
    verdict = Verdict(runs=len(facts.runs), faults={fault.value: struck.get(fault, 0) for fault in Fault})
    verdict.steps = sum(status == "succeeded" for _, _, _, status, *_ in facts.steps)
    verdict.rerun_attempts = sum(attempt > 1 for _, _, attempt in facts.launches)
    verdict.operations = people.desk.done
    verdict.lost += [*_lost_runs(facts, orders), *_wrong_outputs(facts, orders), *_unfounded(facts)]
    verdict.lost += _wrong_inside(facts, people.workflows)
    verdict.repeated_finished += _repeated(facts)
    verdict.event_gaps += _gaps(facts)
    verdict.invariants_broken += [f"{run} {what}" for run, what in facts.broken]
    verdict.invariants_broken += _broken_outside(facts, people)
    verdict.invariants_broken += _broken_forks(facts, orders)
    verdict.others += people.desk.problems
    verdict.others += [f"no {fault} struck" for fault, times in verdict.faults.items() if times == 0]
    verdict.others += [f"nobody did: {operation}" for operation in people.missing]
    if verdict.runs < LEAST_RUNS:
        verdict.others.append(f"only {verdict.runs} runs; {LEAST_RUNS} are asked for")
    if verdict.rerun_attempts == 0:
        verdict.others.append("no attempt ran again: the faults met nobody")
    return verdict


def _lost_runs(facts: Facts, orders: Sequence[Order]) -> list[str]:
    """What the API promised is there, once, and has come to its end."""
    known = {run: status for run, status, *_ in facts.runs}
    found = [f"run {run} is {status}: it has not come to its end" for run, status in known.items()
             if status not in FINAL]  # fmt: skip
    found += [f"run {order.run} (number {order.number}) was accepted and is not there" for order in orders
              if order.run is not None and order.run not in known]  # fmt: skip
    found += [f"number {order.number} was never answered" for order in orders if order.run is None]
    asked = {order.run for order in orders}
    strangers = [run for run, *_, root, _ in facts.runs if root not in asked]
    return found + [f"run {run} was started and nobody was told" for run in strangers]


def _wrong_outputs(facts: Facts, orders: Sequence[Order]) -> list[str]:
    statuses = {run: status for run, status, *_ in facts.runs}
    outputs = _outputs(facts)
    found = []
    for order in orders:
        run, status = order.run or "", statuses.get(order.run or "")
        if status == "succeeded":
            if outputs.get(run) != [order.gives]:
                found.append(f"run {run} ({order.shape.name}) gave {outputs.get(run)}, not {order.gives}")
        elif not (status == "cancelled" and order.stays_cancelled):
            found.append(f"run {run} ({order.shape.name}) ended as {status}")
    return found


def _outputs(facts: Facts) -> dict[str, list[Any]]:
    """What the last step of each run gave, in a list of one: a null is an output as well."""
    return {
        run: [None if output is None else json.loads(output)]
        for run, path, _, status, _, _, output, _ in facts.steps
        if path == LAST and status == "succeeded"
    }


def _wrong_inside(facts: Facts, shapes: Mapping[str, Shape]) -> list[str]:
    """Runs that steps of other runs started: one for each step, and right where the run around them succeeded."""
    statuses = {run: status for run, status, *_ in facts.runs}
    outputs = _outputs(facts)
    times = Counter(step for *_, step in facts.runs if step is not None)
    found = [f"step run {step} started {count} runs" for step, count in times.items() if count > 1]
    for run, status, _, workflow, number, root, step in facts.runs:
        if step is None or statuses[root] != "succeeded":
            continue
        gives = [shapes[workflow].gives(int(number))]
        if status != "succeeded" or outputs.get(run) != gives:
            found.append(f"run {run} inside run {root} is {status} and gave {outputs.get(run)}, not {gives}")
    return found


def _unfounded(facts: Facts) -> list[str]:
    """A step that succeeded, and no body outside that came to its end in that attempt: a result out of nothing."""
    done = {trace.of for trace in facts.traces if trace.word == DONE}
    success = _successes(facts)
    return [
        f"{run} {path} succeeded in attempt {success.get((run, path))}, whose body was never done"
        for run, path, kind, status, _, origin, *_ in facts.steps
        if status == "succeeded" and origin == "executed" and kind.startswith("chaos_")
        and (run, path, success.get((run, path), 0)) not in done
    ]  # fmt: skip


def _successes(facts: Facts) -> dict[tuple[str, str], int]:
    return {(run, path): attempt or 0 for run, _, kind, path, attempt, _ in facts.events if kind == "step.succeeded"}


def _repeated(facts: Facts) -> list[str]:
    """What began after its own success, in the events and outside; and attempts that began twice outside.

    A fork is another run, whose steps have paths of their own: what it copied may not begin in it at all.
    """
    found = []
    seen: set[tuple[str, str]] = set()
    copied: set[tuple[str, str]] = set()
    for run, seq, kind, path, attempt, is_copied in facts.events:
        if (run, path) in seen and kind in ("step.running", "step.succeeded"):
            found.append(f"{run} {path}: {kind} (event {seq}, attempt {attempt}) after its success")
        if kind == "step.succeeded":
            seen.add((run, path))
            copied |= {(run, path)} if is_copied else set()
    success = _successes(facts)
    for (run, path, attempt), times in facts.launches.items():
        if (run, path) in copied:
            found.append(f"{run} {path}: attempt {attempt} began outside, and the step is a copy")
        elif attempt > success.get((run, path), attempt):
            found.append(f"{run} {path}: attempt {attempt} began outside, attempt {success[run, path]} had succeeded")
        if times > 1:
            found.append(f"{run} {path}: attempt {attempt} began {times} times outside")
    return found


def _gaps(facts: Facts) -> list[str]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for run, seq, *_ in facts.events:
        numbers[run].append(seq)
    return [
        f"run {run} has events {numbers[run][:3]}..{numbers[run][-1:]} ({len(numbers[run])} of {last})"
        for run, _, last, *_ in facts.runs
        if numbers[run] != list(range(1, last + 1))
    ]


def _broken_outside(facts: Facts, people: People) -> list[str]:
    """Promises P2 and P3 as the outside sees them: one key for all attempts, rising fences, once means once."""
    once = {(run, path) for run, path, kind, *_ in facts.steps if kind == "chaos_at_most_once"}
    found = []
    for (run, path), traces in _begun(facts).items():
        ordered = sorted(traces, key=lambda trace: trace.attempt)
        fences = [trace.fence for trace in ordered]
        if fences != sorted(set(fences)):
            found.append(f"{run} {path}: fences {fences} do not rise with the attempts")
        if len({trace.key for trace in ordered}) > 1 and (run, path) not in people.rekeyed:
            found.append(f"{run} {path}: its attempts had several idempotency keys")
        if (run, path) in once and len(ordered) > 1 and (run, path) not in people.decided:
            found.append(f"{run} {path} is at most once, and began {len(ordered)} times without anybody's decision")
    return found


def _begun(facts: Facts) -> Mapping[tuple[str, str], Sequence[Trace]]:
    begun: dict[tuple[str, str], list[Trace]] = defaultdict(list)
    for trace in facts.traces:
        if trace.word == BEGAN:
            begun[trace.run, trace.path].append(trace)
    return begun


def _broken_forks(facts: Facts, orders: Sequence[Order]) -> list[str]:
    """A fork has idempotency keys of its own, unless it was asked for the same effects."""
    begun = _begun(facts)
    editions = {(run, path): edition for run, path, *_, edition in facts.steps}
    found = []
    for order in [each for each in orders if each.source is not None]:
        for run, path in [place for place in begun if place[0] == order.run]:
            mine, theirs = ({trace.key for trace in begun.get((of, path), ())} for of in (run, str(order.source)))
            if not order.same_effects and mine & theirs:
                found.append(f"{run} {path}: a fork that has the keys of run {order.source}")
            first = editions.get((run, path)) == editions.get((str(order.source), path)) == 1
            if order.same_effects and theirs and first and mine != theirs:
                found.append(f"{run} {path}: a fork with the same effects, and other keys than run {order.source}")
    return found
