"""What an operation does to a run, told before it is done. The operation's own function makes it, in the preview and in
the act: a preview is a transition that is thrown away, so the two cannot differ.
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field

from builder.graph.model import Node
from kit.errors import Conflict
from runs.core.definition import Definition
from runs.core.rows import Row
from runs.core.states import OPEN, StepStatus, waits_for_person
from runs.core.transition import Transition
from steps.base import Delivery


class PlanChanged(Conflict):
    """What the act would do now is not what was shown: the run went on meanwhile."""

    code = "plan_changed"


@dataclass(frozen=True)
class Effect:
    """A step that runs again and acts on the outside."""

    path: str
    delivery: str
    may_happen_twice: bool  # False: the outside sees the same idempotency key as before


@dataclass(frozen=True)
class NodeFate:
    """What a fork does to a step of the graph, and why."""

    key: str
    action: str  # kept | again | new | removed
    reason: str


@dataclass(frozen=True)
class Plan:
    """What an operation does to each step run that exists."""

    kept: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)  # what runs because of it
    effects: list[Effect] = field(default_factory=list)
    nodes: list[NodeFate] = field(default_factory=list)  # of a fork only

    @property
    def token(self) -> str:
        """Equal for plans that run the same steps with the same effects. What was finished meanwhile changes no plan,
        unless it is copied.
        """
        told = [self.again, [asdict(effect) for effect in self.effects], [asdict(node) for node in self.nodes]]
        copied = self.kept if self.nodes else []
        return hashlib.sha256(json.dumps([told, copied]).encode()).hexdigest()[:32]

    def must_be(self, seen: str | None) -> None:
        """Raises PlanChanged where a plan was shown (its token is `seen`) and this is another one."""
        if seen is not None and seen != self.token:
            raise PlanChanged(
                "The run went on meanwhile, so this would do something else than the plan says. Look again."
            )


def finished_before(tx: Transition) -> list[str]:
    """The steps of the top level that have succeeded: ask before the act."""
    return [row.path for row in tx.scope((None, None)).values() if row.status is StepStatus.SUCCEEDED]


def plan_of(
    tx: Transition, kept: Sequence[str], *, new_keys: Collection[str] = (), inside: Delivery | None = None
) -> Plan:
    """The plan of what the transition has done. `new_keys` are paths that get another idempotency key; `inside`: what
    has acted in a run that they have started, and that they start anew.
    """
    plan = Plan(kept=list(kept))
    for path, (_, row) in tx.touched.items():
        if row.status in OPEN and not waits_for_person(row.status):  # theirs, not the operation's
            plan.again.append(path)
            is_new = path in new_keys
            found = inside if is_new else None
            effect = effect_of(tx.definition, tx.node(row), row, has_new_key=is_new, inside=found)
            plan.effects.extend([effect] if effect else [])
    return plan


def effect_of(
    definition: Definition, node: Node, row: Row, *, has_new_key: bool, inside: Delivery | None = None
) -> Effect | None:
    """What running a step again does outside, where it acted there before; `inside`: in a run that it has started."""
    own = inside or definition.specs[node.kind].delivery_of(node.config)
    delivery = Delivery.AT_MOST_ONCE if row.delivery == "at_most_once" else own
    if delivery is Delivery.PURE or row.attempt == 0:
        return None
    return Effect(row.path, delivery, has_new_key or delivery is Delivery.AT_MOST_ONCE)
