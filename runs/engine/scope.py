"""What a step's expressions may read: the run's input, the outputs of the steps it refers to, its item.

Only what the node's settings refer to is read. Outputs of succeeded steps never change, so a worker keeps those it made
or read (Values); a chain of steps on one worker so reads nothing.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

from builder.expressions import callbacks, references
from builder.graph.model import Node
from runs.core.definition import Definition
from runs.core.states import StepStatus
from runs.payloads import READ_PAYLOADS
from runs.store.claim import Held
from runs.store.read import Connection
from steps.registry import literal_fields

READ_INPUT = "SELECT input FROM runs_run WHERE id = %s"
# A container to which a person gave an output has that one, whatever its items have.
TOTAL = "CASE WHEN origin <> 'manual' THEN item_total END"
# Index: step_run_path.
READ_OUTPUTS = f"""SELECT path, id, status, handled, output, output_ref, {TOTAL}, item_gather, item_cursor
    FROM runs_steprun WHERE run_id = %s AND path = ANY(%s)"""
READ_ITEMS = "SELECT id, items, items_ref FROM runs_steprun WHERE run_id = %s AND path = %s"
READ_ROUNDS = "SELECT item_cursor FROM runs_steprun WHERE id = %s AND item_total IS NOT NULL"
# Index: step_run_items. A container's output is a view over its items' last steps, in their order.
READ_ITEM_OUTPUTS = f"""SELECT item_index, node_id, status, output, output_ref, id, {TOTAL}, item_gather, item_cursor
    FROM runs_steprun WHERE parent_id = %s AND node_id = ANY(%s) AND item_index BETWEEN %s AND %s ORDER BY item_index"""
# How long that is, and the item in which it reaches so many characters. Containers in a container count as nothing.
MEASURE = """SELECT coalesce(max(o.total), 0)::bigint, min(o.item_index) FILTER (WHERE o.total >= %s) FROM (
    SELECT s.item_index, sum(coalesce(p.size, length(s.output), 4)) OVER (ORDER BY s.item_index, s.id) AS total
    FROM runs_steprun s LEFT JOIN runs_payload p ON p.hash = s.output_ref
    WHERE s.parent_id = %s AND s.node_id = ANY(%s)) o"""
EVERY_ITEM = 2**31 - 1

Key = tuple[UUID, str]


class Values:
    """Values that never change, by (run, name): the newest of them, up to a number of entries and of characters."""

    def __init__(self, *, entries: int = 2_000, characters: int = 32_000_000) -> None:
        self._kept: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
        self._entries, self._characters, self._used = entries, characters, 0
        self._lock = Lock()

    def get(self, key: Key) -> tuple[Any] | None:
        with self._lock:
            found = self._kept.get(key)
            return None if found is None else (found[0],)

    def keep(self, key: Key, value: Any, *, size: int) -> None:
        if size > self._characters // 4:
            return
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = (value, size)
            self._used += size
            while len(self._kept) > self._entries or self._used > self._characters:
                _, (_, freed) = self._kept.popitem(last=False)
                self._used -= freed


@lru_cache(maxsize=4_096)
def _references_of(definition: Definition, node_id: str) -> frozenset[str]:
    node = definition.nodes[node_id]
    read = references(node.config, literal_fields(node.kind))
    return read | references({"skip_if": node.policy.skip_if}) if node.policy.skip_if else read


@lru_cache(maxsize=4_096)
def _called_back(definition: Definition, node_id: str) -> tuple[Node, ...]:
    """The nodes whose links a node's own settings send out; itself, where its kind has one."""
    node = definition.nodes[node_id]
    keys = set(callbacks(node.config, literal_fields(node.kind)))
    if definition.specs[node.kind].has_callback:
        keys.add(node.key)
    return tuple(definition.by_key[key] for key in sorted(keys) if key in definition.by_key)


def callbacks_of(held: Held, definition: Definition) -> dict[str, str]:
    """Of the steps whose links the held step sends out (and its own), `{key: path}`."""
    named = _called_back(definition, held.node_id)
    prefixes = {each.key: prefix_of(held, definition, each.parent) for each in named}
    return {key: prefix + key for key, prefix in prefixes.items() if prefix is not None}


def prefix_of(held: Held, definition: Definition, scope: str | None) -> str | None:
    """The path prefix of the step runs of a scope, as the held step sees it; None where it cannot see that scope."""
    node: Node | None = definition.nodes[held.node_id]
    prefix = held.path[: len(held.path) - len(node.key)] if node else ""
    while node is not None:
        if node.parent == scope:
            return prefix
        if node.parent is None:
            return None
        node = definition.nodes[node.parent]
        container_path = prefix[: prefix.rindex("[")]
        prefix = container_path[: len(container_path) - len(node.key)]
    return None


def scope_of(connection: Connection, held: Held, *, definition: Definition, values: Values) -> dict[str, Any]:
    """The names that expressions of the held step may use, as builder.expressions wants them."""
    paths: dict[str, str] = {}
    for key in _references_of(definition, held.node_id):
        source = definition.by_key.get(key)
        prefix = prefix_of(held, definition, source.parent) if source else None
        if prefix is not None:
            paths[key] = prefix + key
    scope: dict[str, Any] = {
        "run": {
            "id": str(held.run_id),
            "number": held.run_number,
            "input": _run_input(connection, held.run_id, values),
        },
        "steps": _outputs(connection, held, paths, definition=definition, values=values),
    }
    scope.update(_given_inside(connection, held, definition=definition, values=values))
    return scope


@dataclass(frozen=True)
class Around:
    """A container around a step, and in which of its items the step stands."""

    node: Node
    path: str
    index: int


def around(path: str, node: Node, definition: Definition) -> list[Around]:
    """The containers around the step run at a path, the innermost first."""
    found: list[Around] = []
    while node.parent is not None:
        item = path[: len(path) - len(node.key) - 1]  # 'each[17]' of 'each[17].ocr'
        path, _, number = item[:-1].rpartition("[")
        node = definition.nodes[node.parent]
        found.append(Around(node, path, int(number)))
    return found


def _given_inside(connection: Connection, held: Held, *, definition: Definition, values: Values) -> dict[str, Any]:
    """item, index and previous: each from the innermost container that gives it."""
    names: dict[str, Any] = {}
    node = definition.nodes[held.node_id]
    rounds = rounds_of(connection, held, definition)
    if rounds:  # the container itself asks: it sees what its own body gave
        names["index"] = rounds - 1
        last = _round(connection, definition, node, container_id=held.step_run_id, index=rounds - 1)
        names["previous"] = last[0]
    for each in around(held.path, node, definition):
        for name in definition.specs[each.node.kind].gives:
            if name not in names:
                names[name] = _given(connection, held, name, each=each, definition=definition, values=values)
    return names


def rounds_of(connection: Connection, held: Held, definition: Definition) -> int | None:
    """How many rounds the held container has had; None before its first, and where it is none with rounds."""
    if not definition.specs[definition.nodes[held.node_id].kind].asks:
        return None
    row = connection.execute(READ_ROUNDS, (held.step_run_id,)).fetchone()
    return row[0] if row else None


def _given(
    connection: Connection, held: Held, name: str, *, each: Around, definition: Definition, values: Values
) -> Any:
    if name == "index":
        return each.index
    container_id, items = _items(connection, held.run_id, each.path, values=values)
    if name == "item":
        return items[each.index]
    if each.index == 0:
        return items[0]
    key = (held.run_id, f"{each.path}[{each.index - 1}]")
    kept = values.get(key)
    if kept is None:
        value, size = _round(connection, definition, each.node, container_id=container_id, index=each.index - 1)
        values.keep(key, value, size=size)
        return value
    return kept[0]


def _round(
    connection: Connection, definition: Definition, node: Node, *, container_id: int, index: int
) -> tuple[Any, int]:
    """What one item of a container gave, all of which is settled."""
    found, size = _collect(connection, definition, node.key, container_id=container_id, first=index, last=index)
    return found[0], size


def _run_input(connection: Connection, run_id: UUID, values: Values) -> Any:
    if (kept := values.get((run_id, "run.input"))) is not None:
        return kept[0]
    row = connection.execute(READ_INPUT, (run_id,)).fetchone()
    text = row[0] if row else "null"
    value = json.loads(text)
    values.keep((run_id, "run.input"), value, size=len(text))
    return value


def _outputs(
    connection: Connection, held: Held, paths: Mapping[str, str], *, definition: Definition, values: Values
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for key, path in paths.items():
        kept = values.get((held.run_id, path))
        if kept is None:
            missing[path] = key
        else:
            found[key] = {"output": kept[0], "status": "succeeded"}
    if missing:
        rows = connection.execute(READ_OUTPUTS, (held.run_id, list(missing))).fetchall()
        for path, id_, status, handled, output, ref, total, gather, cursor in rows:
            key = missing[path]
            if status == StepStatus.SUCCEEDED:
                if total is not None:
                    container = Container(id_, gather, cursor, output, ref)
                    value, size = output_of(connection, definition, key, container=container)
                else:
                    value, size = _value(connection, output, ref)
                values.keep((held.run_id, path), value, size=size)
                found[key] = {"output": value, "status": status}
            else:
                found.update(_unsuccessful(definition, held, key, status=status, handled=handled, output=output))
    return found


def _unsuccessful(
    definition: Definition, held: Held, key: str, *, status: str, handled: str | None, output: str | None
) -> dict[str, Any]:
    """What expressions see of a step that did not succeed: its fallback, the reader's default, or null where it was
    skipped, or a join went on without it.
    """
    if handled == "fallback":
        return {key: {"output": definition.by_key[key].policy.fallback, "status": status}}
    policy = definition.nodes[held.node_id].policy
    if policy.on_upstream_failure == "default":
        return {key: {"output": policy.default, "status": status}}
    return {key: {"output": None, "status": status}}


def _value(connection: Connection, text: str | None, ref: bytes | None) -> tuple[Any, int]:
    if ref is not None:
        text = _bodies(connection, [ref])[bytes(ref)]
    return (None, 0) if text is None else (json.loads(text), len(text))


def _bodies(connection: Connection, refs: Iterable[bytes]) -> dict[bytes, str]:
    wanted = [bytes(ref) for ref in refs]
    return {bytes(hash_): body for hash_, body in connection.execute(READ_PAYLOADS, (wanted,))} if wanted else {}


def _items(connection: Connection, run_id: UUID, path: str, *, values: Values) -> tuple[int, list[Any]]:
    """A container's id, and its items."""
    key = (run_id, f"items of {path}")
    kept = values.get(key)
    if kept is None:
        row = connection.execute(READ_ITEMS, (run_id, path)).fetchone()
        assert row is not None, "an item's container is never deleted before it"
        value, size = _value(connection, row[1], row[2])
        kept = ((row[0], value),)
        values.keep(key, kept[0], size=size)
    found: tuple[int, list[Any]] = kept[0]
    return found


@dataclass(frozen=True)
class Container:
    """A container that has succeeded. Its output is its own (an error that it caught), or a view over its items."""

    id: int
    gather: str  # list | last
    cursor: int  # how many items it opened
    output: str | None = None
    ref: bytes | None = None


def output_of(connection: Connection, definition: Definition, key: str, *, container: Container) -> tuple[Any, int]:
    """The output, and how many characters it has as JSON."""
    if container.output is not None or container.ref is not None:
        return _value(connection, container.output, container.ref)
    if container.gather == "last":
        node = definition.by_key[key]
        return _round(connection, definition, node, container_id=container.id, index=container.cursor - 1)
    return _collect(connection, definition, key, container_id=container.id)


def beginning_of(
    connection: Connection, definition: Definition, key: str, *, container: Container, characters: int
) -> tuple[Any, int | None]:
    """A container's output; of a list that has more characters only the first items that reach them, and its size."""
    if container.gather == "last" or container.output is not None or container.ref is not None:
        return output_of(connection, definition, key, container=container)[0], None
    sinks = [sink.id for sink in definition.scope_of(definition.by_key[key].id).sinks]
    total, last = connection.execute(MEASURE, (characters, container.id, sinks)).fetchone() or (0, None)
    found, _ = _collect(
        connection, definition, key, container_id=container.id, last=EVERY_ITEM if last is None else last
    )
    return found, None if last is None else total


def _collect(
    connection: Connection,
    definition: Definition,
    key: str,
    *,
    container_id: int,
    first: int = 0,
    last: int = EVERY_ITEM,
) -> tuple[list[Any], int]:
    """What the items gave, in their order, and how many characters that has as JSON. An item with one last step gives
    that step's output, one with several an object of them by key; what did not succeed is null.
    """
    node = definition.by_key[key]
    sinks = definition.scope_of(node.id).sinks
    wanted = (container_id, [sink.id for sink in sinks], first, last)
    rows = connection.execute(READ_ITEM_OUTPUTS, wanted).fetchall()
    bodies = _bodies(connection, {bytes(row[4]) for row in rows if row[4] is not None})
    results: dict[int, dict[str, Any]] = {}
    characters = 0
    for index, node_id, status, output, ref, id_, total, gather, cursor in rows:
        inner = definition.nodes[node_id].key
        value: Any = None
        if status == StepStatus.SUCCEEDED and total is not None:
            container = Container(id_, gather, cursor, output, ref)
            value, size = output_of(connection, definition, inner, container=container)
            characters += size
        elif status == StepStatus.SUCCEEDED:
            text = bodies[bytes(ref)] if ref is not None else output
            value = None if text is None else json.loads(text)
            characters += len(text or "")
        results.setdefault(index, {})[inner] = value
    single = len(sinks) == 1
    found = [next(iter(result.values())) if single else result for _, result in sorted(results.items())]
    return found, characters
