"""What happened in a run, told by Pawl's tables and counted from outside; and where the two differ. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sample.crash.launches import Launch

# Nodes of the sample whose body reaches the sample's servers: one arrival for each attempt, with the step's key.
ARRIVING = frozenset({"fetch", "download", "compliance", "upload", "notify"})
REVIEW = "review"
CRASHED = "compliance"


@dataclass(frozen=True)
class StepFacts:
    """A step as Pawl's API tells it."""

    path: str
    attempts: int
    status: str
    key: str  # idempotency key
    waits: int = 0
    started_at: str | None = None
    finished_at: str | None = None
    succeeded_at: datetime | None = None
    succeeded_attempt: int = 0
    has_body: bool = True  # False: its kind only computes, and no child is launched for it

    @property
    def top(self) -> str:
        """'ocr_documents' of 'ocr_documents[3].read'."""
        return self.path.partition("[")[0]

    @property
    def node(self) -> str:
        return self.path.rpartition(".")[2]


@dataclass
class RunFacts:
    run: str
    status: str
    steps: Sequence[StepFacts]
    launches: Sequence[Launch]
    broke_at: float  # time.time() of the kill, or of the resume
    problems: list[str] = field(default_factory=list)

    def under(self, top: str) -> list[StepFacts]:
        return [step for step in self.steps if step.top == top]


def attempts_of(facts: RunFacts, top: str) -> int:
    """Of a map the largest of its items, of the approval the number of waits opened."""
    steps = facts.under(top)
    if top == REVIEW:
        return sum(step.waits for step in steps)
    return max((step.attempts for step in steps), default=0)


def repeated_launches(facts: RunFacts) -> list[Launch]:
    """Launches of a path whose success was committed before."""
    steps = {step.path: step for step in facts.steps}
    seen: Counter[tuple[str, int]] = Counter()
    repeated = []
    for launch in facts.launches:
        seen[launch.path, launch.attempt] += 1
        step = steps.get(launch.path)
        if step is None or step.succeeded_at is None:
            continue
        is_later_attempt = launch.attempt > step.succeeded_attempt
        is_second_line = seen[launch.path, launch.attempt] > 1 and launch.seen_at > step.succeeded_at.timestamp()
        if is_later_attempt or is_second_line:
            repeated.append(launch)
    return repeated


def launch_differences(facts: RunFacts) -> Iterable[str]:
    """The launcher's lines against the attempts in Pawl's tables."""
    lines = Counter(launch.path for launch in facts.launches)
    known = {step.path for step in facts.steps}
    for step in facts.steps:
        if step.has_body and lines[step.path] != step.attempts:
            yield f"{step.path}: {step.attempts} attempts in Pawl's tables, {lines[step.path]} lines of the launcher"
    for path in sorted(set(lines) - known):
        yield f"{path}: {lines[path]} lines of the launcher, and no such step in Pawl's tables"


def arrival_differences(steps: Iterable[StepFacts], arrivals: Mapping[str, int]) -> Iterable[str]:
    """What the sample's servers received, by idempotency key, against the attempts of all runs."""
    expected = {step.key: step for step in steps if step.node in ARRIVING}
    for key, step in expected.items():
        if arrivals.get(key, 0) != step.attempts:
            yield f"{step.path}: {step.attempts} attempts, but the sample's servers received {arrivals.get(key, 0)}"
    for key in sorted(set(arrivals) - set(expected)):
        yield f"The sample's servers received {arrivals[key]} with the key {key!r}, which no step of these runs has"


def wrong_attempts(facts: RunFacts, order: Sequence[str]) -> Iterable[str]:
    for number, top in enumerate(order, start=1):
        expected, found = 2 if top == CRASHED else 1, attempts_of(facts, top)
        if found != expected:
            yield f"step {number} ({top}) had {found} attempts; {expected} were expected"


def recovery_s(facts: RunFacts) -> float | None:
    """From the kill, or the resume, to the second attempt's line."""
    second = next((each for each in facts.launches if each.path == CRASHED and each.attempt > 1), None)
    return round(second.seen_at - facts.broke_at, 3) if second else None
