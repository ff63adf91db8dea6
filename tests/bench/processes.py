"""What dies and what idles: the recovery of a killed worker's step, and the memory of all processes."""

import os
import signal
import statistics
import time
from contextlib import suppress
from pathlib import Path

from builder.workflows.models import Version
from tests.bench.stack import Bench

KILLS = 3
WORKER_OF_STEP = """SELECT w.pid FROM runs_steprun s JOIN runs_worker w ON w.id = s.worker
    WHERE s.run_id = %s AND s.path = 's1' AND s.status = 'running' AND s.started_at < now() - interval '0.2 seconds'"""


def measure_recovery(bench: Bench, version: Version) -> float:
    """Seconds from `kill -9` of the worker process to the first line of the next attempt's body; the median kill."""
    took = []
    for _ in range(KILLS):
        run = bench.start(version.workflow_id, None)
        row = bench.stack.until(
            "the step to hang", lambda run=run: bench.database.execute(WORKER_OF_STEP, (run,)).fetchone()
        )
        killed = time.time()
        os.kill(row[0], signal.SIGKILL)
        bench.finish(run)
        took.append(float(bench.output(run, "s1") or 0) - killed)
    return statistics.median(took)


def memory_mb() -> tuple[float, float]:
    """(resident, proportional) megabytes of everything below the process that keeps the servers, the bench left out.

    Resident counts shared pages once for each process that maps them; proportional counts them once.
    """
    ours = _below(os.getppid()) - {os.getpid()}
    totals = {"Rss": 0, "Pss": 0}
    for pid in ours:
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name in totals:
                    totals[name] += int(rest.split()[0])
    return totals["Rss"] / 1024, totals["Pss"] / 1024


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found |= {int(child)} | _below(int(child))
    return found
