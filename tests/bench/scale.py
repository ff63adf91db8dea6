"""What grows: claims beside a million finished step runs, ten thousand items and their resume, a thousand questions."""

import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from builder.graph.model import Graph
from builder.workflows.models import Version
from kit.ids import new_id
from runs import host
from runs.engine.start import Start, start_run
from runs.link import Link
from runs.store import fleet
from runs.store.claim import FIRST, Claim, Held, claim
from sample.crash.clients import PawlClient
from steps.registry import all_specs
from teams.access import SYSTEM
from teams.models import User
from teams.services import create_workspace
from tests import shapes
from tests.bench import processes
from tests.bench.seed import seed_steps
from tests.bench.speed import quantile
from tests.bench.stack import Bench, Ends
from tests.graphs import draw

ITEMS = 10_000
MOSAIC = shapes.montage(images=108, overlaps=1890)
WAITING = 1_000
WATCHED_S = 25.0
LANE = "bench-claims"  # that no worker serves: what is seeded can only be claimed
CLAIMS = 500
WORKSPACES = 10
SMALL, READY, FINISHED = 1_000, 100_000, 1_000_000


@dataclass(frozen=True)
class ClaimTimes:
    """95th percentiles, in milliseconds, and how long the seeding took."""

    small_ms: float
    large_ms: float


def measure_claims(version: Version, user: User) -> ClaimTimes:
    """The claim's own statement: on a table of 1,000 ready step runs, then beside 100,000 and a million finished."""
    link = Link(name="bench claims")
    try:
        connection = link.connection
        connection.execute("SET statement_timeout = 0")
        connection.execute("SET synchronous_commit = off")  # the statement is what grows, not the disk's answer to it
        spaces = [
            create_workspace(actor=SYSTEM, name=f"Scale {n}", slug=f"scale-{n}", owner=user).id
            for n in range(WORKSPACES)
        ]
        _seed(connection, version, spaces, steps=SMALL, status="ready")
        small = _claims(connection)
        _seed(connection, version, spaces, steps=READY, status="ready")
        _seed(connection, version, spaces, steps=FINISHED, status="succeeded")
        for table in ("runs_steprun", "runs_run"):
            connection.execute(f"VACUUM ANALYZE {table}")
        return ClaimTimes(small, _claims(connection))
    finally:
        link.close()


def _seed(connection: Any, version: Version, spaces: list[UUID], *, steps: int, status: str) -> None:
    for space in spaces:
        seed_steps(connection, version, workspace_id=space, steps=steps // len(spaces), status=status, queue=LANE)


def _claims(connection: Any) -> float:
    worker, kinds = new_id(), list(all_specs())
    fleet.register(connection, host.identify(worker), queues=[LANE], kinds=kinds, threads=1)
    took, after = [], FIRST
    for number in range(CLAIMS):
        if number % 100 == 0:
            fleet.heartbeat(connection, worker=worker, held=[])
        wanted = Claim(worker, new_id(), LANE, kinds, after)
        began = time.monotonic()
        held = claim(connection, wanted)
        took.append(1000 * (time.monotonic() - began))
        assert isinstance(held, Held), held
        after = held.workspace_id
    return quantile(took, 0.95)


def wide_and_broken() -> Graph:
    """A map whose every item is done, and a step after it that fails."""
    configs = {
        "each": {"items": "{{ run.input.items }}"}, "item": {"value": "{{ item }}"},
        "broken": {"message": "to be resumed"},
    }  # fmt: skip
    return draw("S > each:map[item] > broken:fail", plain="pass_through", configs=configs)


def measure_wide(bench: Bench, version: Version) -> tuple[float, float]:
    """Seconds of a run with 10,000 items, and of the answer to a resume of it."""
    with Ends() as ends:
        began = time.monotonic()
        run = bench.start(version.workflow_id, {"items": list(range(ITEMS))})
        took = ends.wait(run) - began
    assert bench.status(run) == "failed"
    return took, _resume(bench.client, run)


def mosaic() -> Graph:
    return shapes.graph_of(MOSAIC, kind="pass_through", config_of={"value": 1})


def measure_tasks(bench: Bench, version: Version) -> float:
    """Steps a second of that run: 2,122 nodes beside and behind each other, with joins of 630."""
    with Ends() as ends:
        began = time.monotonic()
        run = bench.start(version.workflow_id, {})
        took = ends.wait(run) - began
    assert bench.status(run) == "succeeded"
    return len(MOSAIC) / took


def _resume(client: PawlClient, run: str) -> float:
    began = time.monotonic()
    client.post(f"/runs/{run}/resume", {"command_id": str(new_id()), "generation": 1})
    return time.monotonic() - began


def measure_waiting(bench: Bench, version: Version) -> float:
    """Percent of one processor that 1,000 runs which wait for a person cost, over what the idle stack costs anyway."""
    idle = _spent_percent()
    with bench.database.transaction():
        for _ in range(WAITING):
            start_run(bench.database, Start(version.workflow_id, version.id, None, "bench"))
    query = """SELECT count(*) FROM runs_wait w JOIN runs_run r ON r.id = w.run_id
        WHERE w.status = 'open' AND r.version_id = %s"""
    bench.stack.until(
        "a thousand questions",
        lambda: bench.database.execute(query, (version.id,)).fetchone() == (WAITING,),
        every_s=0.5,
    )
    running = bench.database.execute("SELECT count(*) FROM runs_steprun WHERE status = 'running'").fetchone()
    assert running == (0,), "a run that waits for a person holds no worker"
    time.sleep(2)
    return max(0.0, _spent_percent() - idle)


def _spent_percent() -> float:
    before, began = sum(processes.cpu_s().values()), time.monotonic()
    time.sleep(WATCHED_S)
    return 100 * (sum(processes.cpu_s().values()) - before) / (time.monotonic() - began)


def question() -> Graph:
    return draw("S > P", configs={"P": {"title": "Go on?"}})
