"""A result may be reused where there is one, and where nothing outside is missed by it."""

from typing import Any

import pytest

from builder.graph.codec import decode
from builder.graph.errors import GraphError
from builder.graph.model import Policy
from tests.graphs import draw
from tests.unit.builder_validation.library import found

HTTP = {"method": "POST", "url": "https://example.com/"}


@pytest.mark.parametrize(
    ("drawing", "policy", "config", "problems"),
    [
        ("S > A:set_fields", Policy(reuse="run"), {}, []),
        ("S > A:map[B]", Policy(reuse="run"), {}, [("reuse_impossible", "A", "policy.reuse")]),
        ("S > A:http_request", Policy(reuse="run"), HTTP, [("reuse_of_effects", "A", "policy.reuse_effects")]),
        ("S > A:http_request", Policy(reuse="run", reuse_effects=True), HTTP, []),
        ("S > A:no_such_kind", Policy(reuse="run"), {}, [("unknown_kind", "A", "kind")]),
    ],
)
def test_reuse_is_refused_where_there_is_nothing_to_reuse_and_doubted_where_effects_are_missed(
    drawing: str, policy: Policy, config: dict[str, Any], problems: list[tuple[str, str | None, str | None]]
) -> None:
    told = found(draw(drawing, configs={"A": config}, policies={"A": policy}))
    assert [problem for problem in told if problem[0] != "unused_output"] == problems


def test_what_switches_effects_on_is_true_or_false() -> None:
    node = {"id": "n", "key": "a", "kind": "output", "policy": {"reuse": "run", "reuse_effects": 1}}
    with pytest.raises(GraphError) as error:
        decode({"nodes": [node], "edges": []})
    assert [fault.field for fault in error.value.faults] == ["nodes[0].policy.reuse_effects"]
