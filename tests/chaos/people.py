"""Those who use Pawl during the chaos, in a thread of their own: they start runs, answer, resume, decide and cancel.

Everything goes through the API. An act whose reply was lost is sent again as it was (same idempotency key or command
id) until it is answered. What there is to do is read from the database, as a page would show it.
"""

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from sample.crash.clients import DemoProblem, PawlClient
from tests.bench.stack import connect
from tests.chaos.shapes import Shape

MOST_OPEN = 24
START_EVERY_S = 0.3
ACT_TIMEOUT_S = 8.0

OPEN = "SELECT count(*) FROM runs_run WHERE status NOT IN ('succeeded', 'failed', 'cancelled')"
STOPPED = "SELECT id::text, generation, status, input FROM runs_run WHERE status IN ('failed', 'cancelled')"
ASKED = "SELECT id::text FROM runs_wait WHERE status = 'open' AND kind = 'approval'"
UNDECIDED = """SELECT r.id::text, r.generation, s.path, r.input, s.attempt FROM runs_steprun s
    JOIN runs_run r ON r.id = s.run_id WHERE s.status = 'needs_decision' AND r.status = 'running'"""


@dataclass
class Act:
    """One request, until it is answered."""

    path: str
    body: dict[str, Any]
    then: Callable[[dict[str, Any]], None] = lambda answer: None


@dataclass
class Order:
    """A run that was asked for. `run` is there once the API has said so."""

    number: int
    shape: Shape
    run: str | None = None

    @property
    def is_cancelled(self) -> bool:
        return self.number % 11 == 5

    @property
    def stays_cancelled(self) -> bool:
        return self.number % 22 == 5


class Door(PawlClient):
    def try_post(self, path: str, body: dict[str, Any]) -> httpx.Response | None:
        """None where nobody knows what became of it: it has to be sent again."""
        headers = {"X-CSRFToken": self._csrf(), "Referer": self._base_url}
        try:
            answer = self._http.post(self._room + path, json=body, headers=headers, timeout=ACT_TIMEOUT_S)
        except httpx.TransportError:
            return None
        return None if answer.status_code >= 500 or answer.status_code == 429 else answer


@dataclass
class People:
    door: Door
    shapes: Sequence[Shape]
    workflows: Sequence[uuid.UUID]
    mended: Path
    orders: list[Order] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    resumed: int = 0
    decided: set[str] = field(default_factory=set)  # runs in which somebody decided an unknown outcome

    def __post_init__(self) -> None:
        self._acts: dict[str, Act] = {}
        self._lock = threading.Lock()
        self._may_start = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="people", daemon=True)
        self._started_at = 0.0
        self._database: psycopg.Connection[Any] | None = None

    def begin(self) -> None:
        self._may_start.set()
        self._thread.start()

    def start_no_more(self) -> None:
        self._may_start.clear()

    def go_home(self) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def owes_nothing(self) -> bool:
        with self._lock:
            return not self._acts

    # ------------------------------------------------------------------ one round after the other
    def _live(self) -> None:
        while not self._is_over.is_set():
            try:
                self._look_around()
            except psycopg.Error:
                self._forget_database()
            except Exception as error:  # noqa: BLE001 - told in the verdict: a thread that ends silently tells nothing
                self.problems.append(f"the people stumbled: {error!r}")
                time.sleep(1)
            self._do_what_is_due()
            time.sleep(0.1)
        self._forget_database()

    def _forget_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _read(self, query: str) -> list[Any]:
        if self._database is None:
            self._database = connect(name="chaos people")
        return self._database.execute(query.encode()).fetchall()

    def _look_around(self) -> None:
        if self._may_start.is_set() and time.monotonic() - self._started_at > START_EVERY_S and self._has_room():
            self._order()
        for run, generation, status, number in self._read(STOPPED):
            self._take_up(run, generation, status=status, number=int(number))
        for (wait,) in self._read(ASKED):
            self._want(f"answer {wait}", f"/waits/{wait}/answer", {"decision": "approved"})
        for run, generation, path, number, attempt in self._read(UNDECIDED):
            self._decide(run, generation, path=path, number=int(number), attempt=attempt)

    def _has_room(self) -> bool:
        unanswered = sum(order.run is None for order in self.orders)
        return bool(self._read(OPEN)[0][0] + unanswered < MOST_OPEN)

    def _do_what_is_due(self) -> None:
        with self._lock:
            due = list(self._acts.items())
        for name, act in due:
            answer = self.door.try_post(act.path, act.body)
            if answer is None:
                continue
            if answer.is_success:
                act.then(answer.json())
            elif answer.status_code not in (409, 410):  # somebody was faster, or it went on by itself
                self.problems.append(f"{act.path} answered {answer.status_code}: {answer.text[:300]}")
            with self._lock:
                del self._acts[name]
            if self._is_over.is_set():
                return

    def _want(self, name: str, path: str, body: dict[str, Any], **more: Any) -> None:
        with self._lock:
            if name not in self._acts:
                self._acts[name] = Act(path, {"command_id": str(uuid.uuid4()), **body}, **more)

    # ------------------------------------------------------------------ what they do
    def _order(self) -> None:
        self._started_at = time.monotonic()
        number = len(self.orders)
        which = number % len(self.shapes)
        order = Order(number, self.shapes[which])
        self.orders.append(order)

        def accepted(answer: dict[str, Any]) -> None:
            order.run = str(answer["id"])
            if order.is_cancelled:
                self._want(f"cancel {order.run}", f"/runs/{order.run}/cancel", {})

        body = {"input": number, "idempotency_key": f"chaos-{number}"}
        with self._lock:
            self._acts[f"start {number}"] = Act(f"/workflows/{self.workflows[which]}/runs", body, accepted)

    def _take_up(self, run: str, generation: int, *, status: str, number: int) -> None:
        if status == "cancelled" and self.orders[number].stays_cancelled:
            return
        (self.mended / str(number)).touch()

        def done(answer: dict[str, Any]) -> None:
            self.resumed += 1

        self._want(f"resume {run} {generation}", f"/runs/{run}/resume", {"generation": generation}, then=done)

    def _decide(self, run: str, generation: int, *, path: str, number: int, attempt: int) -> None:
        """By turns: it is run again, or it is said to have happened, with the output that it would have had."""
        self.decided.add(run)
        happened = {"decision": "happened", "output": number + 1}
        body = happened if number % 2 else {"decision": "run_again"}
        where = f"/runs/{run}/steps/{path}/decide"
        self._want(f"decide {run} {path} {attempt}", where, {"generation": generation, **body})


def signed_in(url: str, *, workspace: str, email: str, password: str) -> Door:
    """Raises DemoProblem."""
    door = Door(url, workspace=workspace)
    if not door.is_up():
        raise DemoProblem(f"{url} does not answer.")
    door.sign_in(email, password)
    return door
