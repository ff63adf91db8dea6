"""What the import contracts (pyproject.toml) cannot see."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import sources
from tests.contract.exceptions import check

PURE = ("kit", "builder.graph", "builder.expressions", "builder.validation", "runs.core", "steps")
IMPURE = ("django", "rest_framework", "channels", "dramatiq", "redis", "psycopg")
FORBIDDEN_NAMES = ("utils", "util", "helpers", "helper", "manager", "managers", "misc", "common")
SIGNALS = ("django.db.models.signals", "django.dispatch")


@pytest.mark.parametrize("package", PURE)
def test_a_pure_package_loads_no_framework_in_a_fresh_interpreter(package: str) -> None:
    script = (
        "import importlib, pkgutil, sys\n"
        f"package = importlib.import_module({package!r})\n"
        "for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    last = found.name.rpartition('.')[2]\n"
        "    if 'tests' not in found.name and not last.startswith('test_') and _wanted(found.name):\n"
        "        importlib.import_module(found.name)\n"
        f"print([name for name in {IMPURE!r} if name in sys.modules])\n"
    )
    # The bodies of the step library are loaded by name in the child alone.
    wanted = "_wanted = lambda name: not name.startswith('steps.') or name.endswith('.spec')\n"
    done = subprocess.run(
        [sys.executable, "-c", wanted + script],
        cwd=sources.REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_importing_the_step_library_loads_no_body() -> None:
    script = (
        "import sys\nfrom steps import registry\n"
        "for kind in registry.BUILTIN: registry.get(kind)\n"
        "print([name for name in sys.modules if name.startswith('steps.') and name.endswith('.run')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=sources.REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_the_environment_is_read_in_one_place() -> None:
    found = {}
    for name in sources.python_files(tests=False):
        if name in ("config/env.py", "manage.py") or name.startswith("config/services/"):
            continue
        if any(_reads_environment(node) for node in ast.walk(sources.tree(name))):
            found[name] = "reads os.environ: add a reader to config/env.py and a setting"
    check("environment", found)


def test_no_file_has_a_name_that_says_nothing() -> None:
    names = [*sources.python_files(), *sources.typescript_files()]
    check("names", {name: "say what it holds" for name in names if Path(name).stem in FORBIDDEN_NAMES})


def test_our_apps_do_not_talk_by_django_signals() -> None:
    found = {}
    for name in sources.python_files(tests=False):
        for node in ast.walk(sources.tree(name)):
            if isinstance(node, ast.ImportFrom) and node.module in SIGNALS:
                found[name] = f"imports {node.module}: call the other part instead"
    check("signals", found)


def test_no_model_has_a_hidden_order() -> None:
    found = {}
    for name in sources.python_files(tests=False):
        for node in ast.walk(sources.tree(name)):
            if isinstance(node, ast.ClassDef) and node.name == "Meta" and "ordering" in _assigned(node):
                found[sources.place(name, node)] = "Meta.ordering: order where you ask"
    check("ordering", found)


def test_each_room_is_known_to_the_import_contracts() -> None:
    """A new top-level package would otherwise stand outside the layers."""
    rooms = {path.parent.name for path in sources.REPOSITORY.glob("*/__init__.py")}
    assert rooms - {"tests"} == set(sources.ROOMS)


def test_every_test_lies_where_the_recipes_look() -> None:
    """`make test` runs the folders below tests/; a test elsewhere would never run."""
    found = [
        name
        for name in sources.python_files()
        if sources.is_test(name) and (name.count("/") < 2 or not name.startswith("tests/"))
        if any(one.place.partition("::")[2].startswith("test_") for one in sources.functions(name))
    ]
    assert found == []


def _reads_environment(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "environb" | "getenv"):
            return True
        case ast.ImportFrom(module="os", names=names):
            return any(alias.name in ("environ", "getenv") for alias in names)
    return False


def _assigned(node: ast.ClassDef) -> set[str]:
    return {
        target.id
        for one in node.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
