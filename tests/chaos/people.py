"""Those who use Pawl during the chaos, in a thread of their own: they start runs, answer, mend, fork, pause and cancel.

Everything goes through the API. An act whose reply was lost is sent again as it was (same idempotency key or command
id) until it is answered. What there is to do is read from the database, as a page would show it. Which operation a
person chooses, where there is a choice, is the one that was done the fewest times yet.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import psycopg

from tests.bench.stack import connect
from tests.chaos import reads
from tests.chaos.acts import Act, Answer, Desk, Door, command
from tests.chaos.orders import Book, Order
from tests.chaos.shapes import Shape

MOST_OPEN = 24
START_EVERY_S = 0.3
BULK_EVERY_S = 5.0
PAUSED_FOR_S = 0.6
MENDING = ("resume", "edit_input", "skip", "supply_output", "bulk_resume")
DECIDING = ("happened", "run_again", "not_happened", "skip")
BULK = ("resume", "pause", "resume", "unpause")
# What has to have happened before the job ends; to decide takes an outcome that nobody knows, which chance brings.
OPERATIONS = (
    "start", "cancel", "resume", "edit_input", "skip", "supply_output", "retry_now", "fork", "fork_version", "pause",
    "unpause", "breakpoints", "answer", "callback", "bulk_resume", "bulk_pause",
)  # fmt: skip
REFUSED_FORK = ("nothing_to_fork", "step_not_found")


def where(run: str, path: str, what: str) -> str:
    return f"/runs/{run}/steps/{quote(path)}/{what}"


class People:
    """`workflows`: the shape of each, by id; those that are started by themselves come first, in their order."""

    def __init__(
        self, doors: Sequence[Door], workflows: Mapping[str, Shape], *, started: int, mended: Path, seed: int
    ) -> None:
        self.desk, self.book = Desk(doors), Book()
        self.workflows, self.mended, self.seed = workflows, mended, seed
        self.startable = list(workflows.items())[:started]
        self.decided: set[tuple[str, str]] = set()  # (run, path) of which somebody decided an unknown outcome
        self.rekeyed: set[tuple[str, str]] = set()  # of which somebody raised the edition
        self._chosen: Counter[str] = Counter()
        self._seen_at: dict[str, float] = {}
        self._left_until: dict[str, float] = {}  # for an operation on many runs
        self._may_start, self._is_over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live, name="people", daemon=True)
        self._started_at = self._bulk_at = 0.0
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
    def owes_nothing(self) -> bool:
        return self.desk.is_empty

    @property
    def missing(self) -> list[str]:
        """Operations that nobody has done yet."""
        return [operation for operation in OPERATIONS if not self.desk.done[operation]]

    # ------------------------------------------------------------------ one round after the other
    def _live(self) -> None:
        while not self._is_over.is_set():
            try:
                self._look_around()
            except psycopg.Error:
                self._forget_database()
            except Exception as error:  # noqa: BLE001 - told in the verdict: a thread that ends silently tells nothing
                self.desk.problems.append(f"the people stumbled: {error!r}")
                time.sleep(1)
            self.desk.send_all(is_over=self._is_over.is_set)
            time.sleep(0.1)
        self._forget_database()

    def _forget_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _read(self, query: str, *values: Any) -> list[Any]:
        if self._database is None:
            self._database = connect(name="chaos people")
        return self._database.execute(query.encode(), values or None).fetchall()

    def _look_around(self) -> None:
        if self._may_start.is_set():
            self._start_something()
            self._disturb()
        for row in self._read(reads.STOPPED):
            self._take_up(*row)
        for row in self._read(reads.ASKED):
            self._answer(*row)
        for run, generation, path, number, attempt in self._read(reads.UNDECIDED):
            self._decide(run, generation, path=path, number=int(number), attempt=attempt)
        for run, root, paused in self._read(reads.PAUSED):
            self._let_go_on(run, self.book.of(root), paused=paused)
        for bulk, revision in self._read(reads.CAUTIOUS):
            act = Act("bulk_continue", f"/bulk/{bulk}/continue", {"revision": revision})
            self.desk.want(f"continue {bulk} {revision}", act)

    def _choice(self, *of: Any) -> Random:
        """The same for the same seed and thing, whenever it comes up."""
        return Random(f"{self.seed} {of}")

    def _rarest(self, operations: Sequence[str]) -> str:
        chosen = min(operations, key=lambda operation: self._chosen[operation])
        self._chosen[chosen] += 1
        return chosen

    # ------------------------------------------------------------------ starts
    def _start_something(self) -> None:
        now = time.monotonic()
        if now - self._started_at < START_EVERY_S or self._read(reads.OPEN)[0][0] + self.book.unanswered >= MOST_OPEN:
            return
        self._started_at = now
        number = len(self.book.started)
        workflow, shape = self.startable[number % len(self.startable)]
        order = Order(number, shape)
        self.book.add(order)
        act = Act("start", f"/workflows/{workflow}/runs", order.start(), lambda answer: self._accept(order, answer))
        self.desk.want(f"start {number}", act)

    def _accept(self, order: Order, answer: Answer) -> None:
        order.run = str(answer["id"])
        self.book.note(order)
        if order.is_cancelled and order.number % 4 == 1:
            act = command("bulk_cancel", "/bulk", operation="cancel", ids=[order.run])
            self.desk.want(f"cancel {order.run}", act)
        elif order.is_cancelled:
            self.desk.want(f"cancel {order.run}", command("cancel", f"/runs/{order.run}/cancel"))

    # ------------------------------------------------------------------ what disturbs runs that go on well
    def _disturb(self) -> None:
        for (run,) in self._read(reads.RUNNING):
            order = self.book.of(run)
            if (order.is_paused if order else self._choice(run).random() < 0.1) and self._comes_true(f"pause {run}"):
                self.desk.want(f"pause {run}", command("pause", f"/runs/{run}/pause"))
        for order in [each for each in self.book.orders if each.run and each.is_forked]:
            if self.desk.is_free(f"fork {order.run}") and self._comes_true(f"fork {order.run}"):
                self._fork(order)
        for run, generation, path, attempt in self._read(reads.RETRYING):
            if self._choice(run, path, attempt).random() < 0.5:
                self._on_step("retry_now", run, generation, path=path, name=f"retry {run} {path} {attempt}")
        for run, path, number in self._read(reads.EARLY):
            if int(number) % 2:
                self._call_back(run, path, int(number), name=f"early {run} {path}")
        if time.monotonic() - self._bulk_at > BULK_EVERY_S:
            self._bulk_at = time.monotonic()
            self._all_at_once()

    def _comes_true(self, what: str) -> bool:
        """A moment after it could be for the first time: sometimes at once, sometimes long after its end."""
        since = self._seen_at.setdefault(what, time.monotonic())
        return time.monotonic() - since > self._choice(what).choice((0.0, 0.5, 1.0, 2.0, 4.0))

    def _fork(self, order: Order) -> None:
        """From a step that has ended, or on another version, or both. Of a run that runs another one, half the time
        that other one.
        """
        dice = self._choice("fork", order.run)
        inside = [run for (run,) in self._read(reads.INSIDE, order.run)]
        source = inside[0] if inside and dice.random() < 0.5 else str(order.run)
        [(generation, workflow, paths)] = self._read(reads.FORKABLE, source)
        shape = self.workflows[workflow]
        if not paths:
            return
        version = 2 if shape.second and dice.random() < 0.7 else None
        path = dice.choice(paths) if version is None or dice.random() < 0.5 else None
        own = order.version if source == order.run else 1
        is_same, depth = dice.random() < 0.5, order.depth + 1
        fork = Order(order.number, shape, source=source, same_effects=is_same, version=version or own, depth=depth)

        def made(answer: Answer) -> None:
            fork.run = str(answer["id"])
            self.book.add(fork)

        asked = {"path": path, "version": version, "same_effects": fork.same_effects}
        act = command("fork_version" if version else "fork", f"/runs/{source}/fork", generation=generation, **asked)
        act.then, act.may = made, REFUSED_FORK
        self.desk.want(f"fork {order.run}", act)

    def _all_at_once(self) -> None:
        """One operation on many runs, every second time with a first one alone."""
        turn = self._chosen["bulk"]
        self._chosen["bulk"] += 1
        operation = BULK[turn % len(BULK)]
        if operation == "resume":
            for _, _, _, _, status, number, _ in self._read(reads.STOPPED):
                if status == "failed":
                    self._mend(int(number))
        status = {"resume": "failed", "pause": "running", "unpause": "paused"}[operation]
        pace = {"rate_per_s": 20.0, "canary": 1 if turn % 2 else None}
        act = command(f"bulk_{operation}", "/bulk", operation=operation, filter={"status": status}, **pace)
        act.may = ("no_runs_selected",)
        self.desk.want(f"bulk {turn}", act)

    # ------------------------------------------------------------------ what stands still without them
    def _take_up(
        self, run: str, root: str, workflow: str, generation: int, status: str, number: str, paths: list[str]
    ) -> None:
        order = self.book.of(root)
        if order is None or (status == "cancelled" and order.stays_cancelled):
            return
        shape = self.workflows[workflow]
        name = f"take up {run} {generation} {paths[:1] if status == 'running' else ''}"
        is_left = self._may_start.is_set() and time.monotonic() < self._left_until.get(name, 0)
        if is_left or not self.desk.is_free(name):
            return
        choices = MENDING if self._may_start.is_set() else MENDING[:4]
        if status == "running":  # what waits for the failed step may be gone past, and is no failed step itself
            choices = ("resume", "skip", "supply_output")
        if status == "cancelled" or not paths or shape.right is None:
            choices = ("resume",)
        self._mend_by(self._rarest(choices), run, generation, paths=paths, number=int(number), shape=shape, name=name)

    def _mend_by(
        self, operation: str, run: str, generation: int, *, paths: list[str], number: int, shape: Shape, name: str
    ) -> None:
        if operation == "bulk_resume":
            self._left_until[name] = time.monotonic() + 2 * BULK_EVERY_S
            return
        if operation == "resume":
            self._mend(number)
            some = paths[:1] if paths and self._choice(run, generation).random() < 0.3 else None
            act = command("resume", f"/runs/{run}/resume", generation=generation, paths=some)
            act.preview = {"operation": "resume", "paths": some} if self._choice(name).random() < 0.5 else None
            self.desk.want(name, act)
            return
        path = self._choice(name).choice(paths)
        right = shape.right(path, number) if shape.right else None
        more: dict[str, Any] = {}
        if operation == "edit_input":
            more["input"] = {"outside": str(self.mended.parent / "outside"), "value": right, "pause_s": 0.1}
            self.rekeyed.add((run, path))
        elif operation == "supply_output":
            more["output"] = right
        self._on_step(operation, run, generation, path=path, name=name, **more)

    def _mend(self, number: int) -> None:
        (self.mended / str(number)).touch()

    def _on_step(self, operation: str, run: str, generation: int, *, path: str, name: str, **more: Any) -> None:
        address = {"supply_output": "supply"}.get(operation, operation.replace("_", "-"))
        asked = {"operation": operation, "path": path, **({"input": more["input"]} if "input" in more else {})}
        act = command(operation, where(run, path, address), generation=generation, **more)
        act.preview = asked if self._choice(name).random() < 0.5 else None
        self.desk.want(name, act)

    def _answer(self, wait: str, kind: str, data: str, run: str, path: str, number: str) -> None:
        if kind == "callback":
            self._call_back(run, path, int(number), name=f"link {wait}")
            return
        if kind == "form":
            body: dict[str, Any] = {"decision": "submitted", "data": {"street": f"street {number}"}}
        else:
            body = {"decision": "approved"}
        needed = int(json.loads(data).get("approvals_needed") or 1)
        for who in range(needed):
            act = command("answer", f"/waits/{wait}/answer", **body)
            act.who = who
            self.desk.want(f"answer {wait} {who}", act)

    def _call_back(self, run: str, path: str, number: int, *, name: str) -> None:
        """Asks for the link, and calls by it, once or twice."""

        def call(answer: Answer) -> None:
            address = answer["url"][answer["url"].index("/api/") :]
            for copy in range(1 + number % 3 % 2):
                self.desk.want(f"{name} call {copy}", Act("callback", address, {"n": number}))

        self.desk.want(name, Act("callback_link", where(run, path, "callback-link"), {}, call))

    def _decide(self, run: str, generation: int, *, path: str, number: int, attempt: int) -> None:
        name = f"decide {run} {path} {attempt}"
        if not self.desk.is_free(name):
            return
        decision = self._rarest(DECIDING)
        self.decided.add((run, path))
        if decision == "run_again":
            self.rekeyed.add((run, path))
        body = {"decision": decision, **({"output": number + 1} if decision == "happened" else {})}
        self.desk.want(name, command("decide", where(run, path, "decide"), generation=generation, **body))

    def _let_go_on(self, run: str, order: Order | None, *, paused: int) -> None:
        name = f"unpause {run} {paused}"
        if time.monotonic() - self._seen_at.setdefault(name, time.monotonic()) < PAUSED_FOR_S:
            return
        if order is not None and order.has_breakpoints and self._choice(name).random() < 0.5:
            act = command("breakpoints", f"/runs/{run}/breakpoints", breakpoints=[{"path": "Z"}])
            act.method = "PUT"
            self.desk.want(f"breakpoints {run}", act)
        self.desk.want(name, command("unpause", f"/runs/{run}/unpause"))
