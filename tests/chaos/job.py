"""The job itself: the shop is opened, people come in, faults strike, calm returns, and everything is counted."""

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from django.core.management import call_command
from httpx import TransportError

from builder.graph.codec import encode
from builder.workflows.models import Version
from config.services import keys
from config.services.house import House
from config.services.supervisor import Supervisor
from sample.crash.clients import DemoProblem
from teams.access import SYSTEM
from teams.models import Role, Workspace
from teams.services import add_member, create_user, create_workspace
from tests.bench.stack import connect
from tests.bench.workflows import publish
from tests.chaos.acts import Door, signed_in
from tests.chaos.harder_shapes import HarderShapes
from tests.chaos.people import People
from tests.chaos.plan import Fault, Strike
from tests.chaos.reads import UNSETTLED
from tests.chaos.shapes import Shape, Shapes
from tests.chaos.strikes import Striker
from tests.chaos.verdict import LEAST_RUNS, Verdict, judge, read_facts

UP_LIMIT_S = 120.0
CALM_LIMIT_S = 240.0  # for what is open in the end: zombies have to be noticed, retries to come
EXTRA_S = 60.0  # for strikes that met nobody in time, and for the runs that are asked for
AGAIN_S = 0.3  # a strike that met nobody is tried again
TICK_S = 0.05
EMAILS, SLUG = ("chaos@pawl.local", "second@pawl.local"), "chaos"
WORKERS = "SELECT count(*) FROM runs_worker WHERE dead_at IS NULL"


class Job:
    def __init__(
        self, house: House, supervisor: Supervisor, *, names: Sequence[str], url: str, seed: int,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.state = house.state
        self.supervisor, self.url, self.seed, self.say = supervisor, url, seed, say
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
        owner, second = (
            create_user(actor=SYSTEM, email=email, name=email[:5], password=self._password) for email in EMAILS
        )
        workspace = create_workspace(actor=SYSTEM, name="Chaos", slug=SLUG, owner=owner)
        add_member(actor=SYSTEM, workspace=workspace, user=second, role=Role.OPERATOR)
        self._publish(workspace)

    def _publish(self, workspace: Workspace) -> None:
        """By turns one that only runs and one that asks; the last one is started by steps of others alone."""
        files = str(self.outside), str(self.state / "mended")
        inner = HarderShapes(*files).inner()
        inside = publish(workspace, inner.name, inner.graph)
        simple, harder = Shapes(*files).all(), HarderShapes(*files, inside=str(inside.workflow_id)).all()
        shapes = [each for pair in zip_longest(simple, harder) for each in pair if each is not None]
        self.workflows: dict[str, Shape] = {}
        for shape in shapes:
            version = publish(workspace, shape.name, shape.graph)
            if shape.second is not None:
                graph = json.dumps(encode(shape.second))
                Version.objects.create(workflow_id=version.workflow_id, number=2, graph=graph)
            self.workflows[str(version.workflow_id)] = shape
        self.started = len(shapes)
        self.workflows[str(inside.workflow_id)] = inner

    def wait_until_up(self) -> None:
        with connect(name="chaos") as database:
            self._until("the workers", lambda: database.execute(WORKERS).fetchone() == (2,), limit_s=UP_LIMIT_S)
        doors = self._until("the web process", self._doors, limit_s=UP_LIMIT_S)
        mended = self.state / "mended"
        self.people = People(doors, self.workflows, started=self.started, mended=mended, seed=self.seed)

    def _doors(self) -> list[Door] | None:
        try:
            return [signed_in(self.url, workspace=SLUG, email=email, password=self._password) for email in EMAILS]
        except (DemoProblem, TransportError):
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
        answered = sum(order.run is not None for order in self.people.book.orders)
        return answered >= LEAST_RUNS and not self.people.missing

    def calm(self) -> None:
        """Everything works again; what is open comes to its end by itself, and by the people."""
        self.striker.end()
        deadline = time.monotonic() + CALM_LIMIT_S
        rests = 0
        with connect(name="chaos") as database:
            while time.monotonic() < deadline and rests < 3:  # seen at rest three times: a resume may be on its way
                self._look()
                is_at_rest = self.people.owes_nothing and database.execute(UNSETTLED).fetchone() == (0,)
                rests = rests + 1 if is_at_rest else 0
                time.sleep(0.5)
        self.people.go_home()

    # ------------------------------------------------------------------ after
    def judge(self) -> Verdict:
        with connect(name="chaos") as database:
            facts = read_facts(database, outside=self.outside.read_text(), launches=self.launches.read_text())
        verdict = judge(facts, self.people, struck=self.striker.struck)
        self.say(f"People decided {len(self.people.decided)} unknown outcomes")
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
