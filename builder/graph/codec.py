"""JSON document <-> Graph.

`encode(decode(document)) == document` for every valid document in which nodes have all their own fields; in a shorter
one the missing fields of nodes and edges come back with their defaults, and nothing else changes. Fields that this
version does not know are kept at every level. `unknown` of a node may also hold, under "policy" and "position", what
those objects have beyond the model: unknown fields, and fields that were written out with their default (so
may `disabled` be).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from builder.graph.errors import FieldFault, GraphError
from builder.graph.margin import margin_faults
from builder.graph.model import SCHEMA_VERSION, Edge, Graph, Node, Policy, Retry
from builder.graph.policy import POLICY_RULES, RETRY_RULES, Rule
from builder.graph.values import Budget, below, json_faults, text_fault

DEFAULT_POLICY = Policy()
DEFAULT_RETRY = Retry()


@dataclass(frozen=True)
class Limits:
    nodes: int = 5_000
    edges: int = 20_000
    nesting: int = 64  # of a config, counted in objects and lists
    characters: int = 4_000_000  # of the whole document's texts and values
    name: int = 200  # characters of an id, a key, a kind, a name


@dataclass
class Faults:
    """All that is wrong, collected. `node` is the id of the node being read."""

    limits: Limits
    budget: Budget
    found: list[FieldFault] = field(default_factory=list)
    node: str | None = None

    def add(self, at: str, message: str) -> None:
        self.found.append(FieldFault(at, message, self.node))

    def read_json(self, value: Any, at: str) -> Any:
        for path, message in json_faults(value, at, nesting=self.limits.nesting, budget=self.budget):
            self.add(path, message)
        return value

    def read_text(self, value: Any, at: str, *, needed: bool = True) -> str:
        if not isinstance(value, str):
            self.add(at, "is missing" if value is None else f"must be text, and is {kind_of(value)}")
            return ""
        self.budget.spend(len(value))
        if needed and not value:
            self.add(at, "is empty")
        if len(value) > self.limits.name:
            self.add(at, f"is longer than {self.limits.name} characters")
        if fault := text_fault(value):
            self.add(at, fault)
        return str(value)

    def read_object(self, value: Any, at: str) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        self.add(at, f"must be an object, and is {kind_of(value)}")
        return {}

    def read_list(self, value: Any, at: str, *, limit: int) -> list[Any]:
        if not isinstance(value, list):
            self.add(at, f"must be a list, and is {kind_of(value)}")
            return []
        if len(value) > limit:
            self.add(at, f"has {len(value)} entries; at most {limit} are allowed")
            return []
        return value


def decode(document: Any, *, limits: Limits = Limits()) -> Graph:
    """Reads a graph document. Raises GraphError with every fault; says nothing about whether the graph can run."""
    faults = Faults(limits, Budget(limits.characters))
    root = faults.read_object(document, "graph")
    schema = read_schema(root.get("schema", SCHEMA_VERSION), faults)
    nodes = tuple(
        read_node(item, f"nodes[{index}]", faults)
        for index, item in enumerate(faults.read_list(root.get("nodes", []), "nodes", limit=limits.nodes))
    )
    faults.node = None
    edges = tuple(
        read_edge(item, f"edges[{index}]", faults)
        for index, item in enumerate(faults.read_list(root.get("edges", []), "edges", limit=limits.edges))
    )
    unknown = read_unknown(root, {"schema", "nodes", "edges"}, at="", faults=faults)
    for at, message in margin_faults(root):
        faults.add(at, message)
    if faults.budget.characters < 0:
        faults.add("graph", f"is larger than {limits.characters} characters; move large texts to files")
    if faults.found:
        raise GraphError(faults.found)
    return Graph(nodes, edges, schema, unknown)


def read_schema(value: Any, faults: Faults) -> int:
    """A document of a newer schema is refused whole: what it says may mean something else there."""
    if type(value) is not int or value < 1:
        faults.add("schema", "must be a whole number from 1")
    elif value > SCHEMA_VERSION:
        message = f"is {value}, and this Pawl reads graphs up to {SCHEMA_VERSION}; update Pawl to open it"
        raise GraphError([FieldFault("schema", message)])
    else:
        return value
    return SCHEMA_VERSION


def read_unknown(value: Mapping[Any, Any], known: set[str], *, at: str, faults: Faults) -> dict[str, Any]:
    kept = {key: item for key, item in value.items() if key not in known}
    for key, item in kept.items():
        if type(key) is not str:
            faults.add(at or "graph", f"has the name {key!r}, which is no text")
        elif fault := text_fault(key):
            faults.add(at or "graph", f"has a name that {fault}")
        else:
            faults.read_json(item, below(at, key) if at else key)
    return kept


NODE_FIELDS = {item.name for item in fields(Node)} - {"unknown"}
EDGE_FIELDS = {item.name for item in fields(Edge)} - {"unknown"}


def read_node(value: Any, at: str, faults: Faults) -> Node:
    faults.node = None
    raw = faults.read_object(value, at)
    if value is not raw:
        return Node("", "", "")
    faults.node = raw["id"] if type(raw.get("id")) is str else None
    policy, policy_rest = read_policy(raw.get("policy", {}), f"{at}.policy", faults)
    position, position_rest = read_position(raw.get("position", {}), f"{at}.position", faults)
    rests = {"policy": policy_rest, "position": position_rest}
    parent, disabled = raw.get("parent"), raw.get("disabled", False)
    if type(disabled) is not bool:
        faults.add(f"{at}.disabled", f"must be true or false, and is {kind_of(disabled)}")
    written = {"disabled": False} if raw.get("disabled") is False else {}
    unknown = read_unknown(raw, NODE_FIELDS, at=at, faults=faults)
    return Node(
        id=faults.read_text(raw.get("id"), f"{at}.id"),
        key=faults.read_text(raw.get("key"), f"{at}.key", needed=False),
        kind=faults.read_text(raw.get("kind"), f"{at}.kind"),
        name=faults.read_text(raw.get("name", ""), f"{at}.name", needed=False),
        config=faults.read_json(faults.read_object(raw.get("config", {}), f"{at}.config"), f"{at}.config"),
        policy=policy,
        parent=None if parent is None else faults.read_text(parent, f"{at}.parent"),
        position=position,
        disabled=disabled is True,
        unknown=unknown | written | {key: rest for key, rest in rests.items() if rest},
    )


def read_edge(value: Any, at: str, faults: Faults) -> Edge:
    raw = faults.read_object(value, at)
    if value is not raw:
        return Edge("", "", "")
    return Edge(
        id=faults.read_text(raw.get("id"), f"{at}.id"),
        source=faults.read_text(raw.get("source"), f"{at}.source"),
        target=faults.read_text(raw.get("target"), f"{at}.target"),
        source_port=faults.read_text(raw.get("source_port", "out"), f"{at}.source_port"),
        unknown=read_unknown(raw, EDGE_FIELDS, at=at, faults=faults),
    )


def read_position(value: Any, at: str, faults: Faults) -> tuple[tuple[float, float], dict[str, Any]]:
    raw = faults.read_object(value, at)
    for axis in ("x", "y"):
        if type(raw.get(axis, 0)) not in (int, float):
            faults.add(f"{at}.{axis}", f"must be a number, and is {kind_of(raw[axis])}")
        faults.read_json(raw.get(axis, 0), f"{at}.{axis}")
    return (raw.get("x", 0.0), raw.get("y", 0.0)), read_unknown(raw, {"x", "y"}, at=at, faults=faults)


def read_policy(value: Any, at: str, faults: Faults) -> tuple[Policy, dict[str, Any]]:
    raw = faults.read_object(value, at)
    given = read_by_rules(raw, POLICY_RULES, at=at, faults=faults)
    rest = read_unknown(raw, {*POLICY_RULES, "retry"}, at=at, faults=faults)
    written = {key: raw[key] for key in given if is_default(DEFAULT_POLICY, key, raw[key])}
    if "retry" not in raw:
        return Policy(**given), written | rest
    retry, retry_rest = read_retry(raw["retry"], f"{at}.retry", faults)
    return Policy(retry=retry, **given), written | rest | {"retry": retry_rest}


def read_retry(value: Any, at: str, faults: Faults) -> tuple[Retry, dict[str, Any]]:
    raw = faults.read_object(value, at)
    given = read_by_rules(raw, RETRY_RULES, at=at, faults=faults)
    rest = read_unknown(raw, set(RETRY_RULES), at=at, faults=faults)
    written = {key: raw[key] for key in given if is_default(DEFAULT_RETRY, key, raw[key])}
    return Retry(**given), written | rest


def read_by_rules(raw: Mapping[str, Any], rules: Mapping[str, Rule], *, at: str, faults: Faults) -> dict[str, Any]:
    given = {}
    for key, rule in rules.items():
        if key not in raw:
            continue
        if message := rule(raw[key]):
            faults.add(f"{at}.{key}", message)
        else:
            given[key] = faults.read_json(raw[key], f"{at}.{key}")
    return given


def encode(graph: Graph) -> dict[str, Any]:
    """The document of a graph. It shares the graph's configs: change neither."""
    return {
        "schema": graph.schema,
        "nodes": [encode_node(node) for node in graph.nodes],
        "edges": [encode_edge(edge) for edge in graph.edges],
        **graph.unknown,
    }


def encode_node(node: Node) -> dict[str, Any]:
    unknown = dict(node.unknown)
    policy_rest = unknown.pop("policy", {})
    position_rest = unknown.pop("position", {})
    return {
        "id": node.id,
        "key": node.key,
        "name": node.name,
        "kind": node.kind,
        "config": node.config,
        "policy": encode_policy(node.policy, policy_rest),
        "parent": node.parent,
        "position": {"x": node.position[0], "y": node.position[1], **position_rest},
        **unknown,
        **({"disabled": True} if node.disabled else {}),
    }


def encode_edge(edge: Edge) -> dict[str, Any]:
    ends = {"id": edge.id, "source": edge.source, "source_port": edge.source_port, "target": edge.target}
    return {**ends, **edge.unknown}


def encode_policy(policy: Policy, rest: Mapping[str, Any]) -> dict[str, Any]:
    """Only what differs from the defaults, or was written out. The policy's own value wins over the rest's."""
    retry = {**rest.get("retry", {}), **other_than_default(policy.retry, DEFAULT_RETRY, RETRY_RULES)}
    shown = {**rest, **other_than_default(policy, DEFAULT_POLICY, POLICY_RULES)}
    return {**shown, "retry": retry} if retry or "retry" in rest else shown


def other_than_default(value: Policy | Retry, default: Policy | Retry, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names if not is_default(default, name, getattr(value, name))}


def is_default(default: Policy | Retry, key: str, value: Any) -> bool:
    return same(getattr(default, key), value)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON scalars. `False == 0` and `True == 1` in Python, not in a document."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def kind_of(value: Any) -> str:
    """The JSON name of a value's type, for messages."""
    names: dict[type, str] = {
        type(None): "null", bool: "true or false", int: "a number", float: "a number",
        str: "text", list: "a list", dict: "an object",
    }  # fmt: skip
    return names.get(type(value), f"a {type(value).__name__}")
