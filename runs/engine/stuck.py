"""Which open runs stand still, as far as a look without their locks tells; whoever acts looks again under the lock.

A run that stands still does not change, and each change of a run raises its event number. So a sweeper looks closely
only at runs that it has seen twice at the same number, and once at each number: what waits for weeks costs one look.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from kit.clock import monotonic_s
from runs.core.standstill import standing_still
from runs.core.states import RunStatus
from runs.store import fleet
from runs.store.read import Connection, Rows

RUNS_AT_ONCE = 500
BUDGET_S = 0.2  # of one call: a run's open steps are read one by one
FIRST = UUID(int=0)


@dataclass
class Looks:
    """What one sweeper remembers between its turns: the event number at which it saw a run, and whether it has looked
    closely then. Goes round all open runs in order of their ids.
    """

    is_first_look_enough: bool = False
    after: UUID = FIRST
    before: dict[UUID, tuple[int, bool]] = field(default_factory=dict)  # of the last round
    seen: dict[UUID, tuple[int, bool]] = field(default_factory=dict)  # of this round

    def wants(self, run_id: UUID, seq: int) -> bool:
        """Whether to look closely now."""
        last, was_looked_at = self.before.get(run_id, (None, False))
        wanted = not was_looked_at and last == seq
        self.seen[run_id] = (seq, wanted or (last == seq and was_looked_at))
        return wanted or self.is_first_look_enough

    def end_round(self) -> None:
        self.after, self.before, self.seen = FIRST, self.seen, {}


@dataclass(frozen=True)
class Suspects:
    runs: Sequence[tuple[UUID]]
    waiting: Sequence[tuple[int, UUID, UUID | None]]  # step runs, their runs, and the child run that has ended


def stuck_runs(connection: Connection, looks: Looks) -> Suspects:
    """A number of open runs, from the one after the last that was looked at."""
    until = monotonic_s() + BUDGET_S
    rows = connection.execute(fleet.STANDING, (looks.after, RUNS_AT_ONCE)).fetchall()
    runs, waiting = [], []
    for id_, status, seq in rows:
        looks.after = id_
        if looks.wants(id_, seq):
            if standing_still(RunStatus(status), Rows(connection, id_).open_rows()):
                runs.append((id_,))
            waiting += connection.execute(fleet.UNHEARD, (id_,)).fetchall()
        if monotonic_s() > until:
            return Suspects(runs, waiting)
    if len(rows) < RUNS_AT_ONCE:
        looks.end_round()
    return Suspects(runs, waiting)
