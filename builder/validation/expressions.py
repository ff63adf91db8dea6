"""Expressions: can they be read, and is what they name there when the step starts?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from builder.expressions import CALLBACKS, ExpressionProblem, Use, uses
from builder.expressions.parse import Compiled
from builder.graph.model import Node
from builder.graph.walk import Walk
from builder.validation.fixes import Fix, reads_instead, reads_output, says_instead
from builder.validation.issues import Problem
from builder.validation.nodes import named
from builder.validation.settings import literals_of
from builder.validation.ways import connection_from
from steps.base import StepSpec

NAMES = frozenset({"run", "steps"})
STEP_FIELDS = ("output", "status")  # what the engine puts into the scope
GIVERS = {"item": "a For each", "index": "a For each or a Loop", "previous": "a Loop"}
ITEM_NAMES = frozenset(GIVERS)


def expression_problems(node: Node, spec: StepSpec, walk: Walk, *, specs: Mapping[str, StepSpec]) -> Iterator[Problem]:
    given = given_inside(node, walk, specs)
    for use in (*uses(node.config, literals_of(spec.config)), *policy_uses(node)):
        if isinstance(use.expression, ExpressionProblem):
            message = f'{named(node)}, "{use.field}": {use.expression.message}.'
            yield Problem("bad_expression", message, node=node.id, field=use.field)
        else:
            own = spec.gives if use.field in spec.asks else ()
            yield from name_problems(node, use, use.expression, given=given.union(own), walk=walk)
            yield from path_problems(node, use, expression=use.expression, walk=walk, specs=specs)
            yield from callback_problems(node, use, expression=use.expression, walk=walk, specs=specs)


def policy_uses(node: Node) -> Iterator[Use]:
    """The expressions of a node's policy, each at its place."""
    if node.policy.skip_if is not None:
        for use in uses({"skip_if": node.policy.skip_if}):
            yield replace(use, field="policy.skip_if")


def given_inside(node: Node, walk: Walk, specs: Mapping[str, StepSpec]) -> frozenset[str]:
    """The names that the containers around a node give to the expressions inside."""
    around = [walk.by_id[container].kind for container in walk.enclosing(node.id)]
    return frozenset(name for kind in around for name in (specs[kind].gives if kind in specs else ITEM_NAMES))


def name_problems(
    node: Node, use: Use, expression: Compiled, *, given: frozenset[str], walk: Walk
) -> Iterator[Problem]:
    for name in sorted(expression.names - NAMES - given):
        place = f'{named(node)}, "{use.field}"'
        if name not in ITEM_NAMES:
            known = sorted(NAMES | given)
            message = f'{place}: there is no "{name}". Known are: {", ".join(known)}.'
            fix = another_name(node, use, name, known=known, walk=walk)
            yield Problem("unknown_name", message, node=node.id, field=use.field, fix=fix)
        else:
            message = f"{place}: {name} is known only inside {GIVERS[name]}, and this step lies in none."
            yield Problem("item_outside_container", message, node=node.id, field=use.field)


def another_name(node: Node, use: Use, name: str, *, known: Sequence[str], walk: Walk) -> Fix | None:
    """A step's key wants `steps.` before it; any other name may be a slip of the hand."""
    read = walk.by_key.get(name)
    if read is not None and walk.is_upstream(read.id, node.id):
        return says_instead(node, use.text, name, near=f"steps.{name}")
    near = get_close_matches(name, known, n=1)
    return says_instead(node, use.text, name, near=near[0]) if near else None


def path_problems(
    node: Node, use: Use, *, expression: Compiled, walk: Walk, specs: Mapping[str, StepSpec]
) -> Iterator[Problem]:
    if expression.dynamic:
        message = (
            f'{named(node)}, "{use.field}": which step it reads shows only in the run. Name it: steps.key.output, '
            "or choose with an if."
        )
        yield Problem("reference_dynamic", message, node=node.id, field=use.field)
    for path in expression.paths:
        if path[0] == "steps" and len(path) > 1 and isinstance(path[1], str):
            yield from reference_problems(node, use, path=path, walk=walk, specs=specs)


def callback_problems(
    node: Node, use: Use, *, expression: Compiled, walk: Walk, specs: Mapping[str, StepSpec]
) -> Iterator[Problem]:
    """Of links: whose they are must show in the text, and the step must be one that waits for a callback."""
    for path in expression.paths:
        if path[:2] != CALLBACKS:
            continue
        place = f'{named(node)}, "{use.field}"'
        waiting = walk.by_key.get(str(path[2])) if len(path) > 2 else None
        spec = specs.get(waiting.kind) if waiting else None
        if waiting is None or spec is None or not spec.has_callback:
            message = f"{place}: {'.'.join(map(str, path))} names no step that waits for a callback."
        elif waiting.parent is not None and waiting.parent not in walk.enclosing(node.id):
            message = f'{place}: "{waiting.key}" lies inside a container, and its link is known only in there.'
        else:
            continue
        yield Problem("callback_unknown", message, node=node.id, field=use.field)


def reference_problems(
    node: Node, use: Use, *, path: Sequence[str | int], walk: Walk, specs: Mapping[str, StepSpec]
) -> Iterator[Problem]:
    key = str(path[1])
    place = f'{named(node)}, "{use.field}"'
    read = walk.by_key.get(key)
    if read is None:
        near = near_key(key, node, walk)
        hint = f'Did you mean "{near}"?' if near else "Choose a step that comes before this one."
        fix = reads_instead(node, use.text, key, near=near) if near else None
        message = f'{place}: there is no step "{key}". {hint}'
        yield Problem("reference_unknown", message, node=node.id, field=use.field, fix=fix)
    elif not walk.is_upstream(read.id, node.id):
        message = f"{place}: {why_not_upstream(node, read, walk)}"
        fix = connection_from(read, node, walk, specs=specs)
        yield Problem("reference_not_upstream", message, node=node.id, field=use.field, fix=fix)
    elif len(path) > 2 and path[2] not in STEP_FIELDS:
        message = f'{place}: a step has {" and ".join(STEP_FIELDS)}, and no "{path[2]}". Write steps.{key}.output.'
        fix = reads_output(node, use.text, key)
        yield Problem("reference_not_output", message, node=node.id, field=use.field, fix=fix)


def near_key(key: str, node: Node, walk: Walk) -> str | None:
    """Of a step that may be read here, else of any."""
    readable = [walk.by_id[each].key for each in walk.ancestors(node.id)]
    near = get_close_matches(key, sorted(readable), n=1) or get_close_matches(key, walk.by_key, n=1)
    return near[0] if near else None


def why_not_upstream(node: Node, read: Node, walk: Walk) -> str:
    if read is node:
        return "the step reads its own output, which is not there before it ran. Read a step that comes before it."
    if read.id in walk.enclosing(node.id):
        return f'"{read.key}" is the container that this step lies in; it has no output yet. Read item instead.'
    hidden = [
        walk.by_id[container].key for container in walk.enclosing(read.id) if container not in walk.enclosing(node.id)
    ]
    if hidden:
        return (
            f'"{read.key}" lies inside "{hidden[-1]}" and cannot be read from outside. Read steps.{hidden[-1]}.output.'
        )
    return f'"{read.key}" does not come before this step. Draw a way from it to this step, or read another one.'
