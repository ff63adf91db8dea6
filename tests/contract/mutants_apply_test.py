"""A guard that moved takes its mutant along: a patch that no longer applies tests nothing, nor one without a test."""

import ast
import subprocess
from pathlib import Path

import pytest

from tests.mutants.run import HEADER

REPOSITORY = Path(__file__).resolve().parents[2]
PATCHES = sorted((REPOSITORY / "tests" / "mutants").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_the_mutant_applies(patch: Path) -> None:
    command = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_the_mutant_names_one_test_that_is_there(patch: Path) -> None:
    """Of a test with parameters it names one case, as pytest shows it: `test_name[case]`."""
    header = HEADER.match(patch.read_text())
    assert header is not None, "two lines come first: 'Guard: …' and 'Killed by: file::test'"
    file, _, name = header["test"].partition("::")
    name, _, case = name.partition("[")
    tree = ast.parse((REPOSITORY / file).read_text())
    found = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == name]
    assert found, f"{file} has no {name}"
    has_cases = any("parametrize" in ast.unparse(decorator) for decorator in found[0].decorator_list)
    assert has_cases == bool(case), f"name one case of {name}" if has_cases else f"{name} has no cases"
