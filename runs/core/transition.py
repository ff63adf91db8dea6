"""One transaction's worth of changes to a run: what the core decides, and what the store then writes in one go.

A transition starts from the run's row (locked) and loads scopes of step runs as it needs them. Every change of a status
goes through `move`, which refuses what the table of moves does not allow, numbers the event and keeps the counters.
"""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from builder.graph.model import Node
from kit.errors import AppError
from runs.core.breakpoints import BEGUN
from runs.core.definition import Definition
from runs.core.rows import BOTH, CHILD, EndedAttempt, Event, OpenedWait, Row, RunRow, Sent, Stored
from runs.core.states import FINAL_RUNS, OPEN, RunStatus, StepStatus, may_move, run_may_move, waits_for_person

# Whoever leaves one of these begins anew: its limits count from its next start.
FRESH = frozenset(
    {
        StepStatus.PENDING,
        StepStatus.BLOCKED,
        StepStatus.NEEDS_DECISION,
        StepStatus.FAILED,
        StepStatus.SKIPPED,
        StepStatus.CANCELLED,
    }
)
ScopeKey = tuple[int | None, int | None]  # (container's step run id, item index)


class Loader(Protocol):
    """Reads rows of the run while its row is locked."""

    def scope(self, key: ScopeKey) -> list[Row]:
        """All rows of the top level (None, None), or of one item of a container."""
        ...

    def row(self, step_run_id: int) -> Row:
        """One row by its id."""
        ...

    def open_children(self, container_id: int) -> list[Row]:
        """The rows of all items that are not final."""
        ...

    def open_rows(self) -> list[Row]:
        """Every row of the run in an open status, at any depth."""
        ...

    def early_callback(self, step_run_id: int) -> Stored | None:
        """What came for the step run's next wait before it opened."""
        ...

    def has_acted(self, step_run_id: int, fence: int | None) -> bool:
        """Whether the attempt with this fence has stored the intent of an act, and not that it was done. Whoever asks
        can rely on it: no intent of that attempt is stored after the answer, unless the row still stays as it is.
        """
        ...

    def broken_items(self, container_id: int) -> list[int]:
        """The indexes of opened items with a step that failed unhandled or was cancelled, ascending."""
        ...

    def stopped_items(self, container_id: int) -> list[int]:
        """The indexes of opened items with a step that was cancelled, ascending."""
        ...

    def waiting_for_runs(self) -> list[int]:
        """The ids of the step runs that wait for a run which they have started, ascending."""
        ...


class ImpossibleMove(AppError):
    """The core was about to make a move that the table of states does not know: a defect, never a user's fault."""

    code = "impossible_move"


class Transition:
    def __init__(self, definition: Definition, run: RunRow, loader: Loader, *, actor: str) -> None:
        self.definition = definition
        self.run = run
        self.actor = actor
        self.before = run.status
        self.first_seq = run.event_seq
        self.loader = loader
        self._scopes: dict[ScopeKey, dict[str, Row]] = {}
        self._by_id: dict[int, Row] = {}
        self.touched: dict[str, tuple[StepStatus | None, Row]] = {}  # path -> (status in the database, row)
        self.events: list[Event] = []
        self.attempts: list[EndedAttempt] = []
        self.waits: list[OpenedWait] = []
        self.closed_waits: list[tuple[int, str, Mapping[str, Any]]] = []  # (step run id, status, answer)
        self.used_callbacks: list[int] = []  # step run ids whose early callback was their wait's answer
        self.outbox: list[Sent] = []
        self.readied: list[Row] = []
        self.claimer: UUID | None = None  # the worker for whom a step was started
        self.is_alone = False  # whether nobody else held a step of the run when it was last written
        self.spare: list[Row] = []  # step runs of any scope that were ready before
        self.progressed: dict[str, Row] = {}
        self._changed: dict[ScopeKey, list[Row]] = {}  # what was touched since its scope was last decided

    # ------------------------------------------------------------------ rows
    def adopt(self, rows: list[Row], scope: ScopeKey) -> dict[str, Row]:
        """Takes rows that were read already as the whole of a scope."""
        known = {row.node_id: self._by_id.get(row.id or -1, row) for row in rows}
        self._scopes[scope] = known
        for row in known.values():
            assert row.id is not None
            self._by_id[row.id] = row
        return known

    def scope(self, key: ScopeKey) -> dict[str, Row]:
        if key not in self._scopes:
            self.adopt(self.loader.scope(key), key)
        return self._scopes[key]

    def add_row(self, row: Row, key: ScopeKey) -> None:
        """A step run that does not exist yet, opened in this transition."""
        self._scopes.setdefault(key, {})[row.node_id] = row
        self.touched[row.path] = (None, row)
        self._changed.setdefault(key, []).append(row)
        self.run.total_count += 1
        self._count(row, +1)

    def add_standing(self, row: Row) -> None:
        """A step run that this run did not make, and that stands already: a copy."""
        self.run.total_count += 1
        self._count(row, +1)

    def add_known(self, row: Row) -> Row:
        """A row read on its own (a container above the scope). The same row is never held twice."""
        return self._by_id.setdefault(row.id or -1, row)

    def open_children(self, container: Row) -> list[Row]:
        """The open rows of a container's items, those of this transition included."""
        assert container.id is not None
        rows = [self._by_id.setdefault(row.id or -1, row) for row in self.loader.open_children(container.id)]
        found = {row.path: row for row in rows}
        # Opened, or opened again, by this transition: the database does not know of it yet.
        found |= {path: row for path, (_, row) in self.touched.items() if row.parent_id == container.id}
        return [row for row in found.values() if row.status in OPEN]

    def container_of(self, row: Row) -> Row | None:
        if row.parent_id is None:
            return None
        if row.parent_id not in self._by_id:
            self.add_known(self.loader.row(row.parent_id))
        return self._by_id[row.parent_id]

    def node(self, row: Row) -> Node:
        return self.definition.nodes[row.node_id]

    # ------------------------------------------------------------------ changes
    def touch(self, row: Row) -> None:
        self.touched.setdefault(row.path, (row.status, row))
        self.doubt(row)

    def doubt(self, row: Row) -> None:
        """Has the row, which is as it was, decided again with what follows it."""
        self._changed.setdefault((row.parent_id, row.index), []).append(row)

    def concerned(self, rows: Mapping[str, Row]) -> list[str]:
        """Node ids of a scope whose rows changed since the last call, and of those that follow them."""
        one = next(iter(rows.values()), None)
        changed = self._changed.pop((one.parent_id, one.index), []) if one else []
        found = {row.node_id: None for row in changed}
        for row in changed:
            found.update((edge.target, None) for edge in self.definition.outgoing[row.node_id])
        return list(found)

    def move(self, row: Row, to: StepStatus, **data: Any) -> None:
        """Moves a step run and tells of it. `data` is the event's."""
        if not may_move(row.status, to):
            raise ImpossibleMove(f"{row.path} cannot go from {row.status} to {to}.", path=row.path)
        self.touch(row)
        self._count(row, -1)
        self._dismiss_child(row)
        before, row.status = row.status, to
        if to is not StepStatus.RUNNING:
            row.worker = row.claim = None
        if to is not StepStatus.WAITING:
            row.wait_kind = None
        if to in (StepStatus.READY, StepStatus.PENDING):
            row.reason = row.handled = row.port = row.error = None
        if before in FRESH:
            row.stamps += "c"
        if to is StepStatus.READY:
            row.stamps += "r"
            row.delay_s = row.delay_s or 0.0
            self.readied.append(row)
        elif to not in OPEN:
            row.stamps += "f"
        self._count(row, +1)
        self.tell(f"step.{to}", row, data)
        if to is StepStatus.READY and before not in BEGUN:
            self.stop_before(row)
        elif row.path in self.run.paused_at:
            self.run.paused_at = tuple(path for path in self.run.paused_at if path != row.path)

    def stop_before(self, row: Row) -> None:
        """Pauses the run where a breakpoint holds the step, which is ready."""
        run = self.run
        if not run.breakpoints.hold(row.node_id, row.path) or run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
            return
        run.paused_at = (*run.paused_at, row.path)
        if run.status is RunStatus.RUNNING:
            self.move_run(RunStatus.PAUSED, at=row.path)
        else:
            run.paused_by = run.paused_by and BOTH  # it stays when its parent goes on
            self.tell(f"run.{RunStatus.PAUSED}", None, {"at": row.path})

    def tell(self, kind: str, row: Row | None, data: dict[str, Any]) -> None:
        self.run.event_seq += 1
        path, attempt = (row.path, row.attempt or None) if row else (None, None)
        self.events.append(Event(self.run.event_seq, kind, path, attempt, data))

    def end_attempt(self, row: Row, outcome: str, error: dict[str, Any] | None = None) -> None:
        assert row.id is not None
        self.attempts.append(EndedAttempt(row.id, row.attempt, row.fence, row.worker, outcome, error, row.input))

    def open_wait(self, row: Row, kind: str, *, data: Mapping[str, Any], expires_s: float | None) -> None:
        assert row.id is not None
        self.waits.append(OpenedWait(row.id, kind, row.attempt, dict(data), expires_s))

    def close_wait(self, row: Row, status: str, answer: Mapping[str, Any]) -> None:
        assert row.id is not None
        self.closed_waits.append((row.id, status, answer))

    def move_run(self, to: RunStatus, **data: Any) -> None:
        if not run_may_move(self.run.status, to):
            raise ImpossibleMove(f"The run cannot go from {self.run.status} to {to}.")
        before, self.run.status = self.run.status, to
        if to is not RunStatus.PAUSED:
            self.run.paused_at, self.run.paused_by = (), None
        if to is RunStatus.RUNNING:
            self.run.error = None
        self.tell(f"run.{to}", None, data)
        self._tell_family(before)
        if to in FINAL_RUNS and self.run.parent_step_id is not None:
            self.outbox.append(Sent("child_done", self.run.parent_step_id, {}))

    def claim(self, row: Row, *, worker: UUID, claim: UUID) -> None:
        """Ready -> running for this worker, in the transaction that made it ready: the event of its start is enough."""
        self._untell_ready(row)
        row.attempt += 1
        row.tries += 1
        row.fence = self.run.event_seq + 1
        (self.readied if row in self.readied else self.spare).remove(row)
        self.move(row, StepStatus.RUNNING, fence=row.fence, worker=str(worker))
        row.worker, row.claim = worker, claim
        row.stamps += "s"
        self.claimer = worker

    def succeed_at_once(self, row: Row, output: Stored, *, port: str = "out") -> None:
        """A node that needs no body (start): it succeeds as the run begins."""
        row.output, row.port = output, port
        self.move(row, StepStatus.SUCCEEDED, port=port, origin=row.origin)

    def carry_on(self) -> None:
        """After its commit: ready for the next transition of the run, as long as the run stays at this event number."""
        self.before, self.first_seq = self.run.status, self.run.event_seq
        for _, row in self.touched.values():
            row.stamps, row.delay_s, row.until = "", None, None
            row.output = row.input = row.items_json = row.input_hash = row.reused_from = None
            assert row.id is not None, "name what was opened before carrying on"
            self._by_id[row.id] = row
        self.touched, self.progressed, self._changed, self.claimer = {}, {}, {}, None
        self.spare = [row for row in (*self.spare, *self.readied) if row.status is StepStatus.READY]
        self.events, self.attempts, self.waits, self.closed_waits, self.readied = [], [], [], [], []
        self.used_callbacks, self.outbox = [], []

    def catch_up(self, run: RunRow, changed: list[Row]) -> None:
        """Takes what others changed since `first_seq`: the run's row, and the rows of the top level that are not as
        they were. Rows below are forgotten.
        """
        top = self._scopes[(None, None)]
        top.update((row.node_id, row) for row in changed)
        self._scopes = {(None, None): top}
        self._by_id = {row.id: row for row in top.values() if row.id is not None}
        self.run, self.before, self.first_seq, self.spare = run, run.status, run.event_seq, []

    def knows(self, key: ScopeKey) -> bool:
        return key in self._scopes

    # ------------------------------------------------------------------ inside
    def _tell_family(self, before: RunStatus) -> None:
        """Who is paused or goes on has the runs do so for which its steps wait; who is resumed looks whether it may. A
        child that is called in this very transition, or later, looks as it starts.
        """
        run = self.run
        if RunStatus.PAUSED in (before, run.status) and run.status is not RunStatus.CANCELLING and run.waiting_count:
            self.outbox += [Sent("pause_child", step_run_id, {}) for step_run_id in self.loader.waiting_for_runs()]
        elif before in FINAL_RUNS and run.parent_step_id is not None:
            self.outbox.append(Sent("pause_child", run.parent_step_id, {}))

    def _dismiss_child(self, row: Row) -> None:
        """A step that goes on without the end of the run that it has started wants it stopped."""
        if row.wait_kind == CHILD and row.id is not None:
            self.outbox.append(Sent("stop_child", row.id, {}))

    def _untell_ready(self, row: Row) -> None:
        """Takes back the event 'ready' of a row that this same transaction starts, when it is the last one told."""
        last = self.events[-1] if self.events else None
        if last and last.path == row.path and last.type == "step.ready":
            self.events.pop()
            self.run.event_seq -= 1

    def _count(self, row: Row, sign: int) -> None:
        run, status = self.run, row.status
        run.open_count += sign * (status in OPEN)
        run.running_count += sign * (status is StepStatus.RUNNING)
        run.waiting_count += sign * (status is StepStatus.WAITING or waits_for_person(status))
        run.failed_count += sign * (status is StepStatus.FAILED and row.handled is None)
        run.succeeded_count += sign * (status is StepStatus.SUCCEEDED)
