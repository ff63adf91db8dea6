"""Reuse: a step may take the result of an earlier one that did the same with the same input, where its node says so."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from builder.graph.hashing import definition
from builder.graph.model import Node
from steps.base import Delivery, Execution, StepSpec

DAY_S = 86_400.0


def may_reuse(node: Node, spec: StepSpec) -> bool:
    """Never by itself; never what waits or contains steps; of a step with effects only where its node says that,
    too.
    """
    policy = node.policy
    if policy.reuse is None or spec.execution not in (Execution.BODY, Execution.COMPUTE):
        return False
    is_pure = policy.delivery is None and spec.delivery_of(node.config) is Delivery.PURE
    return is_pure or policy.reuse_effects


def max_age_s(node: Node) -> float:
    return node.policy.reuse_for_s or DAY_S


def input_hash(node: Node, resolved: Any, connections: Mapping[str, Any]) -> bytes:
    """Equal for steps that do the same with the same: kind, definition, resolved settings, and where the connection
    leads. Everything is masked already, so that no hash tells a credential.
    """
    text = json.dumps([*definition(node), resolved, connections], sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode()).digest()
