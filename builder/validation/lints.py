"""What could be better in a graph that can run. A lint never keeps a draft from being published.

Each is told with the step that it is about. None of them guesses: where a step's reading shows only in the run, what it
reads counts as read.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from builder.expressions import Use, uses
from builder.expressions.parse import Compiled, compiled, step_keys
from builder.graph.model import Graph, Node
from builder.graph.walk import Walk, index
from builder.validation.expressions import policy_uses
from builder.validation.fixes import Act, Fix, one
from builder.validation.issues import Problem
from builder.validation.nodes import named
from builder.validation.settings import literals_of
from steps.base import Delivery, Execution, StepSpec

Specs = Mapping[str, StepSpec]
MAKING = frozenset({"Data", "Code", "Outside", "Files"})  # groups of kinds that are there for what they give or do
CHECKS = frozenset({"validate"})  # kinds that are there to fail
JOINING = {"template": "text"}  # kinds that make a text, and the setting that it is made from
FEW_AT_ONCE = 8


@dataclass(frozen=True)
class Reading:
    """Who reads whose output."""

    readers: Mapping[str, tuple[tuple[Node, Use], ...]]  # key of the step that is read -> who, and by what
    is_open: bool  # some expression cannot be read, or names a step only in the run


def lint(graph: Graph, specs: Specs, *, walk: Walk | None = None) -> tuple[Problem, ...]:
    """Warnings and hints, in the order of the nodes."""
    walk = walk or index(graph)
    reading = who_reads(walk, specs)
    found: list[Problem] = []
    for node in walk.by_id.values():
        if spec := specs.get(node.kind):
            found += unused_output(node, spec, walk, reading=reading)
            found += without_idempotency(node, spec)
            found += joins_text(node, spec, walk, reading=reading)
            found += without_limit(node, spec, walk, specs=specs)
    found += duplicates(walk, specs)
    place = {node_id: number for number, node_id in enumerate(walk.by_id)}
    return tuple(sorted(found, key=lambda problem: place[problem.node or ""]))


def who_reads(walk: Walk, specs: Specs) -> Reading:
    readers: dict[str, list[tuple[Node, Use]]] = {}
    is_open = False
    for node in walk.by_id.values():
        spec = specs.get(node.kind)
        literals = literals_of(spec.config) if spec else frozenset[str]()
        for use in (*uses(node.config, literals), *policy_uses(node)):
            if not isinstance(use.expression, Compiled) or use.expression.dynamic:
                is_open = True
                continue
            for key in sorted(step_keys(use.expression.paths)):
                readers.setdefault(key, []).append((node, use))
    return Reading({key: tuple(found) for key, found in readers.items()}, is_open)


def called(node: Node) -> str:
    return f'"{node.name or node.key}"'


def is_pure(node: Node, spec: StepSpec) -> bool:
    return node.policy.delivery is None and spec.delivery_of(node.config) is Delivery.PURE


# ------------------------------------------------------------------ outputs


def unused_output(node: Node, spec: StepSpec, walk: Walk, *, reading: Reading) -> Iterator[Problem]:
    """Of a step without effects. The last ones of a body are read by their container, those of the whole by people."""
    makes = spec.group in MAKING and spec.execution in (Execution.BODY, Execution.COMPUTE) and not spec.has_callback
    if not makes or spec.kind in CHECKS or not is_pure(node, spec):
        return
    if reading.is_open or node.key in reading.readers or not walk.outgoing[node.id] or branches(node, walk):
        return
    message = f"Nobody reads what {called(node)} gives, and it changes nothing outside. Use its output, or take it out."
    fix = one("Take the step out", "delete_step", node=node.id)
    yield Problem("unused_output", message, node=node.id, fix=fix)


def branches(node: Node, walk: Walk) -> bool:
    """Whether the way on depends on how the step ends."""
    return len(walk.by_port[node.id]) > 1


def joins_text(node: Node, spec: StepSpec, walk: Walk, *, reading: Reading) -> Iterator[Problem]:
    """A text in one line that one step reads: it can stand there itself."""
    text = node.config.get(JOINING.get(spec.kind, ""))
    if not isinstance(text, str) or any(mark in text for mark in ("\n", "{%", "{#")):
        return
    made = compiled(text)
    if isinstance(made, Compiled) and made.whole:  # it makes a text of something else
        return
    readers = reading.readers.get(node.key, ())
    if reading.is_open or len(readers) != 1:
        return
    reader, use = readers[0]
    message = f"{named(node)} only joins text, and only {called(reader)} reads it. The text can be written there."
    fix = written_there(node, text, reader, use=use) if reader.parent == node.parent else None
    yield Problem("only_joins_text", message, node=node.id, fix=fix)


def written_there(node: Node, text: str, reader: Node, *, use: Use) -> Fix | None:
    """Only where the reader's field is that text and nothing else: no other reading of it could mean something else."""
    assert isinstance(use.expression, Compiled)
    if use.expression.path != ("steps", node.key, "output", "text") or node.policy.skip_if is not None:
        return None
    acts = (Act("rewrite", node=reader.id, was=use.text, value=text), Act("delete_step", node=node.id))
    return Fix(f"Write it in {called(reader)}", acts)


# ------------------------------------------------------------------ effects


def without_idempotency(node: Node, spec: StepSpec) -> Iterator[Problem]:
    if node.policy.delivery is not None or spec.delivery_of(node.config) is not Delivery.AT_MOST_ONCE:
        return
    message = (
        f"{named(node)} changes something outside, and nothing there can tell a repeat from a second wish. If a worker "
        "dies in the middle, the run waits for a person to say what happened."
    )
    fix = one("That is meant", "set", node=node.id, field="policy.delivery", value="at_most_once")
    if "repeatable" in spec.config.model_fields:
        message += " If a repeat does no harm, switch 'May run twice' on."
    yield Problem("effect_without_idempotency", message, node=node.id, fix=fix)


def without_limit(node: Node, spec: StepSpec, walk: Walk, *, specs: Specs) -> Iterator[Problem]:
    """A container whose items go outside, as many at once as its kind allows."""
    if "window" not in spec.config.model_fields or "window" in node.config:
        return
    going = [walk.by_id[inner] for inner in walk.body(node.id) if goes_outside(walk.by_id[inner], specs)]
    if not going:
        return
    most = spec.config.model_fields["window"].default
    message = (
        f"{named(node)} does not say how many items may be open at once: {called(going[0])} would call an outside "
        f"system up to {most} times at the same moment. Say how many it can bear."
    )
    fix = one(f"At most {FEW_AT_ONCE} at once", "set", node=node.id, field="window", value=FEW_AT_ONCE)
    yield Problem("map_without_limit", message, node=node.id, field="window", fix=fix)


def goes_outside(node: Node, specs: Specs) -> bool:
    return node.kind in specs and specs[node.kind].group == "Outside" and node.policy.limit_key is None


# ------------------------------------------------------------------ the same twice


def duplicates(walk: Walk, specs: Specs) -> Iterator[Problem]:
    """Steps of one kind with the same settings after the same steps: they do the same, and at the same time."""
    first: dict[str, Node] = {}
    for node in walk.by_id.values():
        spec = specs.get(node.kind)
        if spec is None or spec.group not in MAKING or not node.config or not walk.incoming[node.id]:
            continue
        like = first.setdefault(sameness(node, walk), node)
        if like is not node:
            yield duplicate(node, like, pure=is_pure(node, spec))


def sameness(node: Node, walk: Walk) -> str:
    before = sorted((edge.source, edge.source_port) for edge in walk.incoming[node.id])
    return json.dumps([node.kind, node.config, repr(node.policy), node.parent, before], sort_keys=True)


def duplicate(node: Node, like: Node, *, pure: bool) -> Problem:
    fix = one(f"Use {called(like)} for both", "merge", node=node.id, target=like.id)
    if pure:
        message = f"{named(node)} does the same as {called(like)}, after the same steps. One of them is enough."
        return Problem("duplicate_step", message, node=node.id, fix=fix)
    message = f"{named(node)} does the same as {called(like)}: what they do outside happens twice in each run."
    return Problem("duplicate_effect", message, node=node.id, fix=fix)
