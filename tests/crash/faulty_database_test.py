"""Every statement of the engine may fail before it was executed, or after it: 'executed, but reported as failed'.

One in ten does, by a seed, under the real worker loop, heartbeat and sweeper in this process (their children are
real). What it could bring back: a result that is written twice, a step that is claimed and never run, a second attempt
of a step although no process died, a checkpoint that is kept twice, a command that is done twice.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psycopg
import pytest

from builder.graph.model import Policy, Retry
from builder.workflows.models import Version
from runs import link as link_module
from runs.engine.commands import Command, Commanded
from runs.engine.resume import resume_run
from runs.engine.wait import Answer, answer_wait
from runs.link import Link
from runs.management.commands import sweeper as sweeper_module
from runs.models import Event, StepRun, Wait
from runs.store.read import Connection
from runs.worker import Slot
from tests.engine import World

pytestmark = [pytest.mark.crash, pytest.mark.slow, pytest.mark.timeout(300)]

PROVE = bool(os.environ.get("PAWL_PROVE"))
SEEDS = range(1, 41) if PROVE else (1, 2, 3)
RATE = 0.1
FAULTY = ("pawl worker", "pawl heartbeat", "pawl sweeper", "pawl people")
THREADS, RUNS, PATIENCE_S = 3, 12, 90.0


@dataclass
class Faults:
    """Throws for each statement whether it fails, and how. Shared by all threads."""

    dice: Random
    before: int = 0
    after: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def maybe(self, connection: "FaultyConnection", when: str) -> None:
        with self._lock:
            fails, is_cut = self.dice.random() < RATE / 2, self.dice.random() < 0.5
            if fails:
                setattr(self, when, getattr(self, when) + 1)
        if fails:
            if is_cut:
                connection.close()
            raise psycopg.OperationalError(f"a fault of the test, {when} the statement was executed")


class FaultyConnection(psycopg.Connection[Any]):
    """A pipeline fails as a whole, before or after it; a transaction also after its COMMIT."""

    faults: Faults | None = None
    _is_pipelined = False

    def execute(self, *arguments: Any, **options: Any) -> Any:
        if self.faults is None or self._is_pipelined:
            return super().execute(*arguments, **options)
        self.faults.maybe(self, "before")
        cursor = super().execute(*arguments, **options)
        self.faults.maybe(self, "after")
        return cursor

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        assert self.faults is not None
        self.faults.maybe(self, "before")
        with super().pipeline() as pipeline:
            self._is_pipelined = True
            try:
                yield pipeline
            finally:
                self._is_pipelined = False
        self.faults.maybe(self, "after")

    @contextmanager
    def transaction(self, *arguments: Any, **options: Any) -> Iterator[psycopg.Transaction]:
        assert self.faults is not None
        with super().transaction(*arguments, **options) as transaction:
            yield transaction
        self.faults.maybe(self, "after")


@pytest.fixture
def arm(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Faults]:
    def armed(seed: int) -> Faults:
        faults = Faults(Random(seed))

        def connect(**options: Any) -> Connection:
            if options["application_name"] not in FAULTY:
                return psycopg.connect(**options)
            connection = FaultyConnection.connect(**options)
            connection.faults = faults
            return connection

        errors = {"OperationalError": psycopg.OperationalError, "InterfaceError": psycopg.InterfaceError}
        monkeypatch.setattr(link_module, "psycopg", SimpleNamespace(connect=connect, **errors))
        return faults

    return armed


@pytest.fixture
def launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "launches"
    file.touch()
    monkeypatch.setenv("PAWL_LAUNCH_LOG", str(file))
    return file


@contextmanager
def at_work(world: World) -> Iterator[None]:
    """The worker's threads, its heartbeat and a sweeper, as processes of their own would have them."""
    over = threading.Event()
    process = world.process

    def work() -> None:
        slot = Slot(process)
        while not over.is_set():
            slot.work("default")
            over.wait(0.02)
        slot.child.close()
        slot.link.close()

    def beat() -> None:
        while not over.wait(0.5):
            process._beat()

    def sweep() -> None:
        loop = sweeper_module.SweeperLoop(over)
        loop.run()
        loop.link.close()

    threads = [threading.Thread(target=each) for each in (*[work] * THREADS, beat, sweep)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in threads)


@dataclass
class People:
    """They resume what failed and approve what is asked, by commands that are repeated until they are answered."""

    world: World
    link: Link = field(default_factory=lambda: Link(name="people"))
    seen: set[tuple[str, Any]] = field(default_factory=set)

    def look(self, runs: list[UUID]) -> None:
        for run in runs:
            found = self.world.run(run)
            if found.status == "failed" and self._is_new("resume", (run, found.generation)):
                command = self.world.command(run, "resume", generation=found.generation)
                self._do(lambda connection, command=command: resume_run(connection, command))
        for wait in Wait.objects.filter(status="open", run_id__in=runs):
            if self._is_new("answer", wait.id):
                command = Command(self.world.command(wait.run_id, "answer").id, wait.run_id, "answer", "Ana")
                given = Answer(wait.id, "approved", "", None, None)
                self._do(lambda connection, command=command, given=given: answer_wait(connection, command, given))

    def _is_new(self, what: str, subject: Any) -> bool:
        is_new = (what, subject) not in self.seen
        self.seen.add((what, subject))
        return is_new

    def _do(self, act: Callable[[Connection], Commanded]) -> None:
        def once(connection: Connection, again: bool) -> Commanded:
            with connection.transaction():
                return act(connection)

        self.link.retry(once)


def versions(world: World, tmp_path: Path) -> list[tuple[Version, Any]]:
    """Each with what its step Z must give, for a run's input of 5."""
    again = {"F": Policy(retry=Retry(attempts=3, first_delay_s=0.1))}
    chain = {"A": {"value": "{{ run.input + 1 }}"}, "B": {"value": "{{ steps.A.output + 1 }}"}}
    items = {"E": {"items": [1, 2, 3, 4], "window": 2}, "Y": {"value": "{{ item * run.input }}"}}
    kept = {"F": {"value": str(tmp_path / "kept")}}
    return [
        (world.draw("S > A > B > Z", configs={**chain, "Z": {"value": "{{ steps.B.output }}"}}), 7),
        (
            world.draw(
                "S > A + B + C > J > Z",
                configs={"A": {"value": "x" * 20_000}, "J": {"value": "{{ steps.A.output | length }}"},
                         "Z": {"value": "{{ steps.J.output }}"}},
            ),
            20_000,
        ),
        (
            world.draw("S > E[Y:test_echo > V] > Z", configs={**items, "V": {"value": "{{ steps.Y.output }}"},
                                                              "Z": {"value": "{{ steps.E.output }}"}}),
            [5, 10, 15, 20],
        ),
        (
            world.draw("S > F:test_work_in_steps > D > P, P ?approved> Z", policies=again,
                       configs={**kept, "D": {"seconds": 0.1}, "P": {"title": "Go on?"}, "Z": {"value": "done"}}),
            "done",
        ),
        (world.draw("S > F:test_failure > Z", configs={"Z": {"value": "never"}}), None),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_statement_fails_before_or_after_it_was_executed_nothing_happens_twice(
    db: None, gated_kinds: None, arm: Callable[[int], Faults], launches: Path, tmp_path: Path, seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(sweeper_module, "EVERY_S", 0.2)
    with World() as world:
        shapes = versions(world, tmp_path)
        faults = arm(seed)
        people = People(world)
        runs = [(world.start(version, 5).run_id, gives) for version, gives in shapes * (RUNS // len(shapes))]
        with at_work(world):
            deadline = time.monotonic() + PATIENCE_S
            while any(world.run(run).status not in END for run, _ in runs):
                assert time.monotonic() < deadline, [world.statuses(run) for run, _ in runs]
                people.look([run for run, gives in runs if gives is not None])
                time.sleep(0.05)
        people.link.close()
        assert faults.before + faults.after > 2
        assert world.broken() == []
        for run, gives in runs:
            assert world.run(run).status == ("failed" if gives is None else "succeeded")
            assert gives is None or world.output(run, "Z") == gives
        check_attempts([run for run, _ in runs], launches)
        kept = Counter((tmp_path / "kept").read_text())
        assert kept == dict.fromkeys("abc", RUNS // len(shapes)), "what a body keeps once was made more than once"


END = ("succeeded", "failed")


def check_attempts(runs: list[UUID], launches: Path) -> None:
    """No process died: each attempt began once, and none was made because of a statement that failed."""
    lines = [line.split(" ") for line in launches.read_text().splitlines()]
    begun = Counter((run, path, int(attempt)) for run, path, attempt, *_ in lines)
    assert set(begun.values()) == {1}
    steps = StepRun.objects.filter(run_id__in=runs)
    lost = steps.exclude(crash_count=0).values_list("path", "crash_count")
    assert list(lost) == []
    for step in steps.exclude(attempt=0).exclude(origin="copied"):
        told = Event.objects.filter(run_id=step.run_id, path=step.path, type="step.running").count()
        assert step.attempt == told
        expected = 2 if step.key == "F" and step.status == "succeeded" else 1
        assert step.attempt == expected, f"{step.path} had {step.attempt} attempts"
