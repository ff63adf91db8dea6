"""What dies and what idles: the recovery of a killed worker's step, and the memory of all processes."""

import os
import signal
import statistics
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from builder.workflows.models import Version
from tests.bench.stack import Bench

KILLS = 3
TICKS = os.sysconf("SC_CLK_TCK")
KINDS = {
    "runs.runner": "children", "dramatiq": "workers", "daphne": "web", "sweeper": "sweeper", "postgres": "PostgreSQL",
    "valkey": "Redis",
}  # fmt: skip
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


def cpu_s() -> Counter[str]:
    """Seconds of processor time so far, by what the processes are: what a busy machine cannot change much."""
    spent: Counter[str] = Counter()
    for pid in _below(os.getppid()) - {os.getpid()}:
        with suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            spent[_kind(pid)] += (int(stat[11]) + int(stat[12])) / TICKS
    return spent


def busy_s() -> float:
    """Seconds of processor time so far that this machine spent on anything, other guests of its host included."""
    user, nice, system, _, _, interrupts, soft, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + interrupts + soft + stolen) / TICKS


def _kind(pid: int) -> str:
    """A launcher's forks are the children that run bodies; all of them carry its command line."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return next((kind for word, kind in KINDS.items() if word in command), "other")


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found |= {int(child)} | _below(int(child))
    return found
