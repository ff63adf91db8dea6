"""Which steps may reuse results, and what makes two steps equal."""

from dataclasses import replace

import pytest

from builder.graph.model import Node, Policy, Retry
from runs.core.reuse import DAY_S, input_hash, max_age_s, may_reuse
from steps.registry import get

NODE = Node("n1", "a", "set_fields", config={"fields": {}}, policy=Policy(reuse="run"))


@pytest.mark.parametrize(
    ("kind", "policy", "expected"),
    [
        ("set_fields", Policy(), False),
        ("set_fields", Policy(reuse="run"), True),
        ("set_fields", Policy(reuse="run", delivery="at_most_once"), False),
        ("set_fields", Policy(reuse="run", delivery="at_most_once", reuse_effects=True), True),
        ("email", Policy(reuse="workspace"), False),
        ("email", Policy(reuse="workspace", reuse_effects=True), True),
        ("delay", Policy(reuse="run", reuse_effects=True), False),
        ("map", Policy(reuse="run", reuse_effects=True), False),
    ],
)
def test_a_node_reuses_where_it_says_so_and_its_kind_can(kind: str, policy: Policy, expected: bool) -> None:
    assert may_reuse(replace(NODE, kind=kind, policy=policy), get(kind)) is expected


def test_a_day_is_the_age_where_none_is_given() -> None:
    assert max_age_s(NODE) == DAY_S
    assert max_age_s(replace(NODE, policy=Policy(reuse="run", reuse_for_s=5))) == 5


def test_equal_work_has_an_equal_hash_whatever_its_node_is_called() -> None:
    other = replace(NODE, id="n2", key="b", name="B", policy=Policy(reuse="workspace", retry=Retry(attempts=5)))
    assert input_hash(NODE, {"a": 1, "b": 2}, {}) == input_hash(other, {"b": 2, "a": 1}, {})


@pytest.mark.parametrize(
    ("node", "resolved", "connections"),
    [
        (replace(NODE, kind="template"), {"a": 1}, {}),
        (replace(NODE, config={"fields": {"x": 1}}), {"a": 1}, {}),
        (replace(NODE, policy=Policy(on_error="fallback", fallback=1)), {"a": 1}, {}),
        (NODE, {"a": 2}, {}),
        (NODE, {"a": 1}, {"api": {"base_url": "https://elsewhere.example"}}),
    ],
)
def test_other_work_has_another_hash(node: Node, resolved: object, connections: dict[str, object]) -> None:
    assert input_hash(node, resolved, connections) != input_hash(NODE, {"a": 1}, {})
