"""The job itself: the shop is opened, people come in, faults strike, calm returns, and everything is counted."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management import call_command

from config.services import keys
from config.services.house import House
from config.services.supervisor import Supervisor
from sample.crash.clients import DemoProblem
from teams.access import SYSTEM
from teams.services import create_user, create_workspace
from tests.bench.stack import connect
from tests.bench.workflows import publish
from tests.chaos.people import OPEN, People, signed_in
from tests.chaos.plan import Fault, Strike
from tests.chaos.shapes import Shapes
from tests.chaos.strikes import Striker
from tests.chaos.verdict import LEAST_RUNS, Verdict, judge, read_facts

UP_LIMIT_S = 120.0
CALM_LIMIT_S = 240.0  # for what is open in the end: zombies have to be noticed, retries to come
EXTRA_S = 60.0  # for strikes that met nobody in time, and for the runs that are asked for
AGAIN_S = 0.3  # a strike that met nobody is tried again
TICK_S = 0.05
EMAIL, SLUG = "chaos@pawl.local", "chaos"
WORKERS = "SELECT count(*) FROM runs_worker WHERE dead_at IS NULL"


class Job:
    def __init__(
        self, house: House, supervisor: Supervisor, *, names: Sequence[str], url: str, say: Callable[[str], None]
    ) -> None:
        self.state = house.state
        self.supervisor, self.url, self.say = supervisor, url, say
        self.outside, self.launches = self.state / "outside", self.state / "logs" / "launches"
        self.striker = Striker(house, supervisor, names=names, launches=self.launches)
        self.late: list[Strike] = []

    # ------------------------------------------------------------------ before
    def open(self) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        self.outside.touch()
        self.launches.touch()
        (self.state / "mended").mkdir()
        self._password = keys.password()
        owner = create_user(actor=SYSTEM, email=EMAIL, name="Chaos", password=self._password)
        workspace = create_workspace(actor=SYSTEM, name="Chaos", slug=SLUG, owner=owner)
        self.shapes = Shapes(str(self.outside), str(self.state / "mended")).all()
        self.workflows = [publish(workspace, shape.name, shape.graph).workflow_id for shape in self.shapes]

    def wait_until_up(self) -> None:
        with connect(name="chaos") as database:
            self._until("the workers", lambda: database.execute(WORKERS).fetchone() == (2,), limit_s=UP_LIMIT_S)
        door = self._until("the web process", self._door, limit_s=UP_LIMIT_S)
        self.people = People(door, self.shapes, self.workflows, self.state / "mended")

    def _door(self) -> Any:
        try:
            return signed_in(self.url, workspace=SLUG, email=EMAIL, password=self._password)
        except DemoProblem:
            return None

    # ------------------------------------------------------------------ the faults
    def rage(self, plan: Sequence[Strike], *, duration_s: float) -> None:
        """Strikes by the plan. One that meets nobody (no body runs, a server is away) is tried again a little later."""
        self.people.begin()
        began, todo = time.monotonic(), deque(plan)
        again: list[tuple[float, Strike]] = []
        while (now_s := time.monotonic() - began) < duration_s + EXTRA_S:
            self._look()
            due = [todo.popleft()] if todo and todo[0].at_s <= now_s else []
            due += [strike for at_s, strike in again if at_s <= now_s]
            again = [(at_s, strike) for at_s, strike in again if at_s > now_s]
            again += [(now_s + AGAIN_S, strike) for strike in due if not self.striker.strike(strike)]
            if now_s > duration_s and not todo and not self._missing(again) and self._has_enough():
                break
            time.sleep(TICK_S)
        self.people.start_no_more()
        self.say(f"Calm after {time.monotonic() - began:.0f} s and {self.striker.struck.total()} strikes")

    def _missing(self, again: Sequence[tuple[float, Strike]]) -> list[Fault]:
        return [strike.fault for _, strike in again if not self.striker.struck[strike.fault]]

    def _has_enough(self) -> bool:
        return sum(order.run is not None for order in self.people.orders) >= LEAST_RUNS

    def calm(self) -> None:
        """Everything works again; what is open comes to its end by itself, and by the people."""
        self.striker.end()
        deadline = time.monotonic() + CALM_LIMIT_S
        rests = 0
        with connect(name="chaos") as database:
            while time.monotonic() < deadline and rests < 3:  # seen at rest three times: a resume may be on its way
                self._look()
                is_at_rest = self.people.owes_nothing and database.execute(OPEN).fetchone() == (0,)
                rests = rests + 1 if is_at_rest else 0
                time.sleep(0.5)
        self.people.go_home()

    # ------------------------------------------------------------------ after
    def judge(self) -> Verdict:
        with connect(name="chaos") as database:
            facts = read_facts(database, outside=self.outside.read_text(), launches=self.launches.read_text())
        people = self.people
        verdict = judge(facts, people.orders, struck=self.striker.struck, decided=people.decided)
        verdict.others += people.problems
        self.say(f"People resumed {people.resumed} runs and decided unknown outcomes in {len(people.decided)}")
        return verdict

    # ------------------------------------------------------------------ inside
    def _look(self) -> None:
        self.striker.look()
        self.supervisor.look()

    def _until(self, what: str, ask: Callable[[], Any], *, limit_s: float) -> Any:
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            self._look()
            if found := ask():
                return found
            time.sleep(TICK_S)
        raise DemoProblem(f"Waited {limit_s:g} s for {what}, in vain. The logs are in {self.state / 'logs'}.")
