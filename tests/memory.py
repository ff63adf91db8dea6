"""A run in memory: the core's transitions without a database, for tests of the rules alone.

`MemoryRun` keeps rows as the store would, gives them ids, and checks after each transition what the invariants check in
(counters, event numbers, containers). Bodies are played by the test: `finish("A", Succeeded(1))`.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from builder.graph.model import Graph
from runs.core.advance import begin_run, container_of, decide_all, propagate
from runs.core.definition import Definition
from runs.core.fork import Fork, Source, plan_fork
from runs.core.forking import begin_fork, standing
from runs.core.outcomes import Fans, Outcome, Succeeded
from runs.core.questions import ASKED
from runs.core.rows import CHILD, OUTRUN, EndedAttempt, Event, Row, RunRow, Sent, Stored
from runs.core.settle import settle_attempt
from runs.core.standstill import standing_still
from runs.core.states import OPEN, RunStatus, StepStatus
from runs.core.transition import ScopeKey, Transition
from steps.registry import all_specs

WORKER = UUID(int=1)


def copied(row: Row) -> Row:
    """What reading the row again would give: changes of the one are not seen in the other."""
    items = row.items and replace(row.items, reopen=list(row.items.reopen))
    return replace(row, items=items)


@dataclass
class MemoryRun:
    graph: Graph
    run_input: Any = None
    run: RunRow = field(default_factory=lambda: RunRow(uuid4(), RunStatus.RUNNING, 1, 0, 0, 0, 0, 0, 0, 0))
    rows: dict[int, Row] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    attempts: list[EndedAttempt] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    outbox: list[Sent] = field(default_factory=list)
    acted: set[tuple[int, int | None]] = field(default_factory=set)  # (step run, fence) with an intent and no result
    early: dict[int, Stored] = field(default_factory=dict)  # callbacks that came before their wait, by step run
    waits: dict[int, str] = field(default_factory=dict)  # open questions by step run: of which kind
    places: int = 0  # in containers, beyond their windows: each act of a person on a step of a settled item takes one

    is_fork: bool = False  # then `fork` begins it

    def __post_init__(self) -> None:
        self.definition = Definition(self.graph, all_specs())
        if self.is_fork:
            return
        self.transact(lambda tx: begin_run(tx, Stored(text=json.dumps(self.run_input))), adopt_empty=True)

    # ------------------------------------------------------------------ the loader
    def scope(self, key: ScopeKey) -> list[Row]:
        return self._copies(lambda row: (row.parent_id, row.index) == key)

    def row(self, step_run_id: int) -> Row:
        return copied(self.rows[step_run_id])

    def open_children(self, container_id: int) -> list[Row]:
        return self._copies(lambda row: row.parent_id == container_id and row.status in OPEN)

    def open_rows(self) -> list[Row]:
        return self._copies(lambda row: row.status in OPEN)

    def early_callback(self, step_run_id: int) -> Stored | None:
        return self.early.get(step_run_id)

    def has_acted(self, step_run_id: int, fence: int | None) -> bool:
        return (step_run_id, fence) in self.acted

    def broken_items(self, container_id: int) -> list[int]:
        broken = {
            row.index
            for row in self.rows.values()
            if row.parent_id == container_id
            and (
                (row.status is StepStatus.CANCELLED and row.reason != "outrun")
                or (row.status is StepStatus.FAILED and row.handled is None)
            )
        }
        return sorted(index for index in broken if index is not None)

    def stopped_items(self, container_id: int) -> list[int]:
        rows = (row for row in self.rows.values() if row.parent_id == container_id)
        stopped = {row.index for row in rows if row.status is StepStatus.CANCELLED and row.reason != "outrun"}
        return sorted(index for index in stopped if index is not None)

    def waiting_for_runs(self) -> list[int]:
        found = self._copies(lambda row: row.status is StepStatus.WAITING and row.wait_kind == "child")
        return [row.id for row in found if row.id is not None]

    def _copies(self, wanted: Callable[[Row], bool]) -> list[Row]:
        return [copied(row) for row in self.rows.values() if wanted(row)]

    # ------------------------------------------------------------------ transitions
    def transact(self, act: Callable[[Transition], Any], *, adopt_empty: bool = False) -> Any:
        tx = Transition(self.definition, replace(self.run), self, actor="test")
        if adopt_empty:
            tx.adopt([], (None, None))
        result = act(tx)
        self._commit(tx)
        return result

    def preview(self, act: Callable[[Transition], Any]) -> Any:
        """The act on a transition that is thrown away."""
        return act(Transition(self.definition, replace(self.run), self, actor="test"))

    def fork(self, path: str | None = None, *, graph: Graph | None = None) -> tuple["MemoryRun", Fork]:
        """A run that was forked from this one, from a step, or on another version."""
        other = MemoryRun(graph or self.graph, run_input=self.run_input, is_fork=True)
        definition = self.definition if graph is None else other.definition
        source = Source(self.definition, [copied(row) for row in self.rows.values()])
        target = next((row for row in source.rows if row.path == path), None)
        fork = plan_fork(source, definition, target=target)
        other.definition = definition
        stand_for = [place.source.id for place in fork.places if place.source is not None]
        ids = {source_id: at + 1 for at, source_id in enumerate(stand_for) if source_id is not None}

        def act(tx: Transition) -> None:
            rows = standing(tx, fork, ids=ids)
            other.rows.update({each.row.id: copied(each.row) for each in rows if each.row.id is not None})
            stored = Stored(text=json.dumps(self.run_input))
            begin_fork(tx, fork, rows, ids=ids, run_input=stored, number=1)

        other.transact(act)
        return other, fork

    def _commit(self, tx: Transition) -> None:
        for before, row in tx.touched.values():
            assert (before is None) == (row.id is None)
            if row.id is None:
                row.id = len(self.rows) + 1
            else:
                found = self.rows[row.id]
                assert found.status == before, f"{row.path} was moved from {before}, and is {found.status}"
                assert found.status is not StepStatus.SUCCEEDED, f"{row.path} has succeeded and was changed"
            row.stamps, row.delay_s, row.input = "", row.delay_s if row.status is StepStatus.RETRY_WAIT else None, None
            self.rows[row.id] = copied(row)
        self.run = replace(tx.run)
        self.events += tx.events
        self.attempts += tx.attempts
        self.outbox += tx.outbox
        for step_run_id in tx.used_callbacks:
            del self.early[step_run_id]
        for step_run_id, _, _ in tx.closed_waits:
            del self.waits[step_run_id]
        for wait in tx.waits:
            assert wait.step_run_id not in self.waits, "it waits already"
            self.waits[wait.step_run_id] = wait.kind
        self.check()

    def check(self) -> None:
        """What the invariants say (I1, I2, I3, I5 to I10, I16)."""
        assert [event.seq for event in self.events] == list(range(1, self.run.event_seq + 1))
        rows = list(self.rows.values())
        assert self.run.open_count == sum(row.status in OPEN for row in rows)
        assert self.run.total_count == len(rows)
        assert self.run.failed_count == sum(row.status is StepStatus.FAILED and not row.handled for row in rows)
        final = self.run.status in (RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED)
        assert final == (self.run.open_count == 0)
        done: set[str] = set()
        for event in self.events:
            assert not (event.type == "step.running" and event.path in done), f"{event.path} started after its success"
            if event.type == "step.succeeded" and event.path is not None:
                assert event.path not in done, f"{event.path} succeeded twice"
                done.add(event.path)
        for row in rows:
            ended = sorted(a.number for a in self.attempts if a.step_run_id == row.id)
            live = row.status in (StepStatus.RUNNING, StepStatus.WAITING)
            if row.origin == "copied":
                assert ended == [], f"{row.path} is a copy and was executed"
                continue
            assert ended == list(range(1, row.attempt + 1 - live)), f"{row.path}: attempts {ended} of {row.attempt}"
            if row.items is not None:
                busy = {each.index for each in rows if each.parent_id == row.id and each.status in OPEN}
                assert row.items.open == len(busy), f"{row.path} says {row.items.open} open items, not {len(busy)}"
                assert row.items.open <= row.items.window + self.places, f"{row.path} has {row.items.open} open items"

        self.check_counts(rows)
        self.check_waits(rows)
        assert final or not standing_still(self.run.status, self.open_rows())
        self.check_decided()

    def check_counts(self, rows: list[Row]) -> None:
        run, at = self.run, Counter(row.status for row in rows)
        waiting = at[StepStatus.WAITING] + at[StepStatus.NEEDS_DECISION] + at[StepStatus.BLOCKED]
        counted = (run.running_count, run.waiting_count, run.succeeded_count)
        assert counted == (at[StepStatus.RUNNING], waiting, at[StepStatus.SUCCEEDED])
        for row in rows:
            assert (row.status is StepStatus.RUNNING) == (row.worker is not None), f"{row.path}: {row.worker}"
            assert row.status is not StepStatus.RUNNING or row.fence is not None
        assert self.run.status is RunStatus.PAUSED or not self.run.paused_at
        assert all(self.by_path(path).status is StepStatus.READY for path in self.run.paused_at)

    def check_waits(self, rows: list[Row]) -> None:
        """Whatever waits has one open question, open items, a run that it started, or a time."""
        for row in rows:
            assert (row.status is StepStatus.WAITING) == (row.wait_kind is not None), f"{row.path}: {row.wait_kind}"
            asked = row.wait_kind if row.wait_kind in ASKED else None
            assert self.waits.get(row.id or 0) == asked, f"{row.path} waits for {row.wait_kind}"
            assert row.wait_kind != "children" or (row.items is not None and row.items.open > 0)
            sent = [each.kind for each in self.outbox if each.step_run_id == row.id]
            calls = [kind for kind in sent if kind in ("call_child", "stop_child")]
            assert row.wait_kind != CHILD or calls[-1] == "call_child"
            assert not any(calls[at : at + 2] == ["stop_child"] * 2 for at in range(len(calls)))

    def predecessors_were_settled(self, row: Row) -> None:
        """That the step may start as far as its joins go (I4). What it went on from may run again after a resume."""
        if self.definition.nodes[row.node_id].policy.join != "all":
            return
        settled = {
            event.path
            for event in self.events
            if event.type in ("step.succeeded", "step.failed", "step.skipped") or event.data.get("reason") == OUTRUN
        }
        needed = {edge.source for edge in self.definition.incoming[row.node_id]}
        for each in self.rows.values():
            if each.node_id in needed and (each.parent_id, each.index) == (row.parent_id, row.index):
                assert each.path in settled, f"{row.path} would start, and {each.path} is {each.status}"

    def check_decided(self) -> None:
        """A transition decides only what a change concerns. Asked of everything, the rules have nothing to add."""
        if self.run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
            return
        tx = Transition(self.definition, replace(self.run), self, actor="test")
        for key in {(row.parent_id, row.index): None for row in self.open_rows()}:
            rows = tx.scope(key)
            for row in rows.values():
                tx.doubt(row)
            decide_all(tx, container_of(tx, rows), rows)
        assert not tx.touched, f"nobody decided {sorted(tx.touched)}: {[event.type for event in tx.events]}"

    # ------------------------------------------------------------------ playing the worker
    def by_path(self, path: str) -> Row:
        return next(row for row in self.rows.values() if row.path == path)

    def ready(self) -> list[str]:
        return [row.path for row in self.rows.values() if row.status is StepStatus.READY]

    def claim(self, path: str) -> None:
        assert self.run.status is RunStatus.RUNNING, f"{path} would start in a run that is {self.run.status}"

        def act(tx: Transition) -> None:
            row = self._in(tx, path)
            tx.readied.append(row)
            tx.claim(row, worker=WORKER, claim=uuid4())

        self.transact(act)

    def finish(self, path: str, outcome: Outcome, *, jitter: float = 0.0) -> None:
        """Claims the step where it is ready, and ends its attempt."""
        if self.by_path(path).status is StepStatus.READY:
            self.claim(path)

        def act(tx: Transition) -> None:
            row = self._in(tx, path)
            value = outcome.output if isinstance(outcome, Succeeded) else None
            value = list(outcome.items) if isinstance(outcome, Fans) else value
            settle_attempt(tx, row, outcome, output=Stored(text=json.dumps(value)), jitter=jitter)
            propagate(tx, (row.parent_id, row.index))

        self.transact(act)

    def _in(self, tx: Transition, path: str) -> Row:
        row = self.by_path(path)
        return tx.scope((row.parent_id, row.index))[row.node_id]

    def on(self, path: str, act: Callable[[Transition, Row], Any]) -> Any:
        return self.transact(lambda tx: act(tx, self._in(tx, path)))

    def statuses(self) -> Mapping[str, str]:
        return {row.path: row.status.value for row in self.rows.values()}

    def succeed_all(self, *, items: Mapping[str, Any] | None = None) -> None:
        """Plays every ready step to success until nothing is ready; `items` gives containers (by key) their items."""
        while ready := self.ready():
            for path in ready:
                key = path.rsplit(".", 1)[-1]
                kind = self.definition.by_key[key].kind
                if kind == "map":
                    self.finish(path, Fans((items or {}).get(key, []), 32, "fail_at_end"))
                else:
                    self.finish(path, Succeeded(key))
