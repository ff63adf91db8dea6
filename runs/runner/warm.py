"""A worker thread's warm child: executes one job after the other, and is replaced whenever it might not be clean."""

import os
import select
from collections.abc import Callable
from typing import Any

from builder.connections.masking import Masker
from runs.runner.attempt import Attempt, Callbacks, NeverBegan, Result
from runs.runner.masks import masker_of
from runs.runner.messages import Crashed, Job, Outcome, Reused
from runs.runner.spawner import ChildProcess, Spawner
from runs.runner.values import encode

ATTEMPTS_TO_BEGIN = 3  # a child that was killed while it idled is replaced; the job never began


class Child:
    """Not for two threads at once, but for `wake`.

    Holds up to two processes: one for jobs without credentials, and one that has held the credentials of one set of
    connections and serves that set alone.
    """

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._plain: ChildProcess | None = None
        self._sworn: ChildProcess | None = None
        self._sworn_to = ""  # JSON of the connections that the sworn process has held
        self._masker = Masker(())
        self._no_secrets = Masker(())

    def warm(self) -> None:
        """Starts a process ahead of the first job. Raises runs.runner.spawner.NoChild."""
        if self._plain is None:
            self._plain = self._spawn()

    def wake(self) -> None:
        """From any thread: `should_stop` is asked at once."""
        os.eventfd_write(self._wake, 1)

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in (self._plain, self._sworn) if child is not None]

    def run(
        self,
        job: Job,
        *,
        on_checkpoint: Callable[[str, str, Any], Any],
        on_log: Callable[[str], None],
        on_progress: Callable[[float, float | None, str], None],
        on_cursor: Callable[[str, Any], None],
        should_stop: Callable[[], bool],
        on_ask: Callable[[Any], Reused | None] = lambda _: None,
    ) -> Outcome:
        """One attempt. What it gives is masked. `on_checkpoint(kind, key, value)` returns once the value is stored,
        with what the child is told; `on_cursor(name, position)` may store later; `on_ask(input)` is asked where the job
        may take an earlier result.

        Raises NoChild, and whatever a callback raises: the child is then gone and the attempt without outcome.
        """
        callbacks = Callbacks(on_checkpoint, on_log, on_progress, on_cursor, should_stop, on_ask)
        for _ in range(ATTEMPTS_TO_BEGIN):
            child = self._child_for(job)
            try:
                result = self._attempt(child, job, callbacks)
            except NeverBegan:
                continue
            if result.retire is not None:
                self._retire(child)
            return result.outcome
        return Crashed("three children in a row were gone before they could begin")

    def close(self) -> None:
        for child in (self._plain, self._sworn):
            if child is not None:
                self._retire(child)
        if self._wake >= 0:
            os.close(self._wake)
            self._wake = -1

    def _attempt(self, child: ChildProcess, job: Job, callbacks: Callbacks) -> Result:
        masker = self._masker if child is self._sworn else self._no_secrets
        try:
            return Attempt(child, job, callbacks, masker=masker).run()
        except BaseException:  # also NeverBegan, a callback's own, KeyboardInterrupt: a half-used child serves nobody
            self._retire(child)
            raise

    def _child_for(self, job: Job) -> ChildProcess:
        if not job.connections:
            self.warm()
            assert self._plain is not None  # warm() made it
            return self._plain
        key = encode({name: dict(settings) for name, settings in job.connections.items()})
        if self._sworn is not None and key != self._sworn_to:
            self._retire(self._sworn)
        if self._sworn is None:
            self._sworn = self._spawn()
            self._sworn_to = key
            self._masker = masker_of(job.connections)
        return self._sworn

    def _spawn(self) -> ChildProcess:
        child = self._spawner.spawn()
        child.poller.register(self._wake, select.POLLIN)
        return child

    def _retire(self, child: ChildProcess) -> None:
        """Returns when it and all its descendants are gone."""
        if child is self._plain:
            self._plain = None
        elif child is self._sworn:
            self._sworn, self._sworn_to, self._masker = None, "", self._no_secrets
        child.kill()
        child.close()
