"""The table that people read, the JSON line that programs read, and the block of docs/benchmarks.md."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- bench:begin -->\n).*?(<!-- bench:end -->)", re.DOTALL)

# name -> (decimals, goal, what it is); in the order of the report. A goal is what engine.md or frontend.md promises.
FIGURES: dict[str, tuple[int, str, str]] = {
    "floor_commit_ms": (2, "", "floor: a bare transaction of the bytes that a step writes"),
    "floor_queue_ms": (3, "", "floor: a bare Redis round trip"),
    "chain12_ms_p50": (1, "<= 23", "run of 12 steps, from the API's answer to the last commit"),
    "chain12_ms_p95": (1, "", "the same, 95th percentile"),
    "step_ms_p50": (2, "", "one turn of such a chain, from start to start"),
    "steps_per_s": (0, ">= 1200", "200 such runs at once, 2 worker processes of 4 threads"),
    "fanout100_ms": (1, "<= 110", "map of 100 and the step that takes its output"),
    "first_step_ms_p95": (1, "<= 30", "from the request to the first line of the first body"),
    "round_trips_per_step": (2, "<= 1.3", "of a chain, counted on the wire, the first claim included"),
    "commits_per_step": (2, "1 and the claim", "of a chain, counted on the wire: 13 for 12 steps"),
    "recovery_s": (2, "<= 2", "from kill -9 of the worker to the next attempt"),
    "live_ms_p95": (0, "<= 500", "from the event's time in the database to the browser's socket"),
    "rss_mb_idle": (0, "", "all processes, servers included, shared pages counted in each"),
    "shell_kb_gzip": (1, "<= 250", "first load of the front end"),
    "canvas_kb_gzip": (1, "", "what the canvas loads more"),
    "frame_ms_500": (1, "<= 20", "mean frame while 500 nodes are panned in Chromium"),
    "map10000_s": (1, "", "one run with a map of 10,000 items, from the request to the last commit"),
    "tasks2122_per_s": (0, ">= 200", "steps a second of one run with 2,122 nodes, in the shape of a real one"),
    "resume10000_s": (2, "<= 1", "the answer to a resume of that run, whose last step had failed"),
    "waiting1000_cpu_percent": (2, "< 1", "of one processor, that 1,000 runs which wait for an approval cost"),
    "claim_ms_p95_small": (2, "", "the claim's statement on 1,000 ready step runs of 10 workspaces"),
    "claim_ms_p95_large": (2, "", "the same beside 100,000 ready and a million finished ones"),
    "claim_ms_p95_over": (2, "<= 5", "what that is more"),
}

PROCESSOR = "cpu_us_"  # of these, one for each kind of process; in the table alone
FOREIGN = "foreign_processors"
SHARED_ONCE = "pss_mb_idle"
Figures = Mapping[str, float | None]


def table(found: Figures) -> str:
    rows = [("figure", "measured", "goal", "floors", "what it is")]
    for name, (decimals, goal, what) in FIGURES.items():
        value = found.get(name)
        shown = "not measured" if value is None else f"{value:.{decimals}f}"
        rows.append((name, shown, goal, _in_floors(name, found), what))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    notes = _processor_time(found)
    if once := found.get(SHARED_ONCE):
        notes.append(f"idle memory with shared pages counted once: {once:.0f} MB")
    return "\n".join([*lines, "", *notes]) if notes else "\n".join(lines)


def _processor_time(found: Figures) -> list[str]:
    """What bounds the steps a second: the processor time of one step, by process."""
    spent = {
        name.removeprefix(PROCESSOR): value for name, value in found.items() if name.startswith(PROCESSOR) and value
    }
    parts = [f"{kind} {value:.0f}" for kind, value in sorted(spent.items(), key=lambda one: -one[1]) if value >= 1]
    if not spent:
        return []
    return [
        f"processor time of a step, us: {sum(spent.values()):.0f} = {' + '.join(parts)}",
        f"processors taken by other programs meanwhile: {found.get(FOREIGN) or 0:.1f} of {os.cpu_count()}",
    ]


def _in_floors(name: str, found: Figures) -> str:
    """How many bare commits a figure amounts to: that compares machines, and busy hours of one machine."""
    value, floor = found.get(name), found.get("floor_commit_ms")
    if not value or not floor:
        return ""
    if name in ("chain12_ms_p50", "chain12_ms_p95", "step_ms_p50", "fanout100_ms", "first_step_ms_p95"):
        return f"{value / floor:.1f}"
    return ""


def line(found: Figures) -> str:
    rounded = {}
    for name, (decimals, _, _) in FIGURES.items():
        value = found.get(name)
        rounded[name] = None if value is None else round(value, max(decimals, 2))
    return json.dumps(rounded)


def write_docs(found: Figures) -> None:
    """Replaces what stands between the two marks, and nothing else."""
    block = f"```\n{table(found)}\n\n{line(found)}\n```\n"
    DOCS.write_text(
        BLOCK.sub(lambda match: match[1] + block + match[2], DOCS.read_text(encoding="utf-8")), encoding="utf-8"
    )
