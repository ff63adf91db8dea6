"""A small world for tests of the engine: a published workflow, one worker thread in this process, and the invariants.

The worker is real (warm child and all); only Dramatiq is left out: `World.work()` does what a wake-up would.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import UUID

from django.db import connection as django_connection

from builder.graph.codec import encode
from builder.graph.model import Graph
from builder.workflows.models import Version, Workflow
from kit.ids import new_id
from runs.engine.commands import Command
from runs.engine.start import Start, Started, start_run
from runs.engine.sweep import sweep
from runs.link import Link
from runs.models import Event, Run, StepRun
from runs.store.read import Connection
from runs.worker import Slot, WorkerProcess
from teams.models import Workspace
from tests.graphs import draw

NOBODY_IS_GONE = {"is_gone": lambda identity: False}


@dataclass
class World:
    """Use as a context manager: closes the child and the connections."""

    workspace: Workspace = field(
        default_factory=lambda: Workspace.objects.create(slug=f"w{new_id().hex[-10:]}", name="Acme")
    )
    link: Link = field(default_factory=lambda: Link(name="test"))
    _process: WorkerProcess | None = None
    _slot: Slot | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._slot is not None:
            self._slot.child.close()
            self._slot.link.close()
        if self._process is not None:
            self._process.spawner.close()
            self._process._heart.close()
        self.link.close()

    @property
    def connection(self) -> Connection:
        return self.link.connection

    # ------------------------------------------------------------------ workflows and runs
    def publish(self, graph: Graph) -> Version:
        workflow = Workflow.objects.create(workspace=self.workspace, name="w")
        return Version.objects.create(workflow=workflow, number=1, graph=json.dumps(encode(graph)))

    def draw(self, text: str, **options: Any) -> Version:
        """A version drawn as text (tests.graphs); plain nodes pass their value through, output nodes without settings
        give null.
        """
        graph = draw(text, plain="pass_through", **options)
        nodes = [replace(n, config={"value": None}) if n.kind == "output" and not n.config else n for n in graph.nodes]
        return self.publish(replace(graph, nodes=tuple(nodes)))

    def start(self, version: Version, run_input: Any = None, *, key: str | None = None, **more: Any) -> Started:
        """`more` of what a start may say (runs.engine.start.Start)."""
        wanted = Start(version.workflow_id, version.id, run_input, actor="Ana", idempotency_key=key, **more)
        with self.connection.transaction():
            return start_run(self.connection, wanted)

    def command(
        self, run_id: UUID, operation: str, *, generation: int | None = None, id_: UUID | None = None
    ) -> Command:
        return Command(id_ or new_id(), run_id, operation, "Ana", generation)

    # ------------------------------------------------------------------ workers
    @property
    def process(self) -> WorkerProcess:
        if self._process is None:
            self._process = WorkerProcess()
            self._process._register()
        return self._process

    @property
    def slot(self) -> Slot:
        if self._slot is None:
            self._slot = Slot(self.process)
        return self._slot

    def work(self, queue: str = "default") -> None:
        """Executes whatever is ready, until nothing is."""
        self.slot.work(queue)

    def sweep(self, **options: Any) -> Any:
        options = {**NOBODY_IS_GONE, **options}
        return sweep(self.connection, sweeper=new_id(), host="test", **options)

    # ------------------------------------------------------------------ looking
    def run(self, run_id: UUID) -> Run:
        return Run.objects.get(id=run_id)

    def steps(self, run_id: UUID) -> dict[str, StepRun]:
        return {step.path: step for step in StepRun.objects.filter(run_id=run_id)}

    def statuses(self, run_id: UUID) -> dict[str, str]:
        return {path: step.status for path, step in self.steps(run_id).items()}

    def output(self, run_id: UUID, path: str) -> Any:
        text = self.steps(run_id)[path].output
        return None if text is None else json.loads(text)

    def events(self, run_id: UUID) -> list[tuple[str, str | None]]:
        return [(e.type, e.path) for e in Event.objects.filter(run_id=run_id).order_by("seq")]

    def broken(self) -> list[str]:
        """What the invariants find wrong; nothing, always."""
        with django_connection.cursor() as cursor:  # planned for this once, unlike the worker's own statements
            cursor.execute("SET statement_timeout = '120s'")
            for table in ("runs_run", "runs_steprun", "runs_event", "runs_attempt"):
                cursor.execute(f"ANALYZE {table}")
            cursor.execute("SELECT what FROM runs_broken")
            found = [what for (what,) in cursor.fetchall()]
            cursor.execute("RESET statement_timeout")
        return found
