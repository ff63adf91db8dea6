"""From a text to something that can be evaluated: parsed, checked against what expressions may use, compiled, and
cached."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Template, nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.meta import TrackingCodeGenerator
from jinja2.visitor import NodeTransformer

from builder.expressions.environment import ENVIRONMENT
from builder.expressions.errors import ExpressionProblem
from builder.expressions.filters import FILTERS, FUNCTIONS, TESTS
from builder.expressions.lookup import Part, guess

LONGEST_TEXT = 100_000
SHORT = 2_000  # characters; long texts have a small cache of their own, so that they cannot fill the memory
RESULT = "result"
RESERVED = frozenset({"steps", "run"})  # an expression may not give these names a meaning of its own

GRAMMAR: tuple[type[nodes.Node], ...] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Const, nodes.List, nodes.Dict, nodes.Pair, nodes.Tuple,
    nodes.Keyword, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Filter, nodes.Test, nodes.Compare,
    nodes.Operand, nodes.UnaryExpr, nodes.BinExpr, nodes.Concat, nodes.CondExpr, nodes.Call, nodes.For, nodes.If,
    nodes.Assign, nodes.AssignBlock, nodes.With,
)  # fmt: skip


class Refused(Exception):
    """The text is well formed, and uses something that expressions do not have."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Compiled:
    """A text with expressions in it. Exactly one of `path` and `template` is set."""

    path: tuple[Part, ...] | None  # the text is one plain path, `{{ steps.a.output[0] }}`: no need to run a template
    template: Any  # a jinja2 Template, or None
    whole: bool  # one whole expression: its result keeps its type
    paths: tuple[tuple[Part, ...], ...]  # all paths that it spells out, as far as they are fixed
    names: frozenset[str]  # names that it needs from the scope
    dynamic: bool  # reads `steps` in a way that only shows at run time: steps[item.key]


def holds_expression(value: Any) -> bool:
    """Whether a text has anything to evaluate."""
    return isinstance(value, str) and "{" in value and ("{{" in value or "{%" in value)


def compiled(text: str) -> Compiled | ExpressionProblem:
    return short_texts(text) if len(text) <= SHORT else long_texts(text)


def build(text: str) -> Compiled | ExpressionProblem:
    if len(text) > LONGEST_TEXT:
        return ExpressionProblem(f"a text with expressions has at most {LONGEST_TEXT} characters, not {len(text)}")
    try:
        return compile_text(text)
    except TemplateSyntaxError as problem:
        return ExpressionProblem(f"the expression cannot be read: {problem.message}", line=problem.lineno)
    except Refused as problem:
        return ExpressionProblem(str(problem), line=problem.line)
    except (RecursionError, MemoryError, SyntaxError):
        return ExpressionProblem("the expression is nested too deeply; split it up")


short_texts = lru_cache(maxsize=2048)(build)
long_texts = lru_cache(maxsize=64)(build)


def compile_text(text: str) -> Compiled:
    tree = ENVIRONMENT.parse(text)
    for node in walk(tree):
        check_node(node)
    names = names_in(tree) - FUNCTIONS.keys()
    paths = tuple(paths_in(tree))
    dynamic = any(path[0] == "steps" and (len(path) == 1 or not isinstance(path[1], str)) for path in paths)
    single = whole_expression(tree)
    if single is not None and (path := path_of(single)) and path[0] not in FUNCTIONS:
        return Compiled(path, None, whole=True, paths=paths, names=names, dynamic=dynamic)
    if single is not None:
        target = nodes.Name(RESULT, "store", lineno=1)
        tree = nodes.Template([nodes.Assign(target, single, lineno=1)], lineno=1)
    code = ENVIRONMENT.compile(Bounded().visit(tree).set_environment(ENVIRONMENT))
    template = Template.from_code(ENVIRONMENT, code, {}, None)
    return Compiled(None, template, whole=single is not None, paths=paths, names=names, dynamic=dynamic)


def names_in(tree: nodes.Template) -> frozenset[str]:
    """Names that are looked up in the scope. As jinja2.meta.find_undeclared_variables, which evaluates constants on its
    way: outside of all bounds, and with errors of its own."""
    generator = TrackingCodeGenerator(ENVIRONMENT)
    generator.optimizer = None
    generator.visit(tree)
    return frozenset(generator.undeclared_identifiers)


def walk(tree: nodes.Node) -> Iterator[nodes.Node]:
    yield tree
    for child in tree.iter_child_nodes():
        yield from walk(child)


def whole_expression(tree: nodes.Template) -> nodes.Expr | None:
    """The expression of a text that is nothing but one; white space around it does not count."""
    if len(tree.body) != 1 or not isinstance(tree.body[0], nodes.Output):
        return None
    parts = [part for part in tree.body[0].nodes if not isinstance(part, nodes.TemplateData) or part.data.strip()]
    return parts[0] if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData) else None


def path_of(node: nodes.Node) -> tuple[Part, ...] | None:
    """The path that a node spells out: steps.a['b'][0]. None where it is something else, or not fixed."""
    parts: list[Part] = []
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        if isinstance(node, nodes.Getattr):
            parts.append(node.attr)
        elif isinstance(node.arg, nodes.Const) and type(node.arg.value) in (str, int):
            parts.append(node.arg.value)
        else:
            return None
        node = node.node
    return (node.name, *parts[::-1]) if isinstance(node, nodes.Name) and node.ctx == "load" else None


def paths_in(node: nodes.Node) -> Iterator[tuple[Part, ...]]:
    """The longest fixed paths, each once per place; of `steps.a[x.y]` both `steps.a` and `x.y`."""
    path = path_of(node)
    if path is not None:
        yield path
        return
    for child in node.iter_child_nodes():
        yield from paths_in(child)


def check_node(node: nodes.Node) -> None:
    if not isinstance(node, GRAMMAR):
        raise Refused(f"expressions have no {type(node).__name__.lower()}", node.lineno)
    if isinstance(node, nodes.Call | nodes.Filter | nodes.Test):
        check_call(node)
    elif isinstance(node, nodes.Name) and node.ctx != "load" and node.name in RESERVED:
        raise Refused(f"the name {node.name} is Pawl's own; choose another", node.lineno)
    elif isinstance(node, nodes.CondExpr) and node.expr2 is None:
        raise Refused("an if inside an expression needs an else: a if b else c", node.lineno)
    elif isinstance(node, nodes.For) and node.recursive:
        raise Refused("loops cannot be recursive", node.lineno)


def check_call(node: nodes.Call | nodes.Filter | nodes.Test) -> None:
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        raise Refused("arguments cannot be given with * and **", node.lineno)
    if isinstance(node, nodes.Call):
        if not isinstance(node.node, nodes.Name) or node.node.name not in FUNCTIONS:
            names = ", ".join(FUNCTIONS)
            raise Refused(f"the only function is {names}; values have no methods, use a filter (| upper)", node.lineno)
        return
    word, known = ("filter", FILTERS) if isinstance(node, nodes.Filter) else ("test", TESTS)
    if node.name not in known:
        raise Refused(f"there is no {word} {node.name!r}{guess(node.name, sorted(known))}", node.lineno)


class Bounded(NodeTransformer):
    """Puts the budget around what Jinja does without asking: loops, and joining with `~`. Jinja's visitor names the
    methods."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.iter = inner_filter(node.iter, " counted")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return inner_filter(nodes.List(node.nodes, lineno=node.lineno), " concat")


def inner_filter(value: Any, name: str) -> nodes.Filter:
    return nodes.Filter(value, name, [], [], None, None, lineno=value.lineno)


def step_keys(paths: Sequence[Sequence[Part]]) -> frozenset[str]:
    """Keys of the steps that paths name: `steps.a.output` and `steps['a']` name a."""
    return frozenset(
        str(path[1]) for path in paths if path[0] == "steps" and len(path) > 1 and isinstance(path[1], str)
    )
