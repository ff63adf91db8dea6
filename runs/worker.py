"""The worker: claims a step, runs its body in the warm child, finishes it, and goes on with what follows.

One WorkerProcess per Dramatiq worker process; each of its threads has a Slot: a connection to PostgreSQL and a warm
child.
"""

import atexit
import logging
import random
import threading
import time
from functools import cache, partial
from uuid import UUID

import psycopg
from django.conf import settings

from kit.clock import monotonic_s
from kit.failpoints import failpoint
from kit.ids import new_id
from runs import host
from runs.attempt import Notes, Reusing, job_for
from runs.core.outcomes import Crashed, Failed, Outcome, Reused, Stopped, Succeeded
from runs.core.states import FINAL_RUNS
from runs.desk import Desk
from runs.dispatch import wake
from runs.engine import limits
from runs.engine.checkpoint import FencedOut
from runs.engine.children import Turns, deliver
from runs.engine.claim import claim
from runs.engine.definitions import definition_of
from runs.engine.finish import Finished, Kept, Request, Wish, keep_values
from runs.engine.late import keep_late_effects
from runs.engine.scope import Values
from runs.engine.sweep import recover
from runs.link import Link, Stopping
from runs.payloads import PAYLOAD_GONE
from runs.runner.spawner import NoChild, Spawner
from runs.runner.warm import Child
from runs.store import fleet
from runs.store.claim import FIRST, Held
from runs.store.limits import limited_names
from runs.store.read import Connection
from steps.registry import all_specs

HEARTBEAT_S = 1.0
BUDGET_S = 20.0  # of one message; then another message lets other lanes and runs have their turn
STEPS_IN_A_ROW = 64  # of one run, before others that wait are looked at
TURN_S = 1.0  # of one run, before another workspace has its turn
CONTENDED_TRIES = 12
POST_AT_ONCE = 16  # rows of the outbox that a worker delivers after a finish; sweepers do the rest
DESK_WAIT_S = 0.02  # for what another thread of this process may give away
CONTENDED_PAUSE_S = 0.001  # at first; doubled each time up to thirty times as much

logger = logging.getLogger(__name__)


class WorkerProcess:
    def __init__(self) -> None:
        self.id: UUID = new_id()
        self.values = Values()
        self.spawner = Spawner()
        self.kinds = list(all_specs())
        self.queues: list[str] = settings.WORKER_QUEUES
        self.limited: frozenset[str] = frozenset()  # lanes and workspaces with a limit, as of the last heartbeat
        self._lock = threading.Lock()
        self._held: dict[tuple[int, int], Slot] = {}
        self._desks: dict[UUID, Desk] = {}
        self._slots = threading.local()
        self._draining_since: float | None = None
        self._heart = Link(name="heartbeat", is_stopping=lambda: self.is_draining)

    @property
    def is_draining(self) -> bool:
        return self._draining_since is not None

    def boot(self) -> None:
        """Registers the process and starts its heartbeat. Waits for the database."""
        self.spawner.start()
        self._register()
        threading.Thread(target=self._beat_for_ever, name="heartbeat", daemon=True).start()
        atexit.register(self.spawner.close)

    def drain(self) -> None:
        """No claims from now on; running bodies get a little time, then their steps are given back."""
        self._draining_since = monotonic_s()
        with self._lock:
            slots = list(self._held.values())
        for slot in slots:
            slot.child.wake()

    def must_end(self) -> bool:
        return self._draining_since is not None and monotonic_s() - self._draining_since > settings.DRAIN_S

    def work(self, queue: str) -> None:
        """Takes ready steps of a lane until there are none, or the message's time is used up."""
        if not hasattr(self._slots, "slot"):
            self._slots.slot = Slot(self)
        slot: Slot = self._slots.slot
        try:
            if slot.work(queue):
                wake(queue)
        except Stopping:
            logger.info("stopping while the database is away: what this worker held will be recovered")

    # ------------------------------------------------------------------ what is held
    def hold(self, held: Held, slot: "Slot") -> Desk:
        """Names the step in the heartbeats from now on. Answers the place where it is finished."""
        pair = (held.step_run_id, held.fence)
        with self._lock:
            desk = self._desks.setdefault(held.run_id, Desk(may_claim=lambda: not self.is_draining))
            desk.holding += pair not in self._held
            self._held[pair] = slot
            return desk

    def busiest_desk(self) -> Desk | None:
        with self._lock:
            return max(self._desks.values(), key=lambda desk: desk.holding, default=None)

    def let_go(self, held: Held) -> None:
        with self._lock:
            if self._held.pop((held.step_run_id, held.fence), None) is None:
                return
            desk = self._desks[held.run_id]
            desk.holding -= 1
            if not desk.holding:
                del self._desks[held.run_id]

    def _stop(self, pairs: frozenset[tuple[int, int]]) -> None:
        with self._lock:
            slots = [(pair, self._held[pair]) for pair in pairs if pair in self._held]
        for pair, slot in slots:
            slot.stop(pair)

    # ------------------------------------------------------------------ heartbeat
    def _register(self) -> None:
        identity = host.identify(self.id)

        def act(connection: Connection, again: bool) -> None:
            known = again and connection.execute("SELECT FROM runs_worker WHERE id = %s", (self.id,)).fetchone()
            if not known:
                fleet.register(
                    connection, identity, queues=self.queues, kinds=self.kinds, threads=settings.WORKER_THREADS
                )

        self._heart.retry(act)
        self._look_at_limits()

    def _look_at_limits(self) -> None:
        self.limited = self._heart.retry(lambda connection, _: limited_names(connection))

    def _beat_for_ever(self) -> None:
        while True:
            time.sleep(HEARTBEAT_S)
            try:
                self._beat()
            except Stopping:
                return
            except Exception:  # a heartbeat that ends would make a healthy worker look dead
                logger.exception("the heartbeat failed")

    def _beat(self) -> None:
        failpoint("in_heartbeat")
        with self._lock:
            held = list(self._held)
        heard = self._heart.retry(lambda connection, _: fleet.heartbeat(connection, worker=self.id, held=held))
        if not heard.alive:
            self._start_again(frozenset(held))
            return
        self._stop(heard.stop)
        self.limited = heard.limited
        with self._lock:
            unnamed = [pair for pair in heard.unnamed if pair not in self._held]
        for step_run_id, fence in unnamed:
            self._recover(step_run_id, fence)

    def _recover(self, step_run_id: int, fence: int) -> None:
        """A claim of this worker whose reply never came: nobody runs it."""

        def act(connection: Connection, _: bool) -> None:
            row = connection.execute("SELECT run_id FROM runs_steprun WHERE id = %s", (step_run_id,)).fetchone()
            detail = "The worker never heard that it had claimed this step."
            if row is not None:
                recover(connection, row[0], step_run_id=step_run_id, fence=fence, detail=detail)

        self._heart.retry(act)

    def _start_again(self, held: frozenset[tuple[int, int]]) -> None:
        """This worker was declared dead: what it runs belongs to others now. It goes on under a new id."""
        logger.warning("worker %s was declared dead and starts again", self.id)
        self._stop(held)
        self.values = Values()  # after a failover, some of them may never have been
        self.id = new_id()
        self._register()


def _upload(connection: Connection, _: bool, *, outcome: Outcome) -> Kept:
    return keep_values(connection, outcome)


class Slot:
    """One thread's connection and child, and the step that it holds just now."""

    def __init__(self, process: WorkerProcess) -> None:
        self.process = process
        self.link = Link(name="worker", is_stopping=process.must_end)
        self.child = Child(process.spawner)
        self._stopped: set[tuple[int, int]] = set()
        self._turns = Turns()  # whose post this thread delivered last
        self._served = FIRST  # the workspace that this thread's last claim took from: the next one gets its turn

    def stop(self, pair: tuple[int, int]) -> None:
        """From any thread: the attempt is no longer wanted."""
        self._stopped.add(pair)
        self.child.wake()

    def work(self, queue: str) -> bool:
        """Whether there may be more to do."""
        deadline = monotonic_s() + BUDGET_S
        while not self.process.is_draining:
            if monotonic_s() > deadline:
                return True
            held = self._claim(queue)
            if held is None:
                return False
            steps = 0
            turn_ends_at = min(deadline, monotonic_s() + TURN_S)
            while held is not None:
                steps += 1
                go_on = steps < STEPS_IN_A_ROW and monotonic_s() < turn_ends_at
                held = self._run(held, queue, take_next=go_on)
        return False

    def _claim(self, queue: str) -> Held | None:
        for tried in range(CONTENDED_TRIES):
            wanted = partial(claim, worker=self.process.id, claim_id=new_id(), queue=queue, kinds=self.process.kinds)
            found = self.link.retry(partial(wanted, after=self._served))
            if found.held is not None:
                self._served = found.held.workspace_id
            if found.result != "contended" or self.process.is_draining:
                return found.held
            if (given := self._wait_at_desk(queue)) is not None:
                return given
            pause_s = CONTENDED_PAUSE_S * min(2**tried, 30)
            time.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads those who wait for the same run
        return None

    def _wait_at_desk(self, queue: str) -> Held | None:
        """What is ready is of a run that is being worked on. Where this process does, its next finish gives away."""
        desk = self.process.busiest_desk()
        if desk is None:
            return None
        return desk.wait_for_work(self._wish(queue), limit_s=DESK_WAIT_S)

    def _wish(self, queue: str) -> Wish:
        return Wish(self.process.id, new_id(), (queue,), self.process.kinds, self.process.limited)

    def _run(self, held: Held, queue: str, *, take_next: bool) -> Held | None:
        desk = self.process.hold(held, self)
        try:
            notes = Notes(self.link, held)
            outcome = self._attempt(held, notes)
            if outcome is None:
                self._tell_late(held, notes)
                return None
            failpoint("before_finish")
            wish = None
            if take_next and not self.process.is_draining:
                wish = self._wish(queue)
            kept, finished = self._finish(desk, held, outcome, wish=wish)
            if finished.result == "fenced_out":
                self._tell_late(held, notes)
            if finished.next is not None:
                self.process.hold(finished.next, self)
            try:
                self._after(held, kept, finished)
            except Exception:  # nothing depends on what is told; the next step is running, and must be run
                logger.exception("nobody was told of %s", held.path)
            return finished.next
        finally:
            self.process.let_go(held)
            self._stopped.discard((held.step_run_id, held.fence))

    def _tell_late(self, held: Held, notes: Notes) -> None:
        """Its results are refused; what it did to the outside was not to be stopped, and is counted."""
        acts, worker = dict(notes.acts), self.process.id
        late = self.link.retry(lambda connection, _: keep_late_effects(connection, held, acts, worker=worker))
        if late:
            logger.warning(
                "%s acts of %s (fence %s) were late: another attempt had the step", late, held.path, held.fence
            )

    def _attempt(self, held: Held, notes: Notes) -> Outcome | None:
        """The body's outcome; None where the attempt was fenced out while it ran."""
        pair = (held.step_run_id, held.fence)
        job = self.link.retry(lambda connection, _: job_for(connection, held, values=self.process.values))
        if isinstance(job, Failed):
            return job
        reusing = Reusing(self.link, held, job)
        try:
            outcome = self.child.run(
                job,
                on_checkpoint=notes.keep,
                on_log=notes.write,
                on_progress=notes.progress,
                on_cursor=notes.move,
                should_stop=lambda: self._is_unwanted(pair, notes),
                on_ask=reusing.find,
            )
            notes.flush()
        except FencedOut:
            return None
        except NoChild as problem:
            return Crashed(problem.message)
        return reusing.mark(outcome)

    def _finish(self, desk: Desk, held: Held, outcome: Outcome, *, wish: Wish | None) -> tuple[Kept, Finished]:
        """Uploads the large values and commits. Between the two, hours may pass: what was swept meanwhile, because
        nothing referred to it yet, is uploaded again.
        """
        while True:
            kept = self.link.retry(partial(_upload, outcome=outcome))
            try:
                finished = desk.finish(self.link, Request(held, kept, wish, random.random()))  # noqa: S311 - jitter
            except psycopg.DatabaseError as error:
                if error.sqlstate != PAYLOAD_GONE:
                    raise
                logger.warning("a large value of %s was swept before it was referred to: once more", held.path)
                if isinstance(outcome, Reused):  # its run is gone as well
                    outcome = Stopped(outcome.input)
                continue
            return kept, finished

    def _is_unwanted(self, pair: tuple[int, int], notes: Notes) -> bool:
        """Asked several times a second while the body runs, whether it tells anything or not."""
        notes.tick()
        return pair in self._stopped or self.process.must_end()

    def _after(self, held: Held, kept: Kept, finished: Finished) -> None:
        if finished.result == "fenced_out":
            logger.warning("the result of %s (fence %s) came too late and was refused", held.path, held.fence)
        elif isinstance(kept.outcome, Succeeded):
            self.process.values.keep((held.run_id, held.path), kept.outcome.output, size=kept.size)
        if finished.told is not None:
            finished.told.announce()
            if finished.told.has_post:
                self.link.retry(lambda connection, _: deliver(connection, at_most=POST_AT_ONCE, turns=self._turns))
        self._let_go(held, finished)

    def _let_go(self, held: Held, finished: Finished) -> None:
        """Whoever waits for the room that this step or its run took may go; else the sweeper does it."""
        key = definition_of(self.link.connection, held.version_id).nodes[held.node_id].policy.limit_key
        if key is not None:
            self.link.retry(lambda connection, _: limits.after_step(connection, held, key))
        if held.run_is_counted and finished.told is not None and finished.told.status in FINAL_RUNS:
            self.link.retry(lambda connection, _: limits.after_run(connection, held))


@cache
def current_worker() -> WorkerProcess:
    """This process's worker, registered at the first call."""
    process = WorkerProcess()
    process.boot()
    return process
