"""Graphs drawn as text, so that a test shows its graph above its lines.

    draw("S > A > B")                      a chain; its letter gives the kind (see LETTERS), else `set_fields`
    draw("S > I, I ?true> A, I ?false> B, A + B > M > O")      ports, and `+` for every one of a group
    draw("S > E[A > B] > O")               a container with its body; containers are kind `map` unless told otherwise
    draw("S > fetch:http_request !> F")    a kind named in place; `!>` leaves by the error port
    draw("S > A", kinds={"A": "python"}, configs={"A": {"code": "..."}}, policies={"A": Policy(limit_s=5)})

Lines and commas separate; a node's container is where it is first named, so a crossing edge can be drawn:
`E[A], A > O`. The node `A` has the id `n_A` and the key `A`; the edge from A's port `out` to B has the id `e_A_out_B`.
Ids differ from keys on purpose: code that mixes them up fails. `show(graph)` draws a graph again;
`draw(show(graph))` has the same nodes and edges.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from builder.graph.model import Edge, Graph, Node, Policy

LETTERS: Mapping[str, str] = {
    "S": "start",
    "I": "branch",  # if
    "W": "switch",
    "M": "merge",
    "D": "delay",
    "P": "approval",  # a person
    "O": "output",
    "X": "fail",
}
TOKEN = re.compile(r"\s*(?:(?P<arrow>\?\w+>|!>|>)|(?P<name>\w+)(?::(?P<kind>\w+))?|(?P<mark>[\[\],;+]))")


class DrawingError(ValueError):
    """The drawing cannot be read. The message shows where."""


@dataclass(frozen=True)
class Token:
    sort: str  # arrow | name | mark | end
    text: str
    kind: str | None
    at: int


@dataclass
class Drawing:
    """What has been read so far."""

    kinds: Mapping[str, str]
    plain: str
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def node(self, name: str, *, kind: str | None, parent: str | None) -> str:
        if name not in self.nodes:
            position = (200.0 * len(self.nodes), 0.0)
            self.nodes[name] = Node(f"n_{name}", name, self.kind_of(name), name, parent=parent, position=position)
        if kind:
            self.nodes[name] = replace(self.nodes[name], kind=kind)
        return name

    def kind_of(self, name: str) -> str:
        letter = name[0] if re.fullmatch(r"[A-Z]\d*", name) else ""
        return self.kinds.get(name) or self.kinds.get(letter) or LETTERS.get(letter, self.plain)

    def contain(self, name: str) -> None:
        node = self.nodes[name]
        if node.kind == self.plain and name not in self.kinds:
            self.nodes[name] = replace(node, kind="map")

    def connect(self, sources: list[str], port: str, targets: list[str]) -> None:
        for source in sources:
            for target in targets:
                same = sum(edge.id.split("#")[0] == f"e_{source}_{port}_{target}" for edge in self.edges)
                ending = f"#{same + 1}" if same else ""
                self.edges.append(Edge(f"e_{source}_{port}_{target}{ending}", f"n_{source}", f"n_{target}", port))


def draw(
    text: str,
    *,
    kinds: Mapping[str, str] | None = None,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    policies: Mapping[str, Policy] | None = None,
    plain: str = "set_fields",
) -> Graph:
    """The graph that `text` draws. `kinds` goes by key or by a key's letter, `configs` by key or by kind, `policies`
    by key. `plain` is the kind of nodes that nothing else names. Raises DrawingError."""
    drawing = Drawing(kinds or {}, plain)
    reader = Reader(text, drawing)
    reader.chains(parent=None)
    reader.expect_end()
    given = configs or {}
    fallback = policies or {}
    nodes = (
        replace(node, config=given.get(key, given.get(node.kind, {})), policy=fallback.get(key, node.policy))
        for key, node in drawing.nodes.items()
    )
    return Graph(tuple(nodes), tuple(drawing.edges))


class Reader:
    """By recursive descent: chain = group (arrow group)*, group = item ('+' item)*, item = name ['[' chains ']']."""

    def __init__(self, text: str, drawing: Drawing) -> None:
        self.text = text
        self.drawing = drawing
        self.tokens = list(tokens_of(text))
        self.next = 0

    def peek(self) -> Token:
        return self.tokens[self.next] if self.next < len(self.tokens) else Token("end", "", None, len(self.text))

    def take(self, text: str) -> bool:
        found = self.peek().text == text
        self.next += found
        return found

    def chains(self, *, parent: str | None) -> None:
        while True:
            while self.peek().text in {",", ";", "\n"}:
                self.next += 1
            if self.peek().sort != "name":
                return
            self.chain(parent=parent)

    def chain(self, *, parent: str | None) -> None:
        sources = self.group(parent=parent)
        while self.peek().sort == "arrow":
            port = {">": "out", "!>": "error"}.get(self.peek().text, self.peek().text[1:-1])
            self.next += 1
            targets = self.group(parent=parent)
            self.drawing.connect(sources, port, targets)
            sources = targets

    def group(self, *, parent: str | None) -> list[str]:
        names = [self.item(parent=parent)]
        while self.take("+"):
            names.append(self.item(parent=parent))
        return names

    def item(self, *, parent: str | None) -> str:
        token = self.peek()
        if token.sort != "name":
            raise DrawingError(f"expected a node at {self.text[token.at :]!r}")
        self.next += 1
        name = self.drawing.node(token.text, kind=token.kind, parent=parent)
        if self.take("["):
            self.drawing.contain(name)
            self.chains(parent=f"n_{name}")
            if not self.take("]"):
                raise DrawingError(f"the body of {name} is not closed at {self.text[self.peek().at :]!r}")
        return name

    def expect_end(self) -> None:
        if self.next < len(self.tokens):
            raise DrawingError(f"cannot read {self.text[self.peek().at :]!r}")


def tokens_of(text: str) -> Iterator[Token]:
    at = 0
    while text[at:].strip():
        newline = re.compile(r"[ \t]*\n\s*").match(text, at)
        if newline:
            yield Token("mark", "\n", None, at)
            at = newline.end()
            continue
        found = TOKEN.match(text, at)
        if found is None:
            raise DrawingError(f"cannot read {text[at:]!r}")
        sort = str(found.lastgroup if found.lastgroup != "kind" else "name")
        yield Token(sort, found[sort], found["kind"], at)
        at = found.end()


def show(graph: Graph) -> str:
    """The graph as a drawing, kinds named; configs and policies are left out."""
    key_of = {node.id: node.key for node in graph.nodes}

    def body(parent: str | None) -> str:
        items = []
        for node in graph.nodes:
            if node.parent == parent:
                inner = body(node.id)
                items.append(f"{node.key}:{node.kind}" + (f"[{inner}]" if inner else ""))
        return ", ".join(items)

    arrows = (f"{key_of[edge.source]} ?{edge.source_port}> {key_of[edge.target]}" for edge in graph.edges)
    return "\n".join(line for line in (body(None), *arrows) if line)
