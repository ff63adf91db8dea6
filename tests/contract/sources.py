"""Which files the house lints read, and what they find in them. Python is parsed, never searched by pattern."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = ("builder", "config", "kit", "runs", "sample", "steps", "teams")
NOT_OURS = {
    ".git", ".venv", ".tools", ".pawl", "node_modules", "dist", "coverage", "__pycache__", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", ".hypothesis", ".import_linter_cache", "static", "test-results",
}  # fmt: skip
GENERATED = {"frontend/src/api/schema.ts", "frontend/src/api/schema.d.ts"}


@dataclass(frozen=True)
class Function:
    place: str  # 'path::Class.name'
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def lines(self) -> int:
        return (self.node.end_lineno or self.node.lineno) - self.node.lineno + 1


def walk(folder: Path = REPOSITORY) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NOT_OURS or path.name.startswith(".coverage"):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from walk(path)
        elif path.is_file():
            yield path


@cache
def all_files() -> tuple[str, ...]:
    return tuple(path.relative_to(REPOSITORY).as_posix() for path in walk())


def python_files(*, tests: bool = True) -> list[str]:
    """Migrations are Django's; tests are the folder tests/ and whatever lies in a folder or file of that name."""
    found = [name for name in all_files() if name.endswith(".py") and "/migrations/" not in name]
    return found if tests else [name for name in found if not is_test(name)]


def is_test(name: str) -> bool:
    stem = Path(name).stem
    return name.startswith("tests/") or "/tests/" in name or stem.startswith("test_") or stem.endswith("_test")


def typescript_files() -> list[str]:
    return [name for name in all_files() if name.endswith((".ts", ".tsx")) and name not in GENERATED]


@cache
def text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8", errors="replace")


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(text(name), filename=name)


@cache
def functions(name: str) -> tuple[Function, ...]:
    return tuple(_functions(tree(name), f"{name}::"))


def _functions(node: ast.AST, prefix: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(prefix + child.name, child)
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


@cache
def calls(name: str) -> tuple[ast.Call, ...]:
    return tuple(node for node in ast.walk(tree(name)) if isinstance(node, ast.Call))


def called(call: ast.Call) -> str:
    """The last word of what is called: `filter` of `Run.objects.filter(...)`."""
    match call.func:
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word
    return ""


def place(name: str, node: ast.AST) -> str:
    """The innermost function around it, so that an exception survives a moved line."""
    line = getattr(node, "lineno", 0)
    around = [one for one in functions(name) if one.node.lineno <= line <= (one.node.end_lineno or 0)]
    return around[-1].place if around else f"{name}::"
