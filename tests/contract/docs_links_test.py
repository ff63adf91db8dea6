"""What the pages point to is there: files, headings, recipes, commands, tests, addresses of the API."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

import pytest
import yaml

from config.docs import slug
from runs.core.states import RunStatus, StepStatus
from tests.contract import sources
from tests.contract.sources import ROOMS, all_files, text

PAGES = [name for name in all_files() if name.endswith(".md") and not name.startswith("frontend/")]
TARGET = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
CODE_SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HOUSE_PATH = re.compile(
    rf"(?:{'|'.join((*ROOMS, 'docs', 'docker', 'frontend', 'requirements', 'templates', 'tests'))})/[\w./-]+"
)
NAMED_TEST = re.compile(r"`(\w+\.py)::(\w+)`")
RECIPE = re.compile(r"`make ([a-z-]+)|^ {4,}make ([a-z-]+)", re.MULTILINE)
COMMAND = re.compile(r"(?:manage\.py|CMD=\")\s?([a-z_]+)")
DJANGO_COMMANDS = {"shell", "migrate", "makemigrations", "createsuperuser", "collectstatic", "spectacular"}


def _prose(name: str) -> str:
    return FENCE.sub("", text(name))


@cache
def _anchors(name: str) -> frozenset[str]:
    headings = re.findall(r"^#+ (.+)$", _prose(name), re.MULTILINE)
    return frozenset(slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)) for heading in headings)


def _resolved(page: str, target: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(page).parent / target).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _broken_links(page: str) -> Iterator[str]:
    for target in (markdown or html for markdown, html in TARGET.findall(_prose(page))):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        place = _resolved(page, file) if file else page
        if not (sources.REPOSITORY / place).exists():
            yield f"{target}: there is no {place}"
        elif anchor and anchor not in _anchors(place):
            yield f"{target}: {place} has no such heading"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    assert list(_broken_links(page)) == []


def _is_there(path: str) -> bool:
    """A file or folder, or a pattern's beginning as in `tests/crash/runner_*`."""
    place = path.rstrip("./")
    return (sources.REPOSITORY / place).exists() or any(name.startswith(place) for name in all_files())


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_named_is_there(page: str) -> None:
    spans = [span for span in CODE_SPAN.findall(_prose(page)) if HOUSE_PATH.fullmatch(span.rstrip("*"))]
    made = ("frontend/dist",)
    assert [span for span in spans if not _is_there(span.rstrip("*")) and not span.startswith(made)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_is_named_is_there(page: str) -> None:
    assert [f"{file}::{name}" for file, name in NAMED_TEST.findall(text(page)) if not _has_test(file, name)] == []


def _has_test(file: str, name: str) -> bool:
    found = [each for each in all_files() if each.startswith("tests/") and each.endswith(f"/{file}")]
    return any(f"def {name}(" in text(each) for each in found)


@pytest.mark.parametrize("page", PAGES)
def test_every_recipe_and_command_that_is_named_is_there(page: str) -> None:
    recipes = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    named = {first or second for first, second in RECIPE.findall(text(page))}
    commands = {PurePosixPath(name).stem for name in all_files() if "/management/commands/" in name}
    called = set(COMMAND.findall(text(page)))
    assert named - recipes == set()
    assert called - commands - DJANGO_COMMANDS == set()


CELL_BORDER = re.compile(r"(?<!\\)\|")  # one in a code span divides cells as well, unless it is written \\|


def _tables(page: str) -> Iterator[list[str]]:
    rows: list[str] = []
    for line in [*_prose(page).splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            yield rows
            rows = []


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(page: str) -> None:
    torn = [row for rows in _tables(page) for row in rows if _cells(row) != _cells(rows[0])]
    assert torn == []


def _cells(row: str) -> int:
    return len(CELL_BORDER.findall(row))


# ------------------------------------------------------------------ the API
METHODS = ("get", "post", "put", "patch", "delete")
API_ROW = re.compile(
    r"^\| ((?:GET|POST|PUT|PATCH|DELETE)(?:, (?:GET|POST|PUT|PATCH|DELETE))*) `(/[^`?]*)", re.MULTILINE
)


def _nameless(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api"))


@cache
def _operations() -> frozenset[tuple[str, str]]:
    paths = yaml.safe_load(text("openapi.yaml"))["paths"]
    return frozenset(
        (method, _nameless(path)) for path, entry in paths.items() for method in METHODS if method in entry
    )


def test_the_architecture_lists_the_api_as_it_is() -> None:
    rows = API_ROW.findall(text("docs/architecture.md"))
    listed = {(method.lower(), _nameless(path)) for methods, path in rows for method in methods.split(", ")}
    assert listed == _operations()


def test_the_guide_to_the_api_calls_addresses_that_exist() -> None:
    page = text("docs/api.md")
    called = {_nameless(path) for path in re.findall(r"api \"?(/[^\s\"?]+)", page)}
    called |= {_nameless(path) for path in re.findall(r"`(?:GET|POST|PUT) (/api/[^`]+)`", page)}
    known = {path for _, path in _operations()}
    assert len(called) > 10
    assert {path for path in called if not any(_fits(path, pattern) for pattern in known)} == set()


def _fits(path: str, pattern: str) -> bool:
    """`/workspaces/acme/runs/$RUN` is `/workspaces/{}/runs/{}`."""
    return re.fullmatch(re.escape(pattern).replace(r"\{\}", "[^/]+"), path) is not None


def test_the_architecture_tells_an_event_for_every_status() -> None:
    rows = re.findall(r"^\| (`(?:run|step)\..+?) \| ", text("docs/architecture.md"), re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`([a-z_.]+)`", row)}
    not_yet = {"run.paused"}  # a state that no command leads to so far
    assert told | not_yet == {f"step.{status}" for status in StepStatus} | {f"run.{status}" for status in RunStatus}


# ------------------------------------------------------------------ decisions
DECISIONS = [name for name in all_files() if name.startswith("docs/decisions/")]
PARTS = ("Status", "Context", "Decision", "Consequences")


def test_decisions_are_numbered_without_a_gap_and_named_by_their_titles() -> None:
    for number, name in enumerate(DECISIONS, start=1):
        title = text(name).partition("\n")[0]
        assert title.startswith(f"# {number}. "), f"{name}: its title should begin with '# {number}. '"
        stem = PurePosixPath(name).stem
        assert stem.startswith(f"{number:04}-"), f"{name}: the next number is {number:04}"


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_has_its_parts(name: str) -> None:
    missing = [part for part in PARTS if not re.search(rf"^(## |\*\*)?{part}\b", text(name), re.MULTILINE)]
    assert missing == []
