"""The parts of docs/ that are made from the code: `manage.py write_docs` writes them, a contract test compares them."""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from runs.core.states import RUN_MOVES, STEP_MOVES, RunStatus, StepStatus
from steps import registry
from steps.base import ERROR_PORT, StepSpec

State = TypeVar("State", RunStatus, StepStatus)

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
MUTANTS = REPOSITORY / "tests" / "mutants"
TESTS = REPOSITORY / "tests"
_REPORT = re.compile(r"^[\w.-]+/[\w.-]+(#| PR )\d+")  # how the docstring of a test begins that plays a reported fault
_INVARIANT = re.compile(r"^CREATE OR REPLACE VIEW (runs_broken_i\d+) AS {2}-- (.+)$", re.MULTILINE)
_BLOCK = "<!-- made by `make docs`: {name} -->"
_END = "<!-- end of {name} -->"


class MissingBlock(Exception):
    """A page lacks the marks between which a part of it is written; the message names page and part."""


def pages() -> dict[Path, str]:
    """Every page that is made, or holds a part that is, with the text that it should have."""
    return {
        DOCS / "steps.md": step_reference(),
        DOCS / "guarantees.md": guarantees_page((DOCS / "guarantees.md").read_text()),
        DOCS / "testing.md": testing_page((DOCS / "testing.md").read_text()),
        DOCS / "reported-faults.md": reported_faults(),
    }


def guarantees_page(page: str) -> str:
    page = _with_block(page, "run-states", state_diagram(RUN_MOVES, first=RunStatus.RUNNING))
    return _with_block(page, "step-states", state_diagram(STEP_MOVES, first=StepStatus.PENDING))


def testing_page(page: str) -> str:
    page = _with_block(page, "guards", guards())
    return _with_block(page, "invariants", invariants())


def state_diagram(moves: Mapping[State, Iterable[State]], *, first: State) -> str:
    """Mermaid, one arrow for each move of the table; a state that nothing leaves is final."""
    arrows: list[str] = []
    for before, after in moves.items():
        arrows += [f"    {before} --> {each}" for each in sorted(after)] or [f"    {before} --> [*]"]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {first}", *arrows, "```"])


def guards() -> str:
    """What each mutant takes away, and the test that misses it: from the first lines of its patch."""
    rows = ["| guard | test that fails without it |", "|---|---|"]
    for patch in sorted(MUTANTS.glob("*.patch")):
        guard, test = (line.partition(": ")[2].strip() for line in patch.read_text().splitlines()[:2])
        rows.append(f"| {guard} | `{test.rpartition('/')[2]}` |")
    return "\n".join(rows)


def invariants() -> str:
    """What each view of runs/sql says in its first line."""
    files = [REPOSITORY / "runs" / "sql" / name for name in ("invariants.sql", "0011_family.sql")]
    told = [found for file in files for found in _INVARIANT.findall(file.read_text())]
    return "\n".join(["| view | what always holds |", "|---|---|", *(f"| `{view}` | {what} |" for view, what in told)])


_REPORTED = """# Faults that were reported of others

<!-- made by `make docs` from the docstrings of the tests that play them -->

Users of other engines and builders met these faults. Each is played here by a test of the same situation; the report is
named, and what happened there.

| report | what happened there | test that it comes out right here |
|---|---|---|"""


def reported_faults() -> str:
    rows = []
    for file in sorted({*TESTS.rglob("*_test.py"), *TESTS.rglob("test_*.py")}):
        functions = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef))
        for function in functions:
            told = " ".join((ast.get_docstring(function) or "").split())
            report, _, what = told.partition(": ")
            if _REPORT.match(report):
                rows.append(f"| {report} | {what} | `{file.name}::{function.name}` |")
    return "\n".join([_REPORTED, *sorted(rows)]) + "\n"


def _with_block(page: str, name: str, content: str) -> str:
    start, end = _BLOCK.format(name=name), _END.format(name=name)
    head, found_start, rest = page.partition(start)
    _, found_end, tail = rest.partition(end)
    if not (found_start and found_end):
        raise MissingBlock(f"The page has no block '{name}': put {start} and {end} where it belongs.")
    return f"{head}{start}\n{content}\n{end}{tail}"


# ------------------------------------------------------------------ the step library

_OPENING = """# Step reference

<!-- made by `make docs` from steps/*/spec.py and steps/*/README.md: change those -->

Every kind of the library. The app shows the same pages beside the canvas. What all kinds have in common (retries,
limit, what a failure does) is in [user-guide.md](user-guide.md#behaviour); how to write a kind is in
[steps/README.md](../steps/README.md).

*Delivery* says what may happen outside when an attempt ends without a result: *pure* (nothing), *keyed* (every attempt
carries the same idempotency key), *at most once* (a person decides before it runs again). *Limit* is the time that an
attempt may take where the step names none.
"""
_DELIVERY = {"pure": "pure", "keyed": "keyed", "at_most_once": "at most once"}


def step_reference() -> str:
    specs = [registry.get(kind) for kind in registry.BUILTIN]
    parts = [_OPENING, _overview(specs), *(_kind_page(spec) for spec in specs)]
    return "\n".join(parts)


def _overview(specs: Iterable[StepSpec]) -> str:
    rows = ["| kind | group | what it does | delivery | leaves by | limit |", "|---|---|---|---|---|---|"]
    for spec in specs:
        title = f"[{spec.title}](#{slug(spec.title)})<br>`{spec.kind}`"
        ports = ", ".join(f"`{port.name}`" for port in spec.ports({})) or "-"
        cells = [title, spec.group, spec.summary, _delivery(spec), ports, f"{spec.default_limit_s:g} s"]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join([*rows, "", f"With *on error = port*, a step that fails leaves by `{ERROR_PORT}`.", ""])


def _delivery(spec: StepSpec) -> str:
    return "by its settings" if spec.delivery_by else _DELIVERY[spec.delivery]


def _kind_page(spec: StepSpec) -> str:
    """The kind's own page, one level deeper, so that the whole has one outline."""
    heading, _, rest = _deeper(registry.readme(spec.kind).strip()).partition("\n")
    kinds = (
        f" Connections: {', '.join(f'`{kind}`' for kind in spec.connection_kinds)}." if spec.connection_kinds else ""
    )
    return f"{heading}\n\nKind `{spec.kind}`, group *{spec.group}*.{kinds}\n{rest}\n"


def _deeper(page: str) -> str:
    """Every heading one level down; a `#` inside a block of code is none."""
    parts = re.split(r"(^```.*?^```)", page, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if part.startswith("```") else re.sub(r"^(#+ )", r"#\1", part, flags=re.MULTILINE) for part in parts
    )


def slug(heading: str) -> str:
    """The anchor that a Markdown page gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")
