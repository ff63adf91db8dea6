"""Whatever can happen to a run, thrown with dice: attempts that end in every way, time that passes, people, other runs.

A `Player` holds a run in memory. Each act is done on a transition that is thrown away first, and must then do the same.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from kit.errors import AppError
from runs.core.breakpoints import Breakpoints
from runs.core.children import ChildEnd, child_ended
from runs.core.commands import NotPossibleNow, answer, cancel, decide_outcome, expire, retry_due, timer_due
from runs.core.control import pass_deadline, pause, pause_with_parent, set_breakpoints, unpause
from runs.core.outcomes import (
    Again,
    Crashed,
    Error,
    Failed,
    Fans,
    Outcome,
    Reused,
    Skipped,
    Stopped,
    Succeeded,
    TimedOut,
    Waits,
)
from runs.core.questions import ASKED
from runs.core.repair import edit_input, retry_now, skip, supply_output
from runs.core.resume import resume
from runs.core.rows import CHILD, Row, Stored
from runs.core.states import RunStatus, StepStatus
from runs.core.time_limits import queue_limit_passed, total_limit_passed
from runs.core.transition import ImpossibleMove, Transition
from tests.memory import MemoryRun, copied
from tests.random_runs import BROKEN, EVERY_KIND, FLAKY, PORTS, UPSTREAM
from tests.reference import CONTAINERS

NOTHING = Stored(text="null")
WAITS = {
    "approval": "approval",
    "form": "form",
    "wait_for_callback": "callback",
    "delay": "timer",
    "wait_until": "timer",
    "run_workflow": CHILD,
}
# Ends of an attempt that are no answer; any kind may have them.
UNANSWERED = (
    FLAKY,
    BROKEN,
    Failed(Error("busy", "Later.", retryable=True, retry_after_s=7.0)),
    TimedOut(1.0),
    TimedOut(1.0, "idle_limit"),
    TimedOut(1.0, "total_limit"),
    Crashed("killed"),
    Stopped(),
)
CHILD_ENDS = (
    ChildEnd(RunStatus.SUCCEEDED, output=NOTHING),
    ChildEnd(RunStatus.FAILED, error={"code": "broken", "message": "It broke."}),
    ChildEnd(RunStatus.CANCELLED, error={"code": "child_cancelled", "message": "It was cancelled."}),
)
MENDS = ("edit", "skip", "supply", "retry", "decide")
DECISIONS = ("happened", "not_happened", "run_again", "skip")
Act = Callable[[Transition], Any]


@dataclass
class Player:
    """`seen` counts what was done, by name; `refused` what could not be done."""

    dice: Random
    memory: MemoryRun
    seen: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    story: list[str] = field(default_factory=list)

    # ------------------------------------------------------------------ anything
    def play(self, moves: int) -> None:
        for _ in range(moves):
            self.move()

    def move(self) -> None:
        """Mostly the flow goes on; now and then somebody or something comes in between."""
        if self.dice.randrange(6) and (found := self.alive()):
            self.go_on(self.dice.choice(found), may_fail=True)
            return
        name = self.dice.choice([*["mend"] * 6, *["resume"] * 3, "limits", "limits", "fork", "unpause", *RUN_ACTS])
        if name in RUN_ACTS:
            self.do(name, RUN_ACTS[name])
        else:
            getattr(self, name)()

    def alive(self) -> list[Row]:
        """What goes on by itself, by a worker, or by an answer."""
        is_running = self.memory.run.status is RunStatus.RUNNING
        return [row for row in self.memory.rows.values() if _is_alive(row, is_running=is_running)]

    def go_on(self, row: Row, *, may_fail: bool) -> None:
        """One thing happens to a step run that is alive."""
        match row.status:
            case StepStatus.READY:
                self.claim(row.path)
            case StepStatus.RUNNING:
                self.end(row, self.outcome(row, may_fail=may_fail))
            case StepStatus.RETRY_WAIT:
                self.on("retry due", row.path, retry_due)
            case _:
                self.end_wait(row, may_fail=may_fail)

    # ------------------------------------------------------------------ workers
    def claim(self, path: str) -> None:
        row = self.memory.by_path(path)
        self.memory.predecessors_were_settled(row)
        self.memory.claim(path)
        self.tell("claim", path)
        if self.dice.randrange(2):  # it has stored the intent of an act
            self.memory.acted.add((row.id or 0, self.memory.by_path(path).fence))

    def end(self, row: Row, outcome: Outcome) -> None:
        self.tell(_name(outcome), row.path)
        early = row.id in self.memory.early and isinstance(outcome, Waits) and outcome.kind == "callback"
        self.memory.finish(row.path, outcome, jitter=self.dice.random())
        self.seen["early callback"] += early

    def outcome(self, row: Row, *, may_fail: bool) -> Outcome:
        if may_fail and self.dice.randrange(3) == 0:
            return self.dice.choice(UNANSWERED)
        kind = self.memory.definition.nodes[row.node_id].kind
        if kind in ("map", "loop", "try_block"):
            return self.fanned(row, kind, may_fail=may_fail)
        if kind in WAITS:
            return Waits(WAITS[kind], self.dice.choice([1.0, 60.0]), {})
        port = self.dice.choice(PORTS.get(kind, ("out",)))
        others = [Skipped(), Reused(port, NOTHING, {"run": "r", "number": 1, "path": "A"})]
        return self.dice.choice([*[Succeeded(row.path, port)] * 6, *others])

    def fanned(self, row: Row, kind: str, *, may_fail: bool) -> Outcome:
        dice = self.dice
        if row.items is not None:
            return Again(dice.randrange(3) > 0, at_most="fail" if may_fail and dice.randrange(2) else "end")
        if kind == "loop":
            return Fans([None], 1, "fail_at_end", mode="rounds", most=dice.randint(1, 3), gather="last")
        if kind == "try_block":
            return Fans([None], 1, "fail_at_end", mode="once", gather="last")
        policy = dice.choice(["fail_fast", "fail_fast", "fail_at_end", "continue"])
        return Fans([*range(dice.randint(0, 4))], dice.randint(1, 3), policy, tolerated=dice.choice([0, 0, 1]))

    # ------------------------------------------------------------------ time, answers, other runs
    def end_wait(self, row: Row, *, may_fail: bool) -> None:
        ports = PORTS.get(self.memory.definition.nodes[row.node_id].kind, ("out",))
        if row.wait_kind == "timer":
            self.on("timer due", row.path, timer_due)
        elif row.wait_kind == CHILD:
            end = self.dice.choice(CHILD_ENDS) if may_fail else CHILD_ENDS[0]
            self.on(f"child {end.status}", row.path, lambda tx, one: child_ended(tx, one, end))
        elif may_fail and self.dice.randrange(3) == 0:
            rejected = NOTHING if "rejected" in ports and self.dice.randrange(2) else None
            self.on("expire", row.path, lambda tx, one: expire(tx, one, rejected=rejected))
        else:
            port = self.dice.choice(ports)
            self.on("answer", row.path, lambda tx, one: answer(tx, one, port=port, output=NOTHING))

    def limits(self) -> None:
        """A limit of waiting for a worker, or of all attempts together, passes for whatever it can pass for."""
        if self.memory.run.status is not RunStatus.RUNNING:
            return
        rows = list(self.memory.rows.values())
        between = (StepStatus.READY, StepStatus.RETRY_WAIT, StepStatus.WAITING)
        if found := [row for row in rows if row.status in between and row.attempt]:
            path = self.dice.choice(found).path
            self.on("total limit", path, lambda tx, row: total_limit_passed(tx, row, limit_s=1.0))
        elif found := [row for row in rows if row.status is StepStatus.READY]:
            path = self.dice.choice(found).path
            self.on("queue limit", path, lambda tx, row: queue_limit_passed(tx, row, limit_s=1.0))

    # ------------------------------------------------------------------ people
    def resume(self) -> bool:
        if self.dice.randrange(3):
            return self.resume_all()
        path = self.dice.choice([*self.memory.statuses()])
        return self.do("resume one", lambda tx: resume(tx, paths=[path]), path)

    def resume_all(self) -> bool:
        return self.do("resume", resume)

    def mend(self) -> None:
        """Any of the acts on one step, mostly on one that is stuck; what cannot be done is refused."""
        rows = list(self.memory.rows.values())
        stuck = (StepStatus.FAILED, StepStatus.BLOCKED, StepStatus.NEEDS_DECISION, StepStatus.RETRY_WAIT)
        row = self.dice.choice([row for row in rows if row.status in stuck] or rows)
        name = self.dice.choice(MENDS)
        if row.status is StepStatus.FAILED and row.items is None and name == "edit" and row.handled is None:
            self.memory.early.pop(row.id or 0, None)
        path, act = row.path, self._mend(name, row)
        self.do(name, lambda tx: act(tx, self.memory._in(tx, path)), path)

    def _mend(self, name: str, row: Row) -> Callable[[Transition, Row], Any]:
        port = self.dice.choice(PORTS.get(self.memory.definition.nodes[row.node_id].kind, ("out",)))
        decision: Any = self.dice.choice(DECISIONS)
        return {
            "edit": edit_input,
            "skip": skip,
            "supply": lambda tx, one: supply_output(tx, one, output=NOTHING, port=port),
            "retry": retry_now,
            "decide": lambda tx, one: decide_outcome(tx, one, decision),
        }[name]

    def fork(self) -> None:
        """The play goes on in the new run; the one that it was made of stays as it is."""
        if self.dice.randrange(3):
            return
        path = self.dice.choice([None, *self.memory.statuses()])
        before = (self.memory.statuses(), len(self.memory.events))
        try:
            made, fork = self.memory.fork(path)
        except AppError:
            self.refused["fork"] += 1
            return
        assert (self.memory.statuses(), len(self.memory.events)) == before
        assert path not in {place.path for place in fork.places if place.is_copy}
        self.memory = made
        self.tell("fork" if path is None else "fork from a step", path)

    # ------------------------------------------------------------------ doing it
    def on(self, name: str, path: str, act: Callable[[Transition, Row], Any]) -> bool:
        return self.do(name, lambda tx: act(tx, self.memory._in(tx, path)), path)

    def tell(self, name: str, path: str | None = None) -> None:
        self.seen[name] += 1
        self.story.append(name if path is None else f"{name} {path}")

    def do(self, name: str, act: Act, path: str | None = None) -> bool:
        """First on a transition that is thrown away; then so that it counts. A refusal changes nothing."""
        before = {path: copied(row) for path, row in self.rows().items()}
        try:
            shown = self.memory.preview(lambda tx: (act(tx), tx.events, sorted(tx.touched)))
        except ImpossibleMove:
            raise
        except AppError:
            self.refused[name] += 1
            assert self.rows() == before
            return False
        assert self.rows() == before
        self.tell(name, path)
        self.memory.places += name in ("edit", "skip", "supply")
        done = self.memory.transact(lambda tx: (act(tx), tx.events, sorted(tx.touched)))
        assert done == shown
        now = self.rows()
        ended = {path for path, row in before.items() if row.status is StepStatus.SUCCEEDED}
        assert {path: now[path] for path in ended} == {path: before[path] for path in ended}
        return True

    def rows(self) -> dict[str, Row]:
        return {row.path: row for row in self.memory.rows.values()}

    # ------------------------------------------------------------------ the end
    def drive(self) -> None:
        """All bodies do their work, all questions are answered, and whatever is in the way is resumed or decided."""
        for _ in range(2_000):
            run = self.memory.run
            if run.status is RunStatus.PAUSED:
                if not self.do("unpause with the parent", RUN_ACTS["unpause with the parent"]):
                    assert self.do("unpause", unpause)
            elif found := self.alive():
                self.go_on(self.dice.choice(found), may_fail=False)
            elif run.status is RunStatus.SUCCEEDED:
                return
            else:
                self.unstick()
        raise AssertionError(f"it comes to no end: {self.memory.statuses()}")

    def unstick(self) -> None:
        """Nothing goes on by itself, so a person must be able to do something: decide, resume, or skip what no resume
        can run, because what it needs was left out for good.
        """
        rows = list(self.memory.rows.values())
        unknown = [row.path for row in rows if row.status is StepStatus.NEEDS_DECISION]
        if unknown and self.memory.run.status is RunStatus.RUNNING:
            self.on("decide", unknown[0], lambda tx, one: decide_outcome(tx, one, "run_again"))
        elif not (self.resume_all() and self.moves()):
            stuck = (StepStatus.BLOCKED, StepStatus.FAILED)
            assert any(row.status in stuck and self.on("skip", row.path, skip) for row in rows), (
                f"nothing goes on in a run that is {self.memory.run.status}: {self.memory.statuses()}"
            )

    def moves(self) -> bool:
        """Whether anything goes on, or waits for a decision, after a resume."""
        undecided = any(row.status is StepStatus.NEEDS_DECISION for row in self.memory.rows.values())
        return bool(undecided or self.alive() or self.memory.run.status in (RunStatus.SUCCEEDED, RunStatus.PAUSED))


def _break(tx: Transition) -> None:
    nodes = sorted(node.id for node in tx.definition.graph.nodes if node.id != "n_S")
    chosen = frozenset(nodes[tx.run.event_seq % 3 :: 3])
    ready = [row for row in tx.loader.open_rows() if row.status is StepStatus.READY]
    set_breakpoints(tx, Breakpoints(nodes=chosen), ready=ready)


def _deadline(tx: Transition) -> None:
    if tx.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
        raise NotPossibleNow("It does not run.")
    pass_deadline(tx, deadline_s=1.0)


def _parent(tx: Transition, *, is_paused: bool) -> None:
    if not pause_with_parent(tx, is_paused=is_paused):
        raise NotPossibleNow("It is so already.")


RUN_ACTS: dict[str, Act] = {
    "pause with the parent": lambda tx: _parent(tx, is_paused=True),
    "unpause with the parent": lambda tx: _parent(tx, is_paused=False),
    "cancel": cancel,
    "pause": pause,
    "unpause": unpause,
    "breakpoints": _break,
    "deadline": _deadline,
}


def _is_alive(row: Row, *, is_running: bool) -> bool:
    if row.status is StepStatus.RUNNING:
        return True
    if row.status is StepStatus.WAITING:
        return row.wait_kind in ASKED or row.wait_kind == CHILD or (row.wait_kind == "timer" and is_running)
    return row.status in (StepStatus.READY, StepStatus.RETRY_WAIT) and is_running


def _name(outcome: Outcome) -> str:
    match outcome:
        case Fans():
            return f"{outcome.mode} {outcome.on_item_failure}" + (" tolerant" if outcome.tolerated else "")
        case Waits():
            return f"wait {outcome.kind}"
        case TimedOut():
            return outcome.code
        case Again():
            return f"again {outcome.wanted}"
        case _:
            return type(outcome).__name__.lower()


def every_graph(dice: Random) -> dict[str, Any]:
    """Options of random_graph: all that there is, or much of one kind of trouble."""
    return {
        "kinds": dice.choice([EVERY_KIND, ("pass_through",)]),
        "joins": dice.choice([("all", "all", "any", "count", "first"), ("all",), ("all", "first")]),
        "upstream": dice.choice([UPSTREAM, ("default", "fail", "skip"), ("wait", "skip", "default")]),
        "containers": dice.choice([CONTAINERS, ("map", "map", "map", "loop")]),
        "deliveries": dice.choice([(None, None, None, "at_most_once"), (None,)]),
        "maps_catch": dice.randrange(2) == 0,
        "most_inside": dice.choice([3, 6]),
    }
