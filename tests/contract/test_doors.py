"""One way for each thing: state changes, tenant scope, actors."""

import ast

import pytest

from tests.contract import sources
from tests.contract.exceptions import check

# The pure core changes values of its own, never rows.
STORE = ("runs/store", "runs/core/")
WRITES = {"save", "update", "bulk_update", "bulk_create", "update_or_create", "get_or_create", "delete"}
ENGINE_MODELS = {"Run", "StepRun", "Attempt", "Event", "Wait"}
LOOK_UPS = {"filter", "exclude", "get", "get_object_or_404", "get_list_or_404", "aget", "afilter"}
ACTOR_LINES = 10


def test_only_the_store_changes_a_run_or_a_step_run() -> None:
    found = {}
    for name in sources.python_files(tests=False):
        if name.startswith(STORE):
            continue
        for node in ast.walk(sources.tree(name)):
            if (what := _changes_state(name, node)) is not None:
                found[sources.place(name, node)] = what
    check("state", found)


def test_scope_by_workspace_has_one_door() -> None:
    found = {}
    for name in sources.python_files(tests=False):
        if name == "teams/access.py":
            continue
        for call in sources.calls(name):
            words = [
                keyword.arg for keyword in call.keywords if keyword.arg and keyword.arg.split("_id")[0] == "workspace"
            ]
            deep = [keyword.arg for keyword in call.keywords if keyword.arg and "workspace__" in keyword.arg]
            if sources.called(call) in LOOK_UPS and (words or deep):
                found[sources.place(name, call)] = (
                    f"{sources.called(call)}({(words or deep)[0]}=...): use teams.access.visible_to"
                )
    check("workspace filter", found)


def test_an_actor_is_a_door() -> None:
    """At most ten lines, and arguments that are ids or names."""
    found = {}
    for name in sources.python_files(tests=False):
        for one in sources.functions(name):
            if not any(_is_actor(decorator) for decorator in one.node.decorator_list):
                continue
            body = (one.node.body[-1].end_lineno or 0) - one.node.body[0].lineno + 1
            types = [
                ast.unparse(argument.annotation) if argument.annotation else "?" for argument in one.node.args.args
            ]
            if body > ACTOR_LINES:
                found[one.place] = f"{body} lines"
            elif not set(types) <= {"int", "str"}:
                found[one.place] = f"takes {types}: ids only"
    check("actors", found)


@pytest.mark.parametrize(
    ("line", "offends"),
    [
        ("run.status = 'failed'", True),
        ("run.save()", True),
        ("Run.objects.filter(id=1).update(error=None)", True),
        ("StepRun.objects.bulk_create(rows)", True),
        ("rows.update(status='failed')", True),
        ("values.update(other)", False),
        ("Run.objects.filter(id=1).first()", False),
        ("response.status_code = 3", False),
    ],
)
def test_the_lint_on_state_sees_what_it_should(line: str, offends: bool) -> None:
    found = [_changes_state("runs/engine/x.py", node) for node in ast.walk(ast.parse(line))]
    assert any(found) is offends


def _changes_state(name: str, node: ast.AST) -> str | None:
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))]):
            return None  # of a class of its own; the models have no methods
        case (
            ast.Assign(targets=[*_, ast.Attribute(attr="status")]) | ast.AugAssign(target=ast.Attribute(attr="status"))
        ):
            return "sets .status" if name.startswith(("runs/", "sample/", "config/")) else None
        case ast.Call(func=ast.Attribute(attr=verb, value=owner)) if verb in WRITES:
            if verb == "save" and name.startswith("runs/"):
                return ".save()"
            if _root(owner) in ENGINE_MODELS:
                return f"{_root(owner)}...{verb}()"
            is_of_another_model = _root(owner)[:1].isupper()
            if verb == "update" and not is_of_another_model and any(word.arg == "status" for word in node.keywords):
                return ".update(status=...)"
    return None


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_actor(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
    return (isinstance(node, ast.Attribute) and node.attr == "actor") or (
        isinstance(node, ast.Name) and node.id == "actor"
    )
