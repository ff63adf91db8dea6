"""A node's hash says whether two versions would give it the same result: equal hashes let a fork reuse a finished step.

It covers kind, config, the parts of the policy that change what comes out, and everything that the node may read: its
predecessors' hashes (with key and port, since expressions name keys), its container's, and of a container its body's.
It does not cover ids, names, positions, retries, limits and queues.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from builder.graph.model import Node, Policy
from builder.graph.walk import Scope, Walk

DIGEST_BYTES = 16


@dataclass(frozen=True)
class Hashes:
    """By node id, in hex."""

    whole: dict[str, str] = field(default_factory=dict)
    heads: dict[str, str] = field(
        default_factory=dict
    )  # of containers, without their bodies: equal ones give the same items


def node_hashes(walk: Walk) -> dict[str, str]:
    """Node id -> hash, in hex. The graph must have passed the checks: a node on a cycle has no hash."""
    return all_hashes(walk).whole


def all_hashes(walk: Walk) -> Hashes:
    if walk.cycles or len(walk.by_id) != len(walk.graph.nodes):
        raise ValueError("only a graph without cycles and doubled ids has hashes; check it first")
    found = Hashes()
    hash_scope(walk, None, outside="", found=found)
    return found


def hash_scope(walk: Walk, scope: Scope, *, outside: str, found: Hashes) -> None:
    """`outside` is the hash of all that the scope's container is and reads, but not of its body."""
    hashes = found.whole
    for node_id in walk.order.get(scope, ()):
        node = walk.by_id[node_id]
        read = sorted(
            [edge.source_port, walk.by_id[edge.source].key, hashes[edge.source]] for edge in walk.incoming[node_id]
        )
        own = digest([outside, *definition(node), read])
        if node_id in walk.children:
            found.heads[node_id] = own
            hash_scope(walk, node_id, outside=own, found=found)
            body = sorted([child.key, hashes[child.id]] for child in walk.children[node_id])
            own = digest([own, body])
        hashes[node_id] = own


def definition(node: Node) -> Sequence[Any]:
    return node.kind, node.config, result_policy(node.policy)


def result_policy(policy: Policy) -> Mapping[str, Any]:
    """The parts of a policy that can change an output or the way that the flow takes."""
    return {
        "on_error": policy.on_error,
        "fallback": policy.fallback if policy.on_error == "fallback" else None,
        "on_upstream_failure": policy.on_upstream_failure,
        "default": policy.default if policy.on_upstream_failure == "default" else None,
        **({} if policy.skip_if is None else {"skip_if": policy.skip_if}),
        **({} if policy.join == "all" else {"join": policy.join, "join_count": policy.join_count}),
    }


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()
