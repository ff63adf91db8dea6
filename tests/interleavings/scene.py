"""One run in which everything can happen next: each act of the engine has something of its own to do in it.

A    held by a worker that is well          X  failed for good: can be resumed
B    a retry that is due                    L  held by a worker that was declared dead
D    a timer that ran out                   E  a map with one item held by the worker that is well
P    a question that is open                C  held by a worker that is gone, and nobody knows it yet
N    at most once, and nobody knows what    F  ready, under a limit; G  ready
     became of it                           K  waits for a child run that nobody has started yet
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from builder.graph.model import Policy, Retry
from builder.workflows.models import Version, Workflow
from kit.ids import new_id
from runs.core.outcomes import Fans, Succeeded, Waits
from runs.engine import children, sweep
from runs.engine.cancel import cancel_run
from runs.engine.commands import Command
from runs.engine.control import unpause_run
from runs.engine.decide import decide_step
from runs.engine.finish import Request
from runs.engine.resume import resume_run
from runs.engine.wait import Answer, answer_wait
from runs.link import Link
from runs.store import fleet
from tests.engine import World
from tests.hands import Hand
from tests.random_runs import BROKEN, FLAKY

DRAWING = """S > A + B + D + P + N + X + K + L + E[Y] + C + F + G, A + B + D + N + X + K + L + E + C + F + G > J
P ?approved> J, J > Z"""
KINDS = {"X": "pass_through", "Y": "pass_through", "G": "template", "K": "run_workflow"}
POLICIES = {
    "B": Policy(retry=Retry(attempts=5), total_limit_s=3600),
    "G": Policy(queue_limit_s=3600),
    "N": Policy(delivery="at_most_once"),
    "F": Policy(limit_key="crm", limit_at_most=5),
    "J": Policy(on_upstream_failure="default"),
}
LET_TIME_PASS = """UPDATE runs_steprun SET not_before = statement_timestamp() - interval '1 second'
    WHERE run_id = %s AND (status = 'retry_wait' OR (status = 'waiting' AND wait_kind = 'timer'))"""
LET_WAITS_EXPIRE = "UPDATE runs_wait SET expires_at = statement_timestamp() WHERE run_id = %s AND status = 'open'"
BROKEN_IN = "SELECT what FROM runs_broken WHERE run_id = %s"
DONE = "SELECT path, attempt, fence, output, finished_at FROM runs_steprun WHERE run_id = %s AND status = 'succeeded'"
OPEN_WAITS = "SELECT id FROM runs_wait WHERE run_id = %s AND status = 'open'"
OTHERS = """SELECT id, idempotency_key FROM runs_run WHERE workflow_id = %s AND id <> %s AND parent_step_id IS NULL
    AND status NOT IN ('succeeded', 'failed', 'cancelled')"""
CHILD = "child of the scene"
ROUNDS = 60


def publish(world: World) -> Version:
    return world.draw(DRAWING, kinds=KINDS, policies=POLICIES)


@dataclass
class Scene:
    world: World
    version: Version
    link: Link  # of those who act; the world's own one looks on

    def __post_init__(self) -> None:
        self.hand, self.dead, self.gone = (Hand(self.link) for _ in range(3))
        self.child = self._child_version()
        self.id: UUID = self.world.start(self.version).run_id
        self.again = False
        self.token: str | None = None
        self._set()
        self.claim_id, self.start_key = new_id(), new_id().hex
        self.commands: dict[str, Command] = {}

    def _set(self) -> None:
        hand, dead, connection = self.hand, self.dead, self.link.connection
        self.a = hand.take()
        hand.finish(hand.take(), FLAKY)  # B
        hand.finish(hand.take(), Waits("timer", 60.0, {}))  # D
        hand.finish(hand.take(), Waits("approval", 60.0, {}))  # P
        unknown = dead.take()
        hand.finish(hand.take(), BROKEN)  # X
        hand.finish(hand.take(), self._call())  # K
        self.lost = dead.take()
        container = hand.take()
        self.c = self.gone.take()
        fleet.bury(connection, dead.id)
        sweep.recover(connection, self.id, step_run_id=unknown.step_run_id, fence=unknown.fence, detail="gone")
        connection.execute(LET_TIME_PASS, (self.id,))
        fanned = hand.finish_all(
            [hand.request(container, Fans([1, 2, 3], 1, "fail_at_end"), wish=hand.wish())], others=1
        )
        item = fanned.results[0].next
        assert item is not None
        assert item.path.startswith("E[")
        self.item, self.known = item, fanned.known
        self.idle_wish = hand.wish()
        self.results = {
            "A": hand.request(self.a, Succeeded("a"), wish=hand.wish()),
            "item": hand.request(self.item, Succeeded("y"), wish=hand.wish()),
            "C": self.gone.request(self.c, Succeeded("c"), wish=None),
        }

    def _call(self) -> Waits:
        return Waits("child", None, {"workflow": str(self.child.workflow_id), "version": None, "input": 1})

    def _child_version(self) -> Version:
        """One for all scenes of a test."""
        found = Version.objects.filter(workflow__name=CHILD, workflow__workspace=self.world.workspace).first()
        if found is None:
            found = self.world.draw("S > Q")
            Workflow.objects.filter(id=found.workflow_id).update(name=CHILD)
        return found

    def request(self, name: str) -> Request:
        return self.results[name]

    def command(self, operation: str, *, subject: str | None = None) -> Command:
        """The same one each time that it is asked for: a repeated request carries the same id."""
        if operation not in self.commands:
            self.commands[operation] = Command(new_id(), self.id, operation, "Ana", None, subject)
        return self.commands[operation]

    def wait_id(self) -> UUID:
        row = self.world.connection.execute("SELECT id FROM runs_wait WHERE run_id = %s", (self.id,)).fetchone()
        assert row is not None
        found: UUID = row[0]
        return found

    # ------------------------------------------------------------------ looking
    def broken(self) -> list[str]:
        return [what for (what,) in self.world.connection.execute(BROKEN_IN, (self.id,))]

    def done(self) -> dict[str, Any]:
        return {path: rest for path, *rest in self.world.connection.execute(DONE, (self.id,))}

    def events(self) -> list[tuple[str, str | None]]:
        return self.world.events(self.id)

    def status(self) -> str:
        return self.world.run(self.id).status

    def paths(self, status: str) -> list[str]:
        query = "SELECT path FROM runs_steprun WHERE run_id = %s AND status = %s ORDER BY id"
        return [path for (path,) in self.world.connection.execute(query, (self.id, status))]

    # ------------------------------------------------------------------ to the end
    def check(self) -> None:
        """Nothing is broken; everything can still be driven to its end; what had succeeded stays as it is."""
        assert self.broken() == []
        done = self.done()
        others = self._cancel_the_other_runs()
        self._bury(hand.id for hand in (self.hand, self.dead, self.gone))
        worker = Hand(self.link)
        for _ in range(ROUNDS):
            if self.status() == "succeeded":
                break
            self._round(worker)
        assert self.status() == "succeeded", self.world.statuses(self.id)
        assert self.broken() == []
        after = self.done()
        assert {path: after.get(path) for path in done} == done
        assert [self.world.run(other).status for other in others] == ["cancelled"] * len(others)

    def _cancel_the_other_runs(self) -> list[UUID]:
        """Those that an act may have started or forked; never two for one key or one command."""
        connection = self.world.connection
        found = connection.execute(OTHERS, (self.version.workflow_id, self.id)).fetchall()
        keys = [key for _, key in found]
        assert len(keys) == len(set(keys)), "one key, or one fork, made two runs"
        for id_, _ in found:
            with connection.transaction():
                cancel_run(connection, Command(new_id(), id_, "cancel", "Ana"))
        return [id_ for id_, _ in found]

    def _bury(self, ids: Iterable[UUID]) -> None:
        for id_ in ids:
            fleet.bury(self.world.connection, id_)

    def _round(self, worker: Hand) -> None:
        connection = self.world.connection
        sweep.recover_dead(connection)
        children.deliver(connection)
        connection.execute(LET_TIME_PASS, (self.id,))
        sweep.due(connection)
        sweep.expire_waits(connection)
        while (held := worker.claim().held) is not None:
            worker.finish(held, Fans([1, 2], 1, "fail_at_end") if held.path == "E" else Succeeded(held.path))
        for path in self.paths("needs_decision"):
            with connection.transaction():
                decide_step(connection, self._new("decide", path), path=path, decision="happened")
        for (wait,) in connection.execute(OPEN_WAITS, (self.id,)):
            given = Answer(wait, "approved", "", None, None)
            with connection.transaction():
                answer_wait(connection, self._new("answer", str(wait)), given)
        again = {"failed": resume_run, "cancelled": resume_run, "paused": unpause_run}.get(self.status())
        if again is not None:
            with connection.transaction():
                again(connection, self._new("again", None))

    def _new(self, operation: str, subject: str | None) -> Command:
        return Command(new_id(), self.id, operation, "Ana", None, subject)
