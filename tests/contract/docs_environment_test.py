"""docs/operating.md names every variable that the code or the image reads, with the default that it really has."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.contract.sources import all_files, called, calls, python_files, text, tree

PAGE = "docs/operating.md"
NAME = re.compile(r"(?:PAWL_[A-Z_]+|DATABASE_URL|REDIS_URL|BROKER_URL)")
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| ", re.MULTILINE)
# Between our own processes; whoever runs Pawl never sets them.
INTERNAL = {"PAWL_HOUSE": "marks the processes of one house", "PAWL_LAUNCH_LOG": "the crash demo's own count"}


def _documented() -> dict[str, str]:
    return {name: default.strip("`") for name, default in ROW.findall(text(PAGE))}


def _read_by_code() -> set[str]:
    """Every text constant that is a variable's name, whoever reads it."""
    nodes = (node for name in python_files(tests=False) for node in ast.walk(tree(name)))
    return {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value)
    }


def _read_by_the_image() -> set[str]:
    files = [name for name in all_files() if name.startswith("docker/")]
    return {found for name in files for found in NAME.findall(text(name))}


def test_every_variable_is_explained_and_none_that_is_gone() -> None:
    assert _read_by_code() | _read_by_the_image() == set(_documented()) | set(INTERNAL)


def _defaults() -> Iterator[tuple[str, object]]:
    """(name, default) of each call of a typed reader in the settings whose default is a plain value."""
    for call in calls("config/settings.py"):
        name = call.args[0] if call.args else None
        if called(call) not in ("text", "flag", "number", "words") or not isinstance(name, ast.Constant):
            continue
        named = [keyword.value for keyword in call.keywords if keyword.arg == "default"]
        for default in [*call.args[1:2], *named]:
            yield str(name.value), eval(compile(ast.Expression(default), "settings", "eval"), {})


@pytest.mark.parametrize(("name", "default"), list(_defaults()))
def test_a_default_is_the_one_of_the_settings(name: str, default: object) -> None:
    written = "empty" if default == "" else str(default).lower() if isinstance(default, bool) else str(default)
    assert _documented()[name].replace(",", "") == written.replace(",", "")


def test_what_has_no_default_is_told_to_be_required() -> None:
    required = {
        str(call.args[0].value)
        for call in calls("config/settings.py")
        if called(call) in ("text", "database") and len(call.args) == 1 and isinstance(call.args[0], ast.Constant)
    }
    assert {name for name, default in _documented().items() if default == "required"} == required
