"""The runner of the mutants is content with nothing but a guard's own test that fails by its own assertion."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

RUN = Path(__file__).with_name("run.py")
GUARDED = "def may_pass(number: int) -> bool:\n    return number > 3\n"
TESTS = """from guarded import may_pass

def test_small_numbers_do_not_pass():
    assert not may_pass(2)

def test_that_misses_nothing():
    assert may_pass(9)

def test_that_stumbles():
    if may_pass(2):
        raise ValueError("not by an assertion")
"""
PATCH = """Guard: Small numbers do not pass.
Killed by: {test}

--- a/guarded.py
+++ b/guarded.py
@@ -1,2 +1,2 @@
 def may_pass(number: int) -> bool:
-    return {guard}
+    return True
"""
NUMBER = "number > 3"


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants_run", RUN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("test", "guard", "is_killed", "told"),
    [
        ("test_small_numbers_do_not_pass", NUMBER, True, "killed: "),
        ("test_that_misses_nothing", NUMBER, False, "SURVIVED: "),
        ("test_that_stumbles", NUMBER, False, "its test failed by something else than its assertion: ValueError"),
        ("test_that_is_not_there", NUMBER, False, "its test did not run: "),
        ("test_small_numbers_do_not_pass", "number > 4", False, "the patch does not apply"),
    ],
)
def test_each_way_in_which_a_mutant_can_end_is_told_apart(
    run: ModuleType, tmp_path: Path, test: str, guard: str, is_killed: bool, told: str
) -> None:
    (tmp_path / "guarded.py").write_text(GUARDED)
    (tmp_path / "guarded_test.py").write_text(TESTS)
    patch = tmp_path / "small.patch"
    patch.write_text(PATCH.format(test=f"guarded_test.py::{test}", guard=guard))
    verdict = run.judge(run.read(patch), tmp_path)
    assert (verdict.is_killed, verdict.told[: len(told)]) == (is_killed, told)
    assert (tmp_path / "guarded.py").read_text() == GUARDED, "the guard is back in its place"


def test_tests_that_fail_as_things_stand_prove_nothing(run: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "guarded.py").write_text(GUARDED.replace(NUMBER, "True"))
    (tmp_path / "guarded_test.py").write_text(TESTS)
    patch = tmp_path / "small.patch"
    patch.write_text(PATCH.format(test="guarded_test.py::test_small_numbers_do_not_pass", guard=NUMBER))
    assert not run.are_sound([run.read(patch)], tmp_path)


def test_a_patch_without_its_guards_name_is_refused(run: ModuleType, tmp_path: Path) -> None:
    patch = tmp_path / "small.patch"
    patch.write_text("--- a/guarded.py\n")
    with pytest.raises(SystemExit):
        run.read(patch)
