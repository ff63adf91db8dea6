"""Nodes one by one: ids, keys, kinds, and the containers that they name."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from builder.graph.model import Node
from builder.graph.walk import Walk
from builder.validation.fixes import Fix, free_key, one
from builder.validation.issues import Problem
from steps.base import Execution, StepSpec

LONGEST_KEY = 64
DEEPEST = 8  # containers inside each other


def named(node: Node) -> str:
    """How messages call a node."""
    return f'Step "{node.name or node.key or node.id}"'


def is_key(key: str) -> bool:
    """Whether `steps.<key>` and paths such as `each[17].<key>` can be written: a word of letters, digits and _, of any
    alphabet, in the one form that equal-looking words share."""
    return key.isidentifier() and len(key) <= LONGEST_KEY and key == unicodedata.normalize("NFKC", key)


def node_problems(walk: Walk, specs: Mapping[str, StepSpec]) -> Iterator[Problem]:
    ids = Counter(node.id for node in walk.graph.nodes)
    keys = Counter(node.key for node in walk.graph.nodes)
    for node in walk.graph.nodes:
        if ids[node.id] > 1:
            message = f'{ids[node.id]} steps have the id "{node.id}". Delete all but one, or give the others new ids.'
            yield Problem("duplicate_id", message, node=node.id, field="id")
        yield from key_problems(node, keys)
        if node.kind not in specs:
            yield unknown_kind(node, specs)
        yield from parent_problems(node, walk, specs)
        yield from container_problems(node, walk, specs)


def key_problems(node: Node, keys: Mapping[str, int]) -> Iterator[Problem]:
    count = keys[node.key]
    if not is_key(node.key):
        message = (
            f'{named(node)} has the key "{node.key}". A key is one word of letters, digits and _, does not start with '
            f"a digit, and has at most {LONGEST_KEY} characters, so that expressions can say steps.key."
        )
        yield Problem("bad_key", message, node=node.id, field="key", fix=another_key(node, keys))
    elif count > 1:
        message = f'{count} steps have the key "{node.key}". Rename all but one: expressions name steps by their keys.'
        yield Problem("duplicate_key", message, node=node.id, field="key", fix=another_key(node, keys))


def another_key(node: Node, keys: Mapping[str, int]) -> Fix:
    key = free_key(node.key or node.name, frozenset(keys))
    return one(f'Call it "{key}"', "set", node=node.id, field="key", was=node.key, value=key)


def unknown_kind(node: Node, specs: Mapping[str, StepSpec]) -> Problem:
    near = get_close_matches(node.kind, specs, n=1)
    hint = (
        f'Did you mean "{near[0]}"?' if near else "Choose one from the palette, or install the plug-in that brings it."
    )
    message = f'{named(node)} is of the kind "{node.kind}", which is not in the step library. {hint}'
    title = f"Make it {specs[near[0]].title}" if near else ""
    fix = one(title, "set", node=node.id, field="kind", was=node.kind, value=near[0]) if near else None
    return Problem("unknown_kind", message, node=node.id, field="kind", fix=fix)


def parent_problems(node: Node, walk: Walk, specs: Mapping[str, StepSpec]) -> Iterator[Problem]:
    if node.parent is None:
        return
    container = walk.by_id.get(node.parent)
    if container is None:
        message = f'{named(node)} lies in a container "{node.parent}" that does not exist. Move it out of there.'
        fix = one("Move it out", "move_out", node=node.id)
        yield Problem("parent_unknown", message, node=node.id, field="parent", fix=fix)
    elif node.id in walk.enclosing(node.id):
        message = f"{named(node)} lies inside itself, by way of its containers. Move one of them out."
        yield Problem("parent_cycle", message, node=node.id, field="parent")
    elif container.kind in specs and specs[container.kind].execution != Execution.CONTAINER:
        message = f"{named(node)} lies in {named(container)}, which is no container. Move it out, or into a map."
        yield Problem("not_a_container", message, node=node.id, field="parent")
    elif len(walk.enclosing(node.id)) > DEEPEST:
        message = f"{named(node)} lies {len(walk.enclosing(node.id))} containers deep; at most {DEEPEST} are allowed."
        yield Problem("nested_too_deeply", message, node=node.id, field="parent")


def container_problems(node: Node, walk: Walk, specs: Mapping[str, StepSpec]) -> Iterator[Problem]:
    spec = specs.get(node.kind)
    if spec is not None and spec.execution == Execution.CONTAINER and node.id not in walk.children:
        message = f"{named(node)} is a container without steps. Put into it what is to be done there, or delete it."
        yield Problem("container_empty", message, node=node.id)
