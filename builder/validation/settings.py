"""A node's config against its kind's model. A value that holds an expression is judged when it is known: in the run."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from builder.expressions import holds_expression, literal_fields
from builder.graph.model import Node
from builder.validation.fixes import Fix, one
from builder.validation.issues import Problem
from builder.validation.nodes import named
from steps.base import StepConfig, StepSpec
from steps.truth import WORDS


@lru_cache(maxsize=256)
def literals_of(config: type[StepConfig]) -> frozenset[str]:
    return literal_fields(config.model_json_schema())


def settings_problems(node: Node, spec: StepSpec, connections: Mapping[str, str] | None) -> Iterator[Problem]:
    try:
        spec.config.model_validate(node.config)
    except ValidationError as problem:
        for fault in problem.errors(include_url=False, include_input=False):
            yield from field_problems(node, spec, fault)
    yield from condition_problems(node, spec)
    if spec.connection_kinds and connections is not None:
        yield from connection_problems(node, spec, connections)


def field_problems(node: Node, spec: StepSpec, fault: Mapping[str, Any]) -> Iterator[Problem]:
    way, value = follow(node.config, fault["loc"])
    field = show(way)
    if fault["type"] == "missing":
        missing = show([*way, *fault["loc"][len(way) :][-1:]])
        message = f'{named(node)} needs "{missing}". Fill it in.'
        yield Problem("required_field_missing", message, node=node.id, field=missing)
    elif fault["type"] == "extra_forbidden":
        message = f'{named(node)} has a setting "{field}" that its kind {spec.title} does not know. Delete it.'
        whole = len(way) == 1
        fix = one(f'Delete "{field}"', "unset", node=node.id, field=field) if whole else None
        yield Problem("unknown_field", message, node=node.id, field=field, fix=fix)
    elif not evaluated_later(value, way, literals_of(spec.config)):
        where = f'"{field}"' if field else "the settings"
        message = f"{named(node)}: {where} cannot be taken. {fault['msg']}."
        yield Problem("bad_field", message, node=node.id, field=field or None)


@lru_cache(maxsize=256)
def conditions_of(config: type[StepConfig]) -> tuple[str, ...]:
    fields = config.model_json_schema().get("properties", {})
    return tuple(name for name, field in fields.items() if field.get("x-pawl", {}).get("truth"))


def condition_problems(node: Node, spec: StepSpec) -> Iterator[Problem]:
    """A condition without its braces would fail in each run alike."""
    for field in conditions_of(spec.config):
        value = node.config.get(field)
        if isinstance(value, str) and not holds_expression(value) and value.strip().lower() not in WORDS:
            message = (
                f'{named(node)}, "{field}": this text is neither true nor false. Write it as an expression: '
                f"{{{{ {value.strip()[:100]} }}}}"
            )
            yield Problem("condition_is_text", message, node=node.id, field=field)


def follow(config: Any, loc: Sequence[str | int]) -> tuple[list[str | int], Any]:
    """As far as the config goes along a fault's place. pydantic names members of unions too, which lead nowhere."""
    way: list[str | int] = []
    for part in loc:
        in_list = isinstance(config, list) and isinstance(part, int) and part < len(config)
        if in_list or (isinstance(config, Mapping) and part in config):
            config = config[part]
            way.append(part)
    return way, config


def show(way: Sequence[str | int]) -> str:
    shown = ""
    for part in way:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}" if shown else part
    return shown


def evaluated_later(value: Any, way: Sequence[str | int], literals: frozenset[str]) -> bool:
    """Whether an expression that is not literal has a part in the value."""
    pattern = show(way)
    for place in [index for index in way if isinstance(index, int)]:
        pattern = pattern.replace(f"[{place}]", "[]")
    if any(pattern == literal or pattern.startswith((f"{literal}.", f"{literal}[")) for literal in literals):
        return False
    return has_expression(value)


def has_expression(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(has_expression(item) for item in value.values())
    return any(map(has_expression, value)) if isinstance(value, list) else holds_expression(value)


def connection_problems(node: Node, spec: StepSpec, connections: Mapping[str, str]) -> Iterator[Problem]:
    name = node.config.get("connection")
    if not isinstance(name, str) or not name or holds_expression(name):
        return
    wanted = " or ".join(spec.connection_kinds)
    if name not in connections:
        message = (
            f'{named(node)}: there is no connection "{name}" in this workspace. Choose or make one of kind {wanted}.'
        )
        fix = another_connection(node, spec, connections)
        yield Problem("connection_unknown", message, node=node.id, field="connection", fix=fix)
    elif connections[name] not in spec.connection_kinds:
        message = f'{named(node)} needs a connection of kind {wanted}, and "{name}" is one of kind {connections[name]}.'
        fix = another_connection(node, spec, connections)
        yield Problem("connection_kind", message, node=node.id, field="connection", fix=fix)


def another_connection(node: Node, spec: StepSpec, connections: Mapping[str, str]) -> Fix | None:
    """The one of nearly the same name, or the only one that fits."""
    fitting = [name for name, kind in connections.items() if kind in spec.connection_kinds]
    near = get_close_matches(node.config["connection"], fitting, n=1) or (fitting if len(fitting) == 1 else [])
    if not near:
        return None
    return one(f'Use "{near[0]}"', "set", node=node.id, field="connection", value=near[0])
