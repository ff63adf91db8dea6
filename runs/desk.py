"""Where the threads of a worker process finish steps of the same run: whoever waits shares the next commit.

Transitions of one run come one after the other, each with a commit of its own. Threads that finish steps of the same
run (the items of a map) would queue for its lock; here they queue in memory, and the first in line finishes for all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Lock

from kit.clock import monotonic_s
from runs.core.transition import Transition
from runs.engine.finish import Done, Finished, Request, Wish, finish
from runs.link import Link
from runs.store.claim import Held
from runs.store.read import Connection


@dataclass
class _Ticket:
    """A thread's request. `called` is set when it is served, or when its thread is to finish for all who wait."""

    request: Request
    called: Event = field(default_factory=Event)
    result: Finished | None = None
    error: BaseException | None = None

    @property
    def is_served(self) -> bool:
        return self.result is not None or self.error is not None

    def serve(self, result: Finished | None, error: BaseException | None = None) -> None:
        self.result, self.error = result, error
        self.called.set()

    def take(self) -> Finished:
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


@dataclass
class _Idle:
    """A thread without a step, waiting for whatever the next finish of the run leaves ready."""

    wish: Wish
    served: Event = field(default_factory=Event)
    held: Held | None = None

    def serve(self, held: Held | None) -> None:
        self.held = held
        self.served.set()


class Desk:
    """One run's. `holding` is how many steps of the run the process holds just now."""

    def __init__(self, *, may_claim: Callable[[], bool] = lambda: True) -> None:
        self.holding = 0
        self._may_claim = may_claim
        self._lock = Lock()
        self._is_led = False  # whether a thread is finishing just now
        self._waiting: list[_Ticket] = []
        self._idle: list[_Idle] = []
        self._known: Transition | None = None  # the run as this process's last finish left it
        self._known_at = 0.0  # since when: a server that was reached after that may never have heard of it

    def finish(self, link: Link, request: Request) -> Finished:
        """Raises what the finish of this very request raised (runs.link.Stopping, ImpossibleMove)."""
        ticket = _Ticket(request)
        with self._lock:
            self._waiting.append(ticket)
            leads, self._is_led = not self._is_led, True
        if not leads:
            ticket.called.wait()
        if not ticket.is_served:
            try:
                self._serve(link)
            finally:
                self._hand_over()
        return ticket.take()

    def _hand_over(self) -> None:
        """The first of those who came meanwhile finishes next; a thread that is served never waits for it."""
        with self._lock:
            self._is_led = bool(self._waiting)
            if self._waiting:
                self._waiting[0].called.set()

    def wait_for_work(self, wish: Wish, *, limit_s: float) -> Held | None:
        """A step that the next finish of this run gives away; None where none came within the limit."""
        idle = _Idle(wish)
        with self._lock:
            self._idle.append(idle)
        if not idle.served.wait(limit_s):
            with self._lock:
                if idle in self._idle:
                    self._idle.remove(idle)
                    return None
            idle.served.wait()  # somebody is at it just now
        return idle.held

    def _serve(self, link: Link) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
            idle, self._idle = self._idle, []
        try:
            self._finish_all(link, batch, idle)
        finally:
            for each in idle:
                if not each.served.is_set():
                    each.serve(None)

    def _finish_all(self, link: Link, batch: Sequence[_Ticket], idle: Sequence[_Idle]) -> None:
        try:
            self._finish(link, batch, idle)
        except Exception as error:  # noqa: BLE001 - each request is told its own error below
            if len(batch) == 1:
                batch[0].serve(None, error)
                return
            for ticket in batch:  # one of them is at fault: alone, each gets what is its own
                try:
                    self._finish(link, [ticket], [])
                except Exception as own:  # noqa: BLE001
                    ticket.serve(None, own)

    def _finish(self, link: Link, batch: Sequence[_Ticket], idle: Sequence[_Idle]) -> None:
        requests = [ticket.request for ticket in batch]
        done = link.retry(partial(self._attempt, link=link, requests=requests, idle=[each.wish for each in idle]))
        self._known, self._known_at = done.known, monotonic_s()
        for each, held in zip(idle, done.given, strict=True):
            each.serve(held)
        for ticket, result in zip(batch, done.results, strict=True):
            ticket.serve(result)

    def _attempt(
        self, connection: Connection, again: bool, *, link: Link, requests: Sequence[Request], idle: Sequence[Wish]
    ) -> Done:
        is_stale = again or link.opened_at > self._known_at
        known, self._known = None if is_stale else self._known, None
        others = max(0, self.holding - len(requests))
        if not self._may_claim():
            wishless = [replace(request, wish=None) for request in requests]
            done = finish(connection, wishless, known=known, others=others)
            return replace(done, given=[None] * len(idle))
        return finish(connection, requests, idle=idle, known=known, others=others)
