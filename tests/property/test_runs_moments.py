"""At every moment of a run, whatever has happened to it, each step stands as tests/naive_run.py says."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from runs.core.outcomes import Outcome
from runs.core.rows import UPSTREAM_FAILED, Row
from runs.core.states import RunStatus, StepStatus
from runs.core.transition import Transition
from tests.graphs import show
from tests.memory import MemoryRun
from tests.naive_run import NaiveRun
from tests.random_acts import Player, every_graph
from tests.random_runs import random_graph

EXAMPLES = int(os.environ.get("PAWL_EVERYTHING_EXAMPLES") or (2_000 if os.environ.get("PAWL_PROVE") else 60))
DICE = st.randoms(use_true_random=False)
NO_MATTER = ("pause", "unpause", "breakpoints", "pause with the parent", "unpause with the parent")


@dataclass
class Watched(Player):
    """After each act the naive run is told of it, and must come to the same."""

    naive: NaiveRun = field(init=False)

    def __post_init__(self) -> None:
        self.naive = NaiveRun(self.memory.graph)
        self.compare()

    def claim(self, path: str) -> None:
        super().claim(path)
        self.after("claim", path)

    def end(self, row: Row, outcome: Outcome) -> None:
        super().end(row, outcome)
        self.after("end", row.path)

    def do(self, name: str, act: Callable[[Transition], Any], path: str | None = None) -> bool:
        has_failed = path is not None and self.memory.by_path(path).status is StepStatus.FAILED
        done = super().do(name, act, path)
        if done and has_failed and name in ("edit", "skip", "supply"):
            assert path is not None
            self.naive.mend(path)
        if done:
            self.after(name, path)
        return done

    def fork(self) -> None:
        """The naive run knows nothing of other runs."""

    def after(self, name: str, path: str | None) -> None:
        if name in ("cancel", "deadline"):
            self.naive.cancel(is_late=name == "deadline")
        elif name in ("resume", "resume one"):
            self.naive.resume(only=path and path.partition("[")[0])
        elif name not in NO_MATTER:
            assert path is not None
            row = self.memory.by_path(path)
            self.naive.told(path, row.status.value, way=way_out(row), why=why(row), items=row.items)
        self.compare()

    def compare(self) -> None:
        assert self.memory.statuses() == self.naive.statuses()
        status = self.memory.run.status
        assert (RunStatus.RUNNING if status is RunStatus.PAUSED else status) == self.naive.run_status()


def way_out(row: Row) -> str | None:
    match row.status:
        case StepStatus.SUCCEEDED:
            return row.port
        case StepStatus.FAILED:
            return {"fallback": "out", "port": "error"}.get(row.handled or "")
        case StepStatus.SKIPPED:
            return "out"
        case _:
            return None


def why(row: Row) -> str | None:
    if row.status is StepStatus.FAILED and (row.error or {}).get("code") == UPSTREAM_FAILED:
        return UPSTREAM_FAILED
    return row.reason


def watched(dice: Random) -> Watched:
    graph = random_graph(dice, **every_graph(dice))
    note(show(graph))
    note(str({node.key: node.policy for node in graph.nodes}))
    return Watched(dice, MemoryRun(graph))


@given(dice=DICE)
@settings(max_examples=EXAMPLES)
def test_at_every_moment_each_step_stands_as_naive_reasoning_says(dice: Random) -> None:
    player = watched(dice)
    player.play(dice.choice([5, 20, 60]))
    player.drive()
    note("; ".join(player.story))
