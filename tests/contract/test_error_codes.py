"""docs/errors.md and the code name the same errors, each with its status."""

import ast
import re
from collections.abc import Iterator

from config.errors import PLAIN_CODES
from tests.contract.sources import python_files, text, tree

ROW = re.compile(r"^\| `(\w+)` \| (\d{3}) \|", re.MULTILINE)
IN_DOCS = {code: int(status) for code, status in ROW.findall(text("docs/errors.md"))}


def _classes() -> Iterator[ast.ClassDef]:
    for name in python_files(tests=False):
        yield from (node for node in ast.walk(tree(name)) if isinstance(node, ast.ClassDef))


def _constant(node: ast.ClassDef, field: str) -> object:
    for line in node.body:
        target = line.target if isinstance(line, ast.AnnAssign) else getattr(line, "targets", [None])[0]
        if isinstance(target, ast.Name) and target.id == field and isinstance(line.value, ast.Constant):  # type: ignore[attr-defined]
            return line.value.value  # type: ignore[attr-defined]
    return None


def _codes() -> dict[str, object]:
    """code -> status of every descendant of AppError, found by the names of classes: nothing has to be imported."""
    status_of: dict[str, object] = {"AppError": 500}
    found: dict[str, object] = {}
    waiting = list(_classes())
    while waiting:
        heirs = [(node, base) for node in waiting if (base := _known_base(node, status_of))]
        if not heirs:
            break
        for node, base in heirs:
            status_of[node.name] = _constant(node, "status") or status_of[base]
            if code := _constant(node, "code"):
                found[str(code)] = status_of[node.name]
        waiting = [node for node in waiting if node not in [heir for heir, _ in heirs]]
    return found


def _known_base(node: ast.ClassDef, known: dict[str, object]) -> str | None:
    return next((base.id for base in node.bases if isinstance(base, ast.Name) and base.id in known), None)


def test_every_error_of_the_code_is_explained_and_none_that_is_gone() -> None:
    plain = {code: kind.status_code for kind, code in PLAIN_CODES.items()}
    assert {**_codes(), **plain} == IN_DOCS
