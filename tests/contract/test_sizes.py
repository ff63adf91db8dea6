"""Small functions, small files, few positional parameters. Complexity is ruff's C901, with the same limit."""

import ast
import re
from collections.abc import Iterator

from tests.contract import sources
from tests.contract.exceptions import check

FUNCTION_LINES = 40
POSITIONAL = 3
HTTP_VERBS = {"get", "post", "put", "patch", "delete"}
PYTHON_LINES = 400
TYPESCRIPT_LINES = 300
COMPONENT_LINES = 120
_COMPONENT = re.compile(r"(?:export )?(?:default )?(?:function ([A-Z]\w*)|const ([A-Z][a-z]\w*)\b.*[({]$)")
_ANY = re.compile(r"(?::|\bas|<|\|)\s*any\b(?!\w)")


def test_a_python_function_has_at_most_40_lines() -> None:
    check(
        "function lines",
        {
            one.place: f"{one.lines} lines"
            for name in sources.python_files()
            for one in sources.functions(name)
            if one.lines > FUNCTION_LINES
        },
    )


def test_a_python_function_takes_at_most_three_arguments_by_position() -> None:
    found = {}
    for name in sources.python_files():
        for one in sources.functions(name):
            count = _positional(one.node)
            if one.node.name in HTTP_VERBS:
                continue  # Django hands on what an address holds
            if count > POSITIONAL and not name.startswith(("tests/", "sample/scripts/")):
                found[one.place] = f"{count} positional parameters: make the rest keyword-only"
    check("positional parameters", found)


def test_a_python_file_has_at_most_400_lines() -> None:
    found = {name: len(sources.text(name).splitlines()) for name in sources.python_files()}
    check("python file lines", {name: f"{lines} lines" for name, lines in found.items() if lines > PYTHON_LINES})


def test_a_typescript_file_has_at_most_300_lines() -> None:
    found = {name: len(sources.text(name).splitlines()) for name in sources.typescript_files()}
    check(
        "typescript file lines", {name: f"{lines} lines" for name, lines in found.items() if lines > TYPESCRIPT_LINES}
    )


def test_a_react_component_has_at_most_120_lines() -> None:
    found = {}
    for name in sources.typescript_files():
        if name.endswith(".tsx"):
            found |= {
                f"{name}::{one}": f"{n} lines" for one, n in _components(sources.text(name)) if n > COMPONENT_LINES
            }
    check("component lines", found)


def test_no_typescript_says_any() -> None:
    found = {}
    for name in sources.typescript_files():
        for number, line in enumerate(sources.text(name).splitlines(), 1):
            code = re.sub(r"(//|/\*|\*).*|\"[^\"]*\"|'[^']*'|`[^`]*`", "", line)
            if _ANY.search(code):
                found[f"{name}:{number}"] = line.strip()
    check("any", found)


def test_no_function_buys_itself_out_of_the_limit_on_complexity() -> None:
    found = {}
    for name in sources.python_files():
        for number, line in enumerate(sources.text(name).splitlines(), 1):
            if re.search(r"#\s*noqa:[^#]*\bC901\b", line):
                found[f"{name}:{number}"] = line.strip()
    check("complexity", found)


def _positional(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(names) - (1 if names[:1] in (["self"], ["cls"]) else 0)


def _components(text: str) -> Iterator[tuple[str, int]]:
    """Top-level functions with a capital; laid out by biome, one ends with the first line that closes to the margin."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        found = _COMPONENT.match(line)
        if found:
            closing = (
                at for at in range(start + 1, len(lines)) if lines[at][:1] in ("}", ")") and "{" not in lines[at]
            )
            end = next(closing, start)
            yield found[1] or found[2], end - start + 1


def test_the_measure_of_components_sees_functions_and_arrows() -> None:
    card = "export function Card({\n  a,\n}: Props) {\n  return a;\n}\n"
    row = "const Row = memo(function Row() {\n  return 1;\n});\n"
    assert list(_components(card + row)) == [("Card", 5), ("Row", 3)]
