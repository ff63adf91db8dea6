"""When a node's hash changes, and when it must not."""

from dataclasses import replace
from typing import Any

import pytest

from builder.graph.hashing import node_hashes
from builder.graph.model import Graph, Node, Policy, Retry
from builder.graph.walk import index
from tests.graphs import draw

DRAWING = "S > A > E[B > C] > D, S > X"


def changed(before: Graph, after: Graph) -> str:
    """Keys of the nodes whose hash differs."""
    one, other = node_hashes(index(before)), node_hashes(index(after))
    return " ".join(node.key for node in before.nodes if one[node.id] != other[node.id])


def edited(graph: Graph, key: str, /, **changes: Any) -> Graph:
    return replace(graph, nodes=tuple(replace(node, **changes) if node.key == key else node for node in graph.nodes))


GRAPH = draw(DRAWING)


@pytest.mark.parametrize(
    ("key", "differ"),
    [
        ("S", "S A E B C D X"),
        ("A", "A E B C D"),
        ("E", "E B C D"),
        ("B", "E B C D"),
        ("C", "E C D"),
        ("D", "D"),
        ("X", "X"),
    ],
)
def test_a_config_changes_its_node_and_all_that_may_read_it(key: str, differ: str) -> None:
    assert changed(GRAPH, edited(GRAPH, key, config={"x": 1})) == differ


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "New"},
        {"position": (9, 9)},
        {"unknown": {"colour": "red"}},
        {"policy": Policy(retry=Retry(attempts=9), limit_s=5, queue="heavy", fallback=1, default=1)},
    ],
)
def test_what_cannot_change_the_result_does_not_count(changes: dict[str, Any]) -> None:
    assert changed(GRAPH, edited(GRAPH, "A", **changes)) == ""


@pytest.mark.parametrize(
    "policy",
    [
        Policy(on_error="fallback", fallback=1),
        Policy(on_error="port"),
        Policy(join="any"),
        Policy(join="count", join_count=2),
        Policy(on_upstream_failure="default", default=1),
    ],
)
def test_a_policy_that_can_change_the_result_counts(policy: Policy) -> None:
    assert changed(GRAPH, edited(GRAPH, "D", policy=policy)) == "D"


def test_another_kind_counts() -> None:
    assert changed(GRAPH, edited(GRAPH, "D", kind="python")) == "D"


def test_another_port_counts() -> None:
    assert changed(draw("I ?true> A"), draw("I ?false> A")) == "A"


def test_a_new_key_changes_those_that_read_it_only() -> None:
    assert changed(GRAPH, edited(GRAPH, "A", key="renamed")) == "E B C D"


def test_swapped_keys_change_their_readers() -> None:
    """`{{ steps.A.output }}` in C now reads another step, though C's text is the same."""
    configs = {"A": {"x": 1}, "B": {"x": 2}}
    before = draw("A > B > C > D", configs=configs)
    after = edited(edited(edited(before, "A", key="_"), "B", key="A"), "_", key="B")
    assert changed(before, after) == "B C D"


def test_the_order_of_the_document_does_not_count() -> None:
    graph = draw("S > A + B > M[P + Q]")
    turned = replace(graph, nodes=graph.nodes[::-1], edges=graph.edges[::-1])
    assert changed(graph, turned) == ""


def test_ids_do_not_count() -> None:
    one = node_hashes(index(Graph((Node("a", "k", "python"),))))
    other = node_hashes(index(Graph((Node("b", "k", "python"),))))
    assert list(one.values()) == list(other.values())


def test_a_step_moved_into_a_body_counts() -> None:
    assert "B" in changed(draw("S > E[A], B"), draw("S > E[A, B]")).split()


@pytest.mark.parametrize("drawing", ["A > B > A", "A > A"])
def test_a_cycle_has_no_hashes(drawing: str) -> None:
    with pytest.raises(ValueError, match="check it first"):
        node_hashes(index(draw(drawing)))
