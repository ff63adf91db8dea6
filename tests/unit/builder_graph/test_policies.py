"""The limits, retries and conditions of a node's policy, in its document."""

from typing import Any

import pytest

from builder.graph.codec import decode, encode
from builder.graph.errors import GraphError
from builder.graph.hashing import node_hashes
from builder.graph.model import Graph, Policy
from builder.graph.walk import index
from tests.graphs import draw

POLICY = {
    "retry": {"attempts": 3, "jitter": 0, "on": ["http_503", "timed_out"]},
    "idle_limit_s": 5,
    "queue_limit_s": 60,
    "total_limit_s": 600,
    "skip_if": "{{ run.input.dry }}",
}


def document(policy: dict[str, Any]) -> dict[str, Any]:
    return {"nodes": [{"id": "n", "key": "a", "kind": "output", "policy": policy}], "edges": []}


def test_a_policy_comes_back_as_it_was() -> None:
    graph = decode(document(POLICY))
    policy = graph.nodes[0].policy
    assert (policy.retry.jitter, policy.retry.on) == (0, ["http_503", "timed_out"])
    assert (policy.idle_limit_s, policy.queue_limit_s, policy.total_limit_s) == (5, 60, 600)
    assert encode(graph)["nodes"][0]["policy"] == POLICY


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"retry": {"on": []}}, "retry.on"),
        ({"retry": {"on": "http_503"}}, "retry.on"),
        ({"retry": {"on": ["http 503"]}}, "retry.on"),
        ({"retry": {"on": [5]}}, "retry.on"),
        ({"retry": {"on": ["x"] * 51}}, "retry.on"),
        ({"retry": {"jitter": 1.5}}, "retry.jitter"),
        ({"idle_limit_s": 0}, "idle_limit_s"),
        ({"queue_limit_s": -1}, "queue_limit_s"),
        ({"total_limit_s": "long"}, "total_limit_s"),
        ({"skip_if": ""}, "skip_if"),
        ({"skip_if": True}, "skip_if"),
        ({"skip_if": "x" * 2_001}, "skip_if"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(policy: dict[str, Any], field: str) -> None:
    with pytest.raises(GraphError) as caught:
        decode(document(policy))
    assert [each["field"] for each in caught.value.data["fields"]] == [f"nodes[0].policy.{field}"]


def test_what_leaves_a_step_out_belongs_to_its_hash_and_limits_do_not() -> None:
    def hash_of(policy: Policy) -> str:
        graph: Graph = draw("S > A", policies={"A": policy})
        return node_hashes(index(graph))["n_A"]

    assert hash_of(Policy()) == hash_of(Policy(total_limit_s=5, idle_limit_s=1, queue_limit_s=2))
    assert hash_of(Policy()) != hash_of(Policy(skip_if="{{ run.input.dry }}"))
