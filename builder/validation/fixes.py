"""What one click mends: acts on the document, which a page applies as one edit that can be undone.

    connect       an edge from `node`, by its `port`, to `target`
    add_start     a Start step before `target`
    delete_edge   `edge`; delete_step   `node`, what came before it leads on to what followed
    move_edge     `edge` leaves by `port` from now on
    merge         everybody reads `target` instead of `node`, which goes; its edges leave from `target`
    move_out      `node` leaves a container that does not exist
    set, unset    a field of the node's own (`key`, `kind`), of its policy (`policy.reuse`), or of its config (`window`)
    rewrite       each text of the node's settings that reads `was` reads `value` from now on

An act says what it expects (`was`), or its thing may be gone: a page that finds something else changes nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal

from builder.graph.model import Node

What = Literal[
    "connect", "add_start", "delete_edge", "delete_step", "move_edge", "merge", "move_out", "set", "unset", "rewrite"
]
EVALUATED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


@dataclass(frozen=True)
class Act:
    act: What
    node: str | None = None
    edge: str | None = None
    field: str | None = None
    port: str | None = None
    target: str | None = None
    was: str | None = None
    value: str | int | float | bool | None = None

    def as_json(self) -> dict[str, Any]:
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Fix:
    """`title` is what the button says: a verb, and what comes of it."""

    title: str
    acts: tuple[Act, ...]

    def as_json(self) -> dict[str, Any]:
        return {"title": self.title, "acts": [act.as_json() for act in self.acts]}


def one(title: str, what: What, **more: Any) -> Fix:
    return Fix(title, (Act(what, **more),))


def reads_instead(node: Node, text: str, key: str, *, near: str) -> Fix | None:
    """The steps that an expression names by `key` are named `near`. None where the text does not spell the key so."""
    return rewritten(node, text, step_pattern(key), new=near, title=f'Read "{near}"')


def reads_output(node: Node, text: str, key: str) -> Fix | None:
    """steps.key.x becomes steps.key.output.x."""
    pattern = rf"(\bsteps\s*\.\s*{re.escape(key)})\b(?=\s*[.\[])(?!\s*\.\s*(?:output|status)\b)()"
    return rewritten(node, text, pattern, new=".output", title=f"Read steps.{key}.output")


def says_instead(node: Node, text: str, name: str, *, near: str) -> Fix | None:
    return rewritten(node, text, rf"(?<![.\w\"'])(){re.escape(name)}\b()", new=near, title=f'Write "{near}"')


def step_pattern(key: str) -> str:
    """`steps.key` and `steps['key']`; what stands before the key and after it is kept."""
    return rf"(\bsteps\s*(?:\.\s*|\[\s*['\"])){re.escape(key)}(?!\w)()"


def rewritten(node: Node, text: str, pattern: str, *, new: str, title: str) -> Fix | None:
    """Only inside of {{ }} and {% %}: text outside is only text."""
    changed = EVALUATED.sub(lambda part: re.sub(pattern, lambda found: found[1] + new + found[2], part[0]), text)
    return None if changed == text else one(title, "rewrite", node=node.id, was=text, value=changed)


def free_key(wish: str, taken: frozenset[str]) -> str:
    """A key near the wish that no step has: fetch, fetch_2, fetch_3."""
    cleaned = re.sub(r"[^A-Za-z0-9_]+", "_", wish).strip("_")[:60] or "step"
    base = f"_{cleaned}" if cleaned[0].isdigit() else cleaned
    return next(key for key in keys_like(base) if key not in taken)


def keys_like(base: str) -> Iterator[str]:
    yield base
    number = 2
    while True:
        yield f"{base}_{number}"
        number += 1
