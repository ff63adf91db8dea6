"""What follows from each thing that happens to a run, at every moment: the rules once more, all of it looked at anew.

A `NaiveRun` is told what became of one step (its attempt ended, a person skipped it), or what was done to the run
(cancel, resume). From that it derives all the rest by asking of every step again and again what it must be, until
nothing changes: no orders, events, counters or rows of what changed. Property tests compare every moment with the core.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from builder.graph.model import Graph, Node

OPEN = ("pending", "ready", "running", "retry_wait", "waiting", "needs_decision", "blocked")
BEGUN = ("ready", "running", "retry_wait", "waiting", "needs_decision", "succeeded")
LEFT_OUT = "upstream_failed"


@dataclass
class Step:
    """`way` is the port by which the flow leaves it; of a failure only where it is handled."""

    node: Node
    scope: str  # what its path begins with
    status: str = "pending"
    way: str | None = None
    why: str | None = None
    has_begun: bool = False  # an attempt of it has started, ever
    items: Any = None  # of a container that has opened: total, window, policy, tolerated, mode
    opened: int = 0
    again: set[int] = field(default_factory=set)  # items that a resume wants opened again, when there is room

    @property
    def path(self) -> str:
        return self.scope + self.node.key

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_failure(self) -> bool:
        return self.status == "failed" and self.way is None

    @property
    def was_stopped(self) -> bool:
        return self.status == "cancelled" and self.why != "outrun"

    @property
    def is_broken(self) -> bool:
        return self.is_failure or (self.status == "skipped" and self.why == LEFT_OUT)

    @property
    def is_settled(self) -> bool:
        return not self.is_open and not self.was_stopped

    @property
    def has_run(self) -> bool:
        if self.status in ("pending", "blocked", "skipped"):
            return False
        return self.has_begun if self.status == "cancelled" else self.why != LEFT_OUT

    @property
    def was_kept(self) -> bool:
        """Whether a failure before it kept it from running."""
        return self.status == "blocked" or (self.is_broken and self.why == LEFT_OUT)


class NaiveRun:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps: dict[str, Step] = {}
        self.is_stopping = self.is_late = False
        self.open_scope(None, "")
        for step in self.steps.values():
            if step.node.kind == "start":
                step.status, step.way = "succeeded", "out"
        self.follow()

    # ------------------------------------------------------------------ looking
    def statuses(self) -> dict[str, str]:
        return {step.path: step.status for step in self.steps.values()}

    def inside(self, scope: str) -> list[Step]:
        return [step for step in self.steps.values() if step.scope == scope]

    def item(self, container: Step, index: int) -> list[Step]:
        return self.inside(f"{container.path}[{index}].")

    def items_of(self, container: Step) -> Iterator[tuple[int, list[Step]]]:
        for index in range(container.opened):
            yield index, self.item(container, index)

    def below(self, container: Step) -> list[Step]:
        return [step for step in self.steps.values() if step.scope.startswith(f"{container.path}[")]

    def around(self, step: Step) -> Step | None:
        return self.steps[step.scope[: step.scope.rindex("[")]] if step.scope else None

    def befores(self, step: Step) -> list[tuple[str, Step]]:
        """(port, step) of each edge into it."""
        by_id = {each.node.id: each for each in self.inside(step.scope)}
        return [(edge.source_port, by_id[edge.source]) for edge in self.graph.edges if edge.target == step.node.id]

    def afters(self, step: Step) -> list[Step]:
        by_id = {each.node.id: each for each in self.inside(step.scope)}
        return [by_id[edge.target] for edge in self.graph.edges if edge.source == step.node.id]

    def leads_only_to(self, step: Step, goals: Collection[str]) -> bool:
        """Whether each way from the step comes to one of these paths."""
        afters = self.afters(step)
        return bool(afters) and all(each.path in goals or self.leads_only_to(each, goals) for each in afters)

    def is_made_up_for(self, step: Step) -> bool:
        siblings = self.inside(step.scope)
        return self.leads_only_to(step, {one.path for one in siblings if one.node.policy.join != "all" and one.has_run})

    def is_lost(self, step: Step) -> bool:
        won = [one for one in self.inside(step.scope) if one.node.policy.join == "first" and one.has_run]
        return any(self.leads_only_to(step, {one.path}) for one in won)

    def fails(self, scope: list[Step]) -> bool:
        return any(step.is_failure and not self.is_made_up_for(step) for step in scope)

    def run_status(self) -> str:
        if any(step.is_open for step in self.steps.values()):
            return "cancelling" if self.is_stopping else "running"
        if self.is_stopping:
            return "failed" if self.is_late else "cancelled"
        return "failed" if self.fails(self.inside("")) else "succeeded"

    # ------------------------------------------------------------------ what is told
    def told(self, path: str, status: str, *, way: str | None, why: str | None = None, items: Any = None) -> None:
        """What became of one step: by its worker, by time, or by a person."""
        step = self.steps[path]
        step.has_begun |= status == "running"
        if step.is_open and status not in OPEN and status != "succeeded":
            self.stop_below(step)
        step.status, step.way, step.why = status, way, why
        if status == "waiting" and items is not None:
            if step.items is None or items.mode != "rounds":
                step.items = items
            if items.mode == "rounds":
                self.open_item(step)
        self.follow()

    def cancel(self, *, is_late: bool = False) -> None:
        self.is_stopping, self.is_late = True, is_late
        for step in self.steps.values():
            if step.is_open and step.status != "running":
                self.stop(step)
        self.follow()

    def resume(self, only: str | None = None) -> None:
        self.is_stopping = False
        self.reset_scope("", only=only)
        self.follow()

    def mend(self, path: str) -> None:
        """Before a person acts on one failed step: what ended because of it opens again."""
        step = self.steps[path]
        self.open_around(step)
        for other in self.kept_by([step]):
            if other is not step:
                self.reset(other)

    # ------------------------------------------------------------------ what follows
    def follow(self) -> None:
        while not self.is_stopping and sum(self.decide(step) for step in [*self.steps.values()]):
            pass

    def decide(self, step: Step) -> bool:
        """Whether the step changed."""
        if step.status == "pending":
            return self.decide_pending(step)
        return step.status == "waiting" and step.items is not None and self.go_on(step)

    def decide_pending(self, step: Step) -> bool:
        befores, policy = self.befores(step), step.node.policy
        live = sum(each.is_settled and each.way == port for port, each in befores)
        needed = 0 if not befores else (policy.join_count or 1) if policy.join == "count" else 1
        if live < needed or policy.join == "all":
            if not all(each.is_settled for _, each in befores):
                return False
            if any(each.is_broken for _, each in befores):
                self.follow_failure(step)
                return True
            if live < needed:
                step.status, step.why = "skipped", "not_taken"
                return True
        self.start(step)
        if policy.join == "first":
            for each in self.inside(step.scope):
                if each.is_open and self.leads_only_to(each, {step.path}):
                    self.stop(each, why="outrun")
        return True

    def start(self, step: Step) -> None:
        step.status, step.way, step.why = "ready", None, None

    def follow_failure(self, step: Step) -> None:
        match step.node.policy.on_upstream_failure:
            case "skip":
                step.status, step.why = "skipped", LEFT_OUT
            case "wait":
                step.status, step.why = "blocked", LEFT_OUT
            case "fail":
                self.fail(step, why=LEFT_OUT)
            case _:
                self.start(step)

    def fail(self, step: Step, *, why: str | None = None) -> None:
        step.status, step.why = "failed", why
        step.way = {"fallback": "out", "port": "error"}.get(step.node.policy.on_error)

    def go_on(self, container: Step) -> bool:
        """A container's items: whether one opens, or the container ends. Items are counted from what stands there."""
        items = container.items
        busy = [index for index, item in self.items_of(container) if any(step.is_open for step in item)]
        ended = [item for index, item in self.items_of(container) if index not in [*busy, *container.again]]
        too_many = sum(map(self.fails, ended)) > items.tolerated
        if too_many and items.policy == "fail_fast":
            self.stop_below(container)
        elif container.again and len(busy) < items.window:
            container.again.remove(index := min(container.again))
            self.reset_scope(f"{container.path}[{index}].")
            return True
        elif items.mode != "rounds" and container.opened < items.total and len(busy) < items.window:
            self.open_item(container)
            return True
        elif busy:
            return False
        if too_many and items.policy != "continue":
            if items.mode == "once":
                container.status, container.way = "succeeded", "failed"
            else:
                self.fail(container)
        elif items.mode == "rounds":
            self.start(container)
        else:
            container.status, container.way = "succeeded", "out"
        return True

    def open_item(self, container: Step) -> None:
        container.opened += 1
        self.open_scope(container.node.id, f"{container.path}[{container.opened - 1}].")

    def open_scope(self, container: str | None, scope: str) -> None:
        for node in self.graph.nodes:
            if node.parent == container:
                self.steps[scope + node.key] = Step(node, scope)

    def stop(self, step: Step, *, why: str = "cancelled") -> None:
        if step.status == "needs_decision" and why != "outrun":
            why = "unknown_outcome"
        if step.status == "running" and step.node.policy.delivery is not None and why != "outrun":
            why = "unknown_outcome"
        step.status, step.why = "cancelled", why
        self.stop_below(step)

    def stop_below(self, container: Step) -> None:
        for step in self.below(container):
            if step.is_open and not (self.is_stopping and step.status == "running"):
                self.stop(step)

    # ------------------------------------------------------------------ opened again
    def can_be_reset(self, step: Step) -> bool:
        if step.status == "waiting" and step.items is not None:
            return any(self.is_hurt(container_item, step, index) for index, container_item in self.items_of(step))
        return step.is_failure or step.status == "blocked" or step.was_stopped

    def is_hurt(self, item: list[Step], container: Step, index: int) -> bool:
        hurt = any(step.is_failure or step.was_stopped for step in item) and index not in container.again
        return hurt or any(step.status == "waiting" and self.can_be_reset(step) for step in item)

    def reset_scope(self, scope: str, *, only: str | None = None) -> None:
        roots = [step for step in self.inside(scope) if self.can_be_reset(step) and not self.is_lost(step)]
        for step in self.kept_by([step for step in roots if only in (None, step.path) or step.was_stopped]):
            self.reset(step)

    def kept_by(self, roots: list[Step]) -> list[Step]:
        """These, and what did not run because of them; not where the flow has gone on past it."""
        found, queue = {step.path: step for step in roots}, [*roots]
        reached = set()
        while queue:
            for step in self.afters(queue.pop()):
                if step.path in reached:
                    continue
                reached.add(step.path)
                queue.append(step)
                if step.was_kept and not self.is_lost(step) and not self.is_passed(step):
                    found[step.path] = step
        return list(found.values())

    def is_passed(self, step: Step) -> bool:
        afters = [each for each in self.afters(step) if each.node.policy.join == "all"]
        return step.status == "skipped" and any(
            each.status in BEGUN or each.opened > 0 or (each.status == "failed" and each.way is not None)
            for each in afters
        )

    def reset(self, step: Step) -> None:
        if step.status == "waiting":
            for index, item in self.items_of(step):
                if any(each.is_open for each in item):
                    self.reset_scope(f"{step.path}[{index}].")
                elif self.is_hurt(item, step, index):
                    step.again.add(index)
        elif step.why == "unknown_outcome":
            step.status = "needs_decision"
        elif step.items is not None and step.status in ("failed", "cancelled"):
            step.again |= {index for index, item in self.items_of(step) if self.is_hurt(item, step, index)}
            step.status, step.way, step.why = "waiting", None, None
            if step.items.mode == "rounds" and not step.again:
                self.start(step)
        else:
            step.status, step.way, step.why = "pending", None, None

    def open_around(self, step: Step) -> None:
        container = self.around(step)
        if container is None or container.status == "waiting":
            return
        self.open_around(container)
        index = int(step.scope[step.scope.rindex("[") + 1 : -2])
        stopped = {at for at, item in self.items_of(container) if any(each.was_stopped for each in item)}
        others = [other for other in self.kept_by([container]) if other is not container]
        container.again = (container.again | stopped) - {index}
        container.status, container.way, container.why = "waiting", None, None
        for other in others:
            self.reset(other)
