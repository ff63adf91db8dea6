"""What a warm round trip costs: a job in, its outcome out. `python -m tests.bench.runner_roundtrip [ROUNDS]`"""

import os
import resource
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from runs.runner.messages import Job, Succeeded
from runs.runner.spawner import Spawner
from runs.runner.warm import Child

JOB = Job(
    run_id="01900000-0000-7000-8000-000000000000",
    step_run_id=1,
    path="step",
    attempt=1,
    fence=1,
    kind="pass_through",
    config={"value": {"number": 7, "text": "seven"}},
    scope={"run": {"id": "r", "number": 1, "input": {"number": 7}}, "steps": {"before": {"output": {"number": 7}}}},
    idempotency_key="key",
    limit_s=60.0,
    storage_root="/nowhere",
)
CONFIGS: dict[str, dict[str, Any]] = {
    "plain": {"value": {"number": 7, "text": "seven"}},
    "expression": {"value": "{{ steps.before.output }}"},
}


def measure(child: Child, job: Job, rounds: int) -> tuple[float, float, float, float]:
    """Microseconds: median and 95th percentile of the wall clock, and this process's own time a round."""
    for _ in range(200):
        outcome = _run(child, job)
    assert isinstance(outcome, Succeeded), outcome
    walls = []
    own, theirs = time.process_time(), _cpu_of(child.pids[0])
    for fence in range(rounds):
        moved = replace(job, fence=fence)
        began = time.perf_counter()
        _run(child, moved)
        walls.append((time.perf_counter() - began) * 1e6)
    own, theirs = time.process_time() - own, _cpu_of(child.pids[0]) - theirs
    return statistics.median(walls), statistics.quantiles(walls, n=20)[-1], own / rounds * 1e6, theirs / rounds * 1e6


def _run(child: Child, job: Job) -> Any:
    return child.run(
        job,
        on_checkpoint=lambda kind, key, value: None,
        on_log=lambda text: None,
        on_progress=lambda done, total, text: None,
        on_cursor=lambda name, position: None,
        should_stop=lambda: False,
    )


def _cpu_of(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    spawner = Spawner()
    child = Child(spawner)
    began = time.perf_counter()
    child.warm()
    first = time.perf_counter()
    second = Child(spawner)
    second.warm()
    print(f"first child {1000 * (first - began):.0f} ms, the next {1000 * (time.perf_counter() - first):.1f} ms")
    for name, config in CONFIGS.items():
        p50, p95, own, theirs = measure(child, replace(JOB, config=config), rounds)
        print(f"{name}: p50 {p50:.0f} us, p95 {p95:.0f} us, CPU worker {own:.0f} us, child {theirs:.0f} us")
    child.close()
    second.close()
    spawner.close()
    print(f"rss {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, pid {os.getpid()}")


if __name__ == "__main__":
    main()
