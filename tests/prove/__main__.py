"""python -m tests.prove [--jobs N] [part ...]: everything that takes long, part by part (`make prove`).

Writes the command, the end of the output and the verdict of each part to docs/proof/<part>.md. Exits with 0 where all
parts that were asked for held. `--jobs` runs so many parts at once, the longest first: each has servers of its own.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from config.services.house import REPOSITORY

PAGES = REPOSITORY / "docs" / "proof"
PYTEST = ("-m", "pytest", "-q", "-p", "no:xdist", "-o", "timeout=7200")  # a test with 2,000 examples takes minutes
CHAOS_S = "600"
LONGEST = ("model", "mutants")
FEWER = "PAWL_MODEL_EXAMPLES"  # examples of the model, where there is no time for 20,000 (about five hours)


@dataclass(frozen=True)
class Part:
    name: str
    shows: str  # one sentence
    command: tuple[str, ...]  # for this very Python
    shown_lines: int = 40

    @property
    def told(self) -> str:
        """As a reader types it."""
        fewer = [f"{FEWER}={os.environ[FEWER]}"] if FEWER in os.environ and self.name == "model" else []
        return " ".join(("PAWL_PROVE=1", *fewer, ".venv/bin/python", *self.command))


PARTS = [
    Part(
        "properties",
        "The pure rules, expressions, graphs and masks against thousands of random examples and a reference.",
        (*PYTEST, "tests/unit", "tests/property"),
    ),
    Part(
        "interleavings",
        "Each act of the engine dies at each of its points, and pauses at each while each other one is done.",
        (*PYTEST, "tests/interleavings"),
    ),
    Part(
        "faulty_database",
        "Statements that fail before they were executed, or after it, under real workers.",
        (*PYTEST, "tests/crash/faulty_database_test.py"),
    ),
    Part(
        "failpoints",
        "kill -9 of real processes at each named point.",
        (*PYTEST, "tests/crash/runs_failpoints_test.py"),
    ),
    Part("mutants", "Each guard is taken away, and its test fails.", ("tests/mutants/run.py",), shown_lines=200),
    Part(
        "chaos",
        "Ten minutes of mixed faults on real processes, and a verdict counted from outside.",
        ("-m", "tests.chaos", "--duration", CHAOS_S),
    ),
    Part(
        "model",
        "Random commands against a real database, in whatever order, and twice.",
        (*PYTEST, "tests/integration/runs_store_model_test.py"),
    ),
]


def prove(part: Part) -> bool:
    print(f"==> {part.name}: {part.told}", file=sys.stderr, flush=True)
    began = time.monotonic()
    environment = {**os.environ, "PAWL_PROVE": "1"}
    done = subprocess.run(
        [sys.executable, *part.command],
        cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    took_s = time.monotonic() - began
    write(part, done, took_s=took_s)
    print(f"==> {part.name}: exit code {done.returncode} after {took_s:.0f} s", file=sys.stderr, flush=True)
    return done.returncode == 0


def write(part: Part, done: "subprocess.CompletedProcess[str]", *, took_s: float) -> None:
    verdict = "It held." if done.returncode == 0 else f"**It did not hold** (exit code {done.returncode})."
    when = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")
    page = (
        f"# {part.name.replace('_', ' ').capitalize()}\n\n"
        f"<!-- made by `make prove`: run it again instead of changing this page -->\n\n"
        f"{part.shows} {verdict}\n\n"
        f"    {part.told}\n\n"
        f"{when}; {os.cpu_count()} processors; {took_s:.0f} s; commit {_commit()}. The end of what it said:\n\n"
        f"```text\n{_shown(done.stdout, part.shown_lines)}\n```\n"
    )
    PAGES.mkdir(exist_ok=True)
    (PAGES / f"{part.name}.md").write_text(page)


def _shown(output: str, count: int) -> str:
    """The last lines, without what is of this machine alone."""
    text = output.replace(str(REPOSITORY), ".").replace(str(Path.home()), "~")
    text = re.sub(r"/tmp/[\w./-]+", "/tmp/...", text)
    lines = [line.rstrip()[:1000] for line in text.strip().splitlines()]
    return "\n".join(lines[-count:])


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(part.name for part in PARTS))
    parser.add_argument("--jobs", type=int, default=1, help="so many parts at once (1)")
    asked = parser.parse_args(arguments)
    wanted = asked.parts
    if unknown := sorted(set(wanted) - {part.name for part in PARTS}):
        parser.error(f"there is no part {unknown[0]!r}")
    parts = [part for part in PARTS if not wanted or part.name in wanted]
    parts.sort(key=lambda part: part.name not in LONGEST)
    with ThreadPoolExecutor(max(asked.jobs, 1)) as pool:
        held = list(pool.map(prove, parts))
    print(f"{sum(held)} of {len(held)} parts held; docs/proof tells of each", flush=True)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
