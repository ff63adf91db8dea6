"""Where the threads of a worker process finish steps of the same run: whoever waits shares the next commit.

Transitions of one run come one after the other, each with a commit of its own. Threads that finish steps of the same
run (the items of a map) would queue for its lock; here they queue in memory, and the first in line finishes for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

from runs.core.transition import Transition
from runs.engine.finish import Done, Finished, Request, finish
from runs.link import Link
from runs.store.read import Connection


@dataclass
class _Ticket:
    request: Request
    result: Finished | None = None
    error: BaseException | None = None

    @property
    def is_served(self) -> bool:
        return self.result is not None or self.error is not None

    def take(self) -> Finished:
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


class Desk:
    """One run's. `holding` is how many steps of the run the process holds just now."""

    def __init__(self) -> None:
        self.holding = 0
        self._turn = Lock()
        self._lock = Lock()
        self._waiting: list[_Ticket] = []
        self._known: Transition | None = None  # the run as this process's last finish left it

    def finish(self, link: Link, request: Request) -> Finished:
        """Raises what the finish of this very request raised (runs.link.Stopping, ImpossibleMove)."""
        ticket = _Ticket(request)
        with self._lock:
            self._waiting.append(ticket)
        with self._turn:
            if not ticket.is_served:
                self._serve(link)
        return ticket.take()

    def _serve(self, link: Link) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        try:
            self._finish(link, batch)
        except Exception as error:  # noqa: BLE001 - each request is told its own error below
            if len(batch) == 1:
                batch[0].error = error
                return
            for ticket in batch:  # one of them is at fault: alone, each gets what is its own
                try:
                    self._finish(link, [ticket])
                except Exception as own:  # noqa: BLE001
                    ticket.error = own

    def _finish(self, link: Link, batch: Sequence[_Ticket]) -> None:
        requests = [ticket.request for ticket in batch]
        done = link.retry(partial(self._attempt, requests=requests))
        self._known = done.known
        for ticket, result in zip(batch, done.results, strict=True):
            ticket.result = result

    def _attempt(self, connection: Connection, again: bool, *, requests: Sequence[Request]) -> Done:
        known, self._known = None if again else self._known, None
        return finish(connection, requests, known=known, others=max(0, self.holding - len(requests)))
