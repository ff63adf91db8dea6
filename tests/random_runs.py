"""Random graphs, random outcomes, and a run in memory that is played with them in a random order.

Everything is thrown with dice that the caller gives: Hypothesis's own, which it can shrink, or a seeded Random.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Literal

from builder.graph.model import Edge, Graph, Node, Policy, Retry
from runs.core.commands import retry_due, timer_due
from runs.core.outcomes import Again, Crashed, Error, Failed, Fans, Outcome, Stopped, Succeeded, TimedOut, Waits
from runs.core.states import RunStatus, StepStatus
from tests.memory import MemoryRun
from tests.reference import CONTAINERS, Result

PORTS = {"branch": ("true", "false"), "try_block": ("out", "failed"), "approval": ("approved", "rejected")}
PLAIN = ("pass_through", "pass_through", "pass_through", "branch", "branch")
# Also what asks people, programs and time, what starts other runs, and what acts.
EVERY_KIND = (*PLAIN, "approval", "form", "wait_for_callback", "delay", "wait_until", "run_workflow", "email")
UPSTREAM = ("skip", "skip", "wait", "default", "fail")
JOINS = ("all", "all", "any", "count")  # what `first` leaves depends on who is first
ON_ERROR = ("fail", "fail", "fallback", "port")
FLAKY = Failed(Error("flaky", "Try again.", retryable=True))
BROKEN = Failed(Error("broken", "It broke."))


def random_graph(
    dice: Random,
    *,
    upstream: tuple[str, ...] = UPSTREAM,
    maps_catch: bool = True,
    joins: tuple[str, ...] = JOINS,
    containers: tuple[str, ...] = CONTAINERS,
    kinds: tuple[str, ...] = PLAIN,
    deliveries: tuple[Literal["at_most_once"] | None, ...] = (None,),
    most_inside: int = 3,
) -> Graph:
    """A start, and up to 15 nodes after it: joins, branches, containers in containers, every policy. `maps_catch`:
    their own failure may be handled as well.
    """
    maker = _Maker(dice, upstream, maps_catch, joins, containers, kinds, deliveries, most_inside)
    maker.scope(None, size=dice.randint(1, 9), depth=0)
    return Graph(tuple(maker.nodes), tuple(maker.edges))


@dataclass
class _Maker:
    dice: Random
    upstream: tuple[str, ...]
    maps_catch: bool
    joins: tuple[str, ...]
    containers: tuple[str, ...]
    kinds: tuple[str, ...]
    deliveries: tuple[Literal["at_most_once"] | None, ...]
    most_inside: int  # of one container
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def scope(self, parent: str | None, *, size: int, depth: int) -> None:
        siblings: list[Node] = []
        if parent is None:
            siblings.append(Node("n_S", "S", "start"))
            self.nodes.append(siblings[0])
        for _ in range(size):
            if len(self.nodes) > 15:
                return
            node = self.node(parent, depth)
            self.connect(node, siblings)
            siblings.append(node)
            if node.kind in CONTAINERS:
                self.scope(node.id, size=self.dice.randint(1, self.most_inside), depth=depth + 1)

    def node(self, parent: str | None, depth: int) -> Node:
        may_contain = depth < 2 and len(self.nodes) <= 14
        kind = self.dice.choice([*self.kinds, *self.containers] if may_contain else self.kinds)
        policy = Policy(
            retry=Retry(attempts=3),
            on_error=self.dice.choice(["fail"] if kind in CONTAINERS and not self.maps_catch else ON_ERROR),
            on_upstream_failure=self.dice.choice(self.upstream),
            join=self.dice.choice(self.joins),
            join_count=2,
            delivery=None if kind in CONTAINERS or len(self.deliveries) == 1 else self.dice.choice(self.deliveries),
        )
        key = f"{kind[0]}{len(self.nodes)}"
        node = Node(f"n_{key}", key, kind, parent=parent, policy=policy)
        self.nodes.append(node)
        return node

    def connect(self, node: Node, siblings: list[Node]) -> None:
        for source in siblings:
            if self.dice.randrange(2) == 0:
                continue
            ports = PORTS.get(source.kind, ("out",)) + (("error",) if source.policy.on_error == "port" else ())
            port = self.dice.choice(ports)
            self.edges.append(Edge(f"e_{source.key}_{port}_{node.key}", source.id, node.id, port))


@dataclass
class Bodies:
    """What each body does, drawn when first asked; `before` are attempts that end without a word before that."""

    dice: Random
    graph: Graph
    may_fail: bool = True
    item_policies: tuple[str, ...] = ("fail_at_end", "continue")
    most_failures: int = 0  # how often a body that works in the end fails before
    drawn: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    before: dict[str, list[Outcome]] = field(default_factory=dict)

    def kind_of(self, path: str) -> str:
        key = path.rsplit(".", 1)[-1]
        return next(node.kind for node in self.graph.nodes if node.key == key)

    def __call__(self, path: str) -> Result:
        if path not in self.drawn:
            self.drawn[path] = self._draw(path)
            self.failures[path] = self.dice.randint(0, self.most_failures)
        return self.drawn[path]

    def _draw(self, path: str) -> Result:
        if self.may_fail and self.dice.randrange(4) == 3:
            return Result(port=None)
        kind = self.kind_of(path)
        if kind == "try_block":
            return Result(items=1)
        if kind == "loop":
            return Result(items=self.dice.randint(1, 3))
        if kind == "map":
            policy = self.dice.choice(self.item_policies)
            return Result(items=self.dice.randint(0, 3), window=self.dice.randint(1, 2), on_item_failure=policy)
        return Result(port=self.dice.choice(PORTS.get(kind, ("out",))))

    def next(self, path: str, *, rounds: int | None = None) -> Outcome:
        """The outcome of the next attempt; of a loop that asks, after so many rounds."""
        if path not in self.before:
            kinds = [FLAKY, TimedOut(1.0), Crashed("killed"), Crashed("killed"), Stopped()]
            self.before[path] = [each for each in kinds if self.dice.randrange(10) == 9]
        return self.before[path].pop() if self.before[path] else self.last(path, rounds)

    def last(self, path: str, rounds: int | None = None) -> Outcome:
        result = self(path)
        if rounds is not None:
            return Again(rounds < (result.items or 0))
        if result.port is None or self.failures[path]:
            self.failures[path] -= 1
            return BROKEN
        kind = self.kind_of(path)
        if kind == "loop":
            return Fans([None], 1, "fail_at_end", mode="rounds", most=3, gather="last")
        if kind == "try_block":
            return Fans([None], 1, "fail_at_end", mode="once", gather="last")
        if result.items is not None:
            return Fans([*range(result.items)], result.window, result.on_item_failure)
        if kind == "pass_through" and self.dice.randrange(6) == 5:
            return Waits("timer", 1.0, {})
        return Succeeded(path, result.port)


def candidates(memory: MemoryRun) -> list[str]:
    """What can go on without a person. In a paused run that is what runs, and nothing else."""
    if memory.run.status is RunStatus.PAUSED:
        return [row.path for row in memory.rows.values() if row.status is StepStatus.RUNNING]
    return [
        row.path
        for row in memory.rows.values()
        if row.status in (StepStatus.READY, StepStatus.RUNNING, StepStatus.RETRY_WAIT)
        or (row.status is StepStatus.WAITING and row.wait_kind == "timer")
    ]


def advance(memory: MemoryRun, bodies: Bodies, path: str) -> None:
    """One thing happens to the step: it is claimed, its attempt ends, or its time comes."""
    row = memory.by_path(path)
    if row.status is StepStatus.RETRY_WAIT:
        memory.on(path, retry_due)
    elif row.status is StepStatus.WAITING:
        memory.on(path, timer_due)
    elif row.status is StepStatus.READY and bodies.dice.randrange(2):
        memory.claim(path)
    else:
        memory.finish(path, bodies.next(path, rounds=row.items.cursor if row.items else None))


def play(memory: MemoryRun, bodies: Bodies) -> None:
    """Everything that can go on without a person goes on, in an order that is drawn."""
    while found := candidates(memory):
        advance(memory, bodies, bodies.dice.choice(found))
