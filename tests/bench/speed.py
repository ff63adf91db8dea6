"""How long runs take: chains, many at once, a fan-out, and the way to the first body."""

import json
import statistics
import time
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from builder.workflows.models import Version
from runs.dispatch import wake
from runs.engine.start import Start, start_run
from runs.models import Run
from runs.services import raw_connection
from tests.bench.stack import Bench, BenchProblem, Ends
from tests.bench.workflows import INPUT, ITEMS, STEPS

CHAINS = 60
AT_ONCE = 200
FAN_OUTS = 15
FIRSTS = 40

# From the start of one step to the start of the next: the whole turn, its commit included.
TURNS = """SELECT extract(epoch FROM lead(started_at) OVER w - started_at) * 1000 FROM runs_steprun
    WHERE run_id = ANY(%s::uuid[]) AND started_at IS NOT NULL WINDOW w AS (PARTITION BY run_id ORDER BY id)"""


def quantile(values: list[float], part: float) -> float:
    """The value below which that part of them lies; for few values, one that was measured."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


ENDED = """SELECT extract(epoch FROM max(finished_at)), count(*) FILTER (WHERE status = 'succeeded') FROM runs_run
    WHERE id = ANY(%s)"""


@dataclass(frozen=True)
class Chains:
    p50: float
    p95: float
    step_p50: float


def measure_chains(bench: Bench, version: Version) -> Chains:
    """One run after the other: from the API's answer to the moment at which the last commit can be seen."""
    took, runs = [], []
    with Ends() as ends:
        for _ in range(CHAINS):
            run = bench.start(version.workflow_id, INPUT)
            answered = time.monotonic()
            took.append(1000 * (ends.wait(run) - answered))
            runs.append(run)
            bench.stack.look()
    turns = [float(turn) for (turn,) in bench.database.execute(TURNS, (runs,)) if turn is not None]
    return Chains(statistics.median(took), quantile(took, 0.95), statistics.median(turns))


def measure_many(bench: Bench, version: Version) -> float:
    """Steps a second of 200 chains that become ready in one commit, until the last of them has ended."""
    wanted = Start(version.workflow_id, version.id, INPUT, actor="bench")
    with transaction.atomic():
        connection = raw_connection()
        runs = [start_run(connection, wanted).run_id for _ in range(AT_ONCE)]
    began = _database_time(bench)
    wake("default", steps=AT_ONCE)
    left = Run.objects.filter(id__in=runs, finished_at=None)
    bench.stack.until("200 runs to end", lambda: not left.exists(), every_s=0.1)
    row = bench.database.execute(ENDED, (runs,)).fetchone()
    assert row is not None
    if row[1] != AT_ONCE:
        raise BenchProblem(f"Only {row[1]} of {AT_ONCE} runs succeeded.")
    return AT_ONCE * STEPS / (float(row[0]) - began)


def measure_fan_out(bench: Bench, version: Version) -> float:
    """Median of a map of 100 and the step that takes its whole output: from the API's answer to the last commit."""
    took = []
    with Ends() as ends:
        for _ in range(FAN_OUTS):
            run = bench.start(version.workflow_id, {"items": list(range(ITEMS))})
            answered = time.monotonic()
            took.append(1000 * (ends.wait(run) - answered))
            assert json.loads(bench.output(run, "join") or "[]") == list(range(ITEMS))
    return statistics.median(took)


def measure_first(bench: Bench, version: Version) -> float:
    """From the request, as it leaves the client, to the first line of the first body; both by this machine's clock."""
    took = []
    for _ in range(FIRSTS):
        asked = time.time()
        run = bench.start(version.workflow_id, None)
        bench.finish(run)
        took.append(1000 * (float(bench.output(run, "s1") or 0) - asked))
    return quantile(took, 0.95)


def _database_time(bench: Bench) -> float:
    row: tuple[Any, ...] | None = bench.database.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()
    assert row is not None
    return float(row[0])
