"""Takes away one guard at a time, and wants the test that is there for it to fail.

    python tests/mutants/run.py [--trust] [--jobs N] [name ...]

Each *.patch names its guard and the test that kills it; the patches are applied to a copy of the tree. `--trust` leaves
out the run that shows that the tests pass as long as nothing is taken away. `--jobs`: so many at once, each in a tree
and on servers of its own. A mutant survives when its test passes, and also when the test ends in any other way than by
an assertion of its own.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
HEADER = re.compile(r"Guard: (?P<guard>.+)\nKilled by: (?P<test>\S+)\n")
OURS = ("PYTEST_", "COV_", "PAWL_", "DJANGO_", "DATABASE_URL", "REDIS_URL")  # of the tests that may have started this
BY_ASSERTION = ("AssertionError", "assert ", "Failed: DID NOT RAISE")
LIMIT_S = 300


@dataclass(frozen=True)
class Mutant:
    patch: Path
    guard: str
    test: str

    @property
    def name(self) -> str:
        return self.patch.stem


@dataclass(frozen=True)
class Verdict:
    is_killed: bool
    told: str


def read(patch: Path) -> Mutant:
    header = HEADER.match(patch.read_text())
    if header is None:
        raise SystemExit(f"{patch.name} does not begin with 'Guard: …' and 'Killed by: …'.")
    return Mutant(patch, header["guard"], header["test"])


def copy_tree(to: Path) -> None:
    """What git knows of, as it stands in the work tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", ":!frontend"], cwd=REPOSITORY, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)


def apply(patch: Path, tree: Path, *, undo: bool = False) -> bool:
    options = ["--reverse"] if undo else []
    return subprocess.run(["git", "apply", "-C0", *options, str(patch)], cwd=tree, check=False).returncode == 0


def pytest(tree: Path, tests: Sequence[str]) -> dict[str, str | None]:
    """By test: None where it passed, else how its failure begins. Empty where the tests could not even be collected."""
    report = tree / "report.xml"
    report.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        [*command, *tests], cwd=tree, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if not report.exists():
        print(done.stdout[-3000:], done.stderr[-3000:])
        return {}
    found = {}
    for case in ET.parse(report).iter("testcase"):
        failure = case.find("failure")
        trouble = failure if failure is not None else case.find("error")
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        if found.get(name) is None:  # a test whose clearing up failed as well is told of twice
            found[name] = None if trouble is None else trouble.get("message", "?").strip().splitlines()[0]
    return found


def judge(mutant: Mutant, tree: Path) -> Verdict:
    if not apply(mutant.patch, tree):
        return Verdict(is_killed=False, told="the patch does not apply: make it anew")
    try:
        found = pytest(tree, [mutant.test])
    finally:
        apply(mutant.patch, tree, undo=True)
    if mutant.test not in found:
        return Verdict(is_killed=False, told=f"its test did not run: {mutant.test}")
    message = found[mutant.test]
    if message is None:
        return Verdict(is_killed=False, told=f"SURVIVED: {mutant.test} passes without this guard")
    if not message.startswith(BY_ASSERTION):
        return Verdict(is_killed=False, told=f"its test failed by something else than its assertion: {message}")
    return Verdict(is_killed=True, told=f"killed: {message[:90]}")


def are_sound(mutants: Sequence[Mutant], tree: Path) -> bool:
    tests = sorted({mutant.test for mutant in mutants})
    found = pytest(tree, tests)
    wrong = [test for test in tests if found.get(test, "it did not run") is not None]
    for test in wrong:
        print(f"{test} does not pass as things stand: {found.get(test, 'it did not run')}")
    return not wrong


def judge_all(mutants: Sequence[Mutant], trees: Sequence[Path]) -> Iterator[tuple[Mutant, Verdict]]:
    """One after the other in each tree; told in their order."""
    mine, free = threading.local(), list(trees)

    def judged(mutant: Mutant) -> Verdict:
        if not hasattr(mine, "tree"):
            mine.tree = free.pop()
        return judge(mutant, mine.tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        yield from zip(mutants, pool.map(judged, mutants), strict=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args()
    mutants = [read(patch) for patch in sorted(HERE.glob("*.patch")) if not wanted.names or patch.stem in wanted.names]
    missing = set(wanted.names) - {mutant.name for mutant in mutants}
    if missing or not mutants:
        raise SystemExit(f"There is no such mutant: {sorted(missing)}")
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="pawl-mutants-") as folder:
        Path(folder).chmod(0o711)  # PostgreSQL runs as another account where we are root
        trees = [Path(folder) / str(number) for number in range(max(wanted.jobs, 1))]
        for tree in trees:
            tree.mkdir(mode=0o711)
            copy_tree(tree)
        if not wanted.trust and not are_sound(mutants, trees[0]):
            return 1
        for mutant, verdict in judge_all(mutants, trees):
            survivors += not verdict.is_killed
            print(f"{'ok ' if verdict.is_killed else 'BAD'} {mutant.name:24} {verdict.told}", flush=True)
    print(f"{len(mutants) - survivors} of {len(mutants)} mutants were killed.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
