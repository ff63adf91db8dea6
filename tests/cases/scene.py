"""A world whose steps count what was really executed, and the acts of the people in it."""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from builder.graph.model import Graph
from runs.engine.cancel import cancel_run
from runs.engine.resume import resume_run
from runs.engine.wait import Answer, answer_wait
from runs.models import Wait
from tests.engine import World
from tests.graphs import draw


@dataclass
class Scene(World):
    folder: Path = field(default_factory=Path)

    def play(self, drawing: str, run_input: Any = None, **options: Any) -> UUID:
        """Draws, publishes, starts, and works until nothing is ready. Plain nodes tick under their path."""
        run_id = self.begin(drawing, run_input, **options)
        self.work()
        return run_id

    def begin(self, drawing: str, run_input: Any = None, **options: Any) -> UUID:
        return self.start(self.publish(self.ticking(draw(drawing, plain="test_tick", **options))), run_input).run_id

    def ticking(self, graph: Graph) -> Graph:
        def dressed(node: Any) -> Any:
            if node.kind == "test_tick":
                return replace(node, config={"folder": str(self.folder), **node.config})
            return replace(node, config={"value": None}) if node.kind == "output" and not node.config else node

        return replace(graph, nodes=tuple(dressed(node) for node in graph.nodes))

    @property
    def ticks(self) -> Counter[str]:
        """How often each counter went up: what really ran, told from outside."""
        file = self.folder / "ticks"
        return Counter(file.read_text().split()) if file.exists() else Counter()

    def resume(self, run_id: UUID, *, paths: list[str] | None = None) -> None:
        with self.connection.transaction():
            resume_run(self.connection, self.command(run_id, "resume"), paths=paths)
        self.work()

    def cancel(self, run_id: UUID) -> None:
        with self.connection.transaction():
            cancel_run(self.connection, self.command(run_id, "cancel"))

    def answer(self, run_id: UUID, path: str, decision: str = "approved") -> None:
        wait = Wait.objects.get(run_id=run_id, step_run__path=path, status="open")
        given = Answer(wait.id, decision, "", None, None)
        with self.connection.transaction():
            answer_wait(self.connection, self.command(run_id, "answer"), given)
        self.work()

    def status(self, run_id: UUID) -> str:
        return str(self.run(run_id).status)
