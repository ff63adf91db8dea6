"""Reading and writing graph documents: everything wrong is named at once, nothing known or unknown is lost."""

from dataclasses import replace
from typing import Any

import pytest

from builder.graph.codec import Limits, decode, encode
from builder.graph.errors import GraphError
from builder.graph.model import Policy, Retry


def document(*nodes: Any, **more: Any) -> dict[str, Any]:
    return {"schema": 1, "nodes": list(nodes), "edges": [], **more}


def node(**more: Any) -> dict[str, Any]:
    return {"id": "n1", "key": "fetch", "kind": "http_request", **more}


def faults(value: Any, **limits: int) -> list[tuple[str, str, str | None]]:
    with pytest.raises(GraphError) as caught:
        decode(value, limits=Limits(**limits))
    assert caught.value.code == "graph_malformed"
    return [(entry["field"], entry["message"], entry.get("node")) for entry in caught.value.data["fields"]]


def fault(value: Any, **limits: int) -> tuple[str, str, str | None]:
    (only,) = faults(value, **limits)
    return only


FULL = document(
    node(
        name="Fetch batch",
        config={"url": "https://a", "deep": {"list": [1, None, True, 2.5, "ü"]}, "big": 2**63},
        policy={
            "retry": {"attempts": 3, "first_delay_s": 1, "factor": 2, "max_delay_s": 300, "wobble": "full"},
            "limit_s": 30,
            "on_error": "fallback",
            "fallback": {"a": 1},
            "on_upstream_failure": "default",
            "default": [],
            "queue": "heavy",
            "limit_key": "erp, test",
            "limit_at_most": 2,
            "rate_starts": 10,
            "rate_per_s": 60,
            "delivery": "at_most_once",
            "sparkle": {"later": [1]},
        },
        parent=None,
        position={"x": 1, "y": -2.5, "z": 7},
        colour="red",
    ),
    edges=[{"id": "e1", "source": "n1", "source_port": "out", "target": "n1", "bend": [1, 2]}],
    comments=[{"text": "hello"}],
)


def test_a_full_document_comes_back_equal() -> None:
    assert encode(decode(FULL)) == FULL


def test_its_fields_are_read() -> None:
    graph = decode(FULL)
    read = graph.nodes[0]
    assert (read.id, read.key, read.kind, read.name, read.parent) == (
        "n1",
        "fetch",
        "http_request",
        "Fetch batch",
        None,
    )
    assert read.policy == Policy(
        retry=Retry(attempts=3, first_delay_s=1, factor=2, max_delay_s=300),
        limit_s=30,
        on_error="fallback",
        fallback={"a": 1},
        on_upstream_failure="default",
        default=[],
        queue="heavy",
        limit_key="erp, test",
        limit_at_most=2,
        rate_starts=10,
        rate_per_s=60,
        delivery="at_most_once",
    )
    assert read.position == (1, -2.5)
    assert graph.edges[0].unknown == {"bend": [1, 2]}


def test_an_empty_document_is_an_empty_graph() -> None:
    assert encode(decode({})) == {"schema": 1, "nodes": [], "edges": []}


def test_a_short_node_gets_the_defaults() -> None:
    shown = encode(decode(document(node())))["nodes"][0]
    assert shown == node(name="", config={}, policy={}, parent=None, position={"x": 0.0, "y": 0.0})


@pytest.mark.parametrize(
    "policy",
    [
        {"on_error": "fail"},
        {"fallback": None},
        {"retry": {}},
        {"retry": {"attempts": 1}},
        {"limit_s": None},
        {"queue": "default"},
    ],
)
def test_a_default_that_was_written_out_stays_written(policy: dict[str, Any]) -> None:
    assert encode(decode(document(node(policy=policy))))["nodes"][0]["policy"] == policy


def test_a_changed_policy_wins_over_what_was_written_out() -> None:
    graph = decode(document(node(policy={"on_error": "fail", "retry": {"attempts": 1, "wobble": "full"}})))
    changed = replace(graph.nodes[0], policy=Policy(retry=Retry(attempts=5), on_error="port"))
    shown = encode(replace(graph, nodes=(changed,)))["nodes"][0]["policy"]
    assert shown == {"on_error": "port", "retry": {"attempts": 5, "wobble": "full"}}


def test_false_and_zero_are_kept_apart() -> None:
    policy = {"fallback": False, "default": 0}
    shown = encode(decode(document(node(policy=policy))))["nodes"][0]["policy"]
    assert shown["fallback"] is False
    assert type(shown["default"]) is int


def test_everything_wrong_is_told_at_once() -> None:
    found = faults(
        document(
            node(id="", key=7),
            node(id="n2", kind=None, policy={"limit_s": -1, "retry": {"attempts": 0}}, position={"x": "left"}),
            "no node",
            edges=[{"id": "e1", "source": 1}, None],
        )
    )
    assert [(field, name) for field, _, name in found] == [
        ("nodes[0].id", ""),
        ("nodes[0].key", ""),
        ("nodes[1].policy.limit_s", "n2"),
        ("nodes[1].policy.retry.attempts", "n2"),
        ("nodes[1].position.x", "n2"),
        ("nodes[1].kind", "n2"),
        ("nodes[2]", None),
        ("edges[0].source", None),
        ("edges[0].target", None),
        ("edges[1]", None),
    ]


def test_the_message_tells_three_faults_and_counts_the_rest() -> None:
    with pytest.raises(GraphError) as caught:
        decode(document(*[node(key=1)] * 5))
    assert "nodes[0].key: must be text, and is a number" in caught.value.message
    assert caught.value.message.endswith("and 2 more")


@pytest.mark.parametrize("value", [None, [], "graph", 3])
def test_a_document_is_an_object(value: Any) -> None:
    assert fault(value)[0] == "graph"


@pytest.mark.parametrize("schema", [0, -1, True, "1", 1.0, None])
def test_a_schema_is_a_whole_number(schema: Any) -> None:
    assert fault(document(schema=schema))[:2] == ("schema", "must be a whole number from 1")


def test_a_newer_schema_asks_for_a_newer_pawl() -> None:
    field, message, _ = fault({"schema": 2, "nodes": "other"})
    assert field == "schema"
    assert message == "is 2, and this Pawl reads graphs up to 1; update Pawl to open it"


def test_lists_are_lists_and_have_limits() -> None:
    assert fault({"nodes": {}})[:2] == ("nodes", "must be a list, and is an object")
    assert fault(document(node(), node(), node()), nodes=2)[:2] == ("nodes", "has 3 entries; at most 2 are allowed")
    assert fault(document(edges=[{}] * 3), edges=2)[0] == "edges"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "not a finite number"),
        (float("inf"), "not a finite number"),
        (2**64, "more than 64 bits"),
        (-(2**63) - 1, "more than 64 bits"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        ({1: 2}, "has the name 1"),
        ({"\0": 2}, "has a name that holds a NUL"),
        ({1, 2}, "is a set"),
    ],
)
def test_only_json_that_every_part_can_keep_is_taken(value: Any, words: str) -> None:
    path, message, name = faults(document(node(config={"a b": [value]})))[0]
    assert path.startswith('nodes[0].config["a b"][0]')
    assert words in message
    assert name == "n1"
    assert words in faults(document(extra=value))[0][1]
    assert words in faults(document(node(policy={"fallback": value})))[0][1]


@pytest.mark.parametrize("value", [2**64 - 1, -(2**63), 9007199254740993, 1e308, "", "😀", {"": {}}, [[]]])
def test_unusual_json_comes_back_equal(value: Any) -> None:
    shown = encode(decode(document(node(config={"x": value}))))["nodes"][0]["config"]["x"]
    assert shown == value
    assert type(shown) is type(value)


@pytest.mark.parametrize("key", [1, "\0"])
def test_names_of_unknown_fields_are_texts(key: Any) -> None:
    assert fault({key: 1})[0] == "graph"
    assert fault(document({**node(), key: 1}))[0] == "nodes[0]"


def test_a_config_is_nested_sixty_four_deep_at_most() -> None:
    deep: Any = {}
    for _ in range(63):
        deep = {"a": deep}
    assert decode(document(node(config=deep)))
    path, message, _ = fault(document(node(config={"a": deep})))
    assert path == "nodes[0].config" + ".a" * 64
    assert "nested too deeply" in message


def test_a_document_has_a_largest_size() -> None:
    large = document(node(config={"text": "x" * 500, "more": ["y"] * 10}), note="z")
    assert decode(large, limits=Limits(characters=1000))
    assert fault(large, characters=300)[:2] == ("graph", "is larger than 300 characters; move large texts to files")


def test_names_have_a_largest_length() -> None:
    assert fault(document(node(key="k" * 201)))[1] == "is longer than 200 characters"
    assert fault(document(node(name="\0")))[0] == "nodes[0].name"


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"retry": {"attempts": 101}}, "retry.attempts"),
        ({"retry": {"attempts": 1.0}}, "retry.attempts"),
        ({"retry": {"attempts": True}}, "retry.attempts"),
        ({"retry": {"first_delay_s": -0.1}}, "retry.first_delay_s"),
        ({"retry": {"factor": 0.5}}, "retry.factor"),
        ({"retry": {"max_delay_s": 10**9}}, "retry.max_delay_s"),
        ({"retry": 3}, "retry"),
        ({"limit_s": 0}, "limit_s"),
        ({"limit_s": float("nan")}, "limit_s"),
        ({"limit_s": "30"}, "limit_s"),
        ({"on_error": "ignore"}, "on_error"),
        ({"on_error": None}, "on_error"),
        ({"on_upstream_failure": "port"}, "on_upstream_failure"),
        ({"queue": "Heavy Lane"}, "queue"),
        ({"queue": 1}, "queue"),
        ({"limit_key": ""}, "limit_key"),
        ({"limit_key": " erp"}, "limit_key"),
        ({"limit_key": "a\nb"}, "limit_key"),
        ({"limit_key": "x" * 101}, "limit_key"),
        ({"limit_at_most": 0}, "limit_at_most"),
        ({"rate_starts": 1.5}, "rate_starts"),
        ({"rate_per_s": 0}, "rate_per_s"),
        ({"delivery": "keyed"}, "delivery"),
    ],
)
def test_a_policy_is_neither_negative_nor_absurd(policy: dict[str, Any], field: str) -> None:
    path, message, name = fault(document(node(policy=policy)))
    assert path == f"nodes[0].policy.{field}"
    assert message.startswith("must be")
    assert name == "n1"


def test_a_parent_is_an_id() -> None:
    assert fault(document(node(parent=3)))[0] == "nodes[0].parent"
    assert decode(document(node(parent="n9"))).nodes[0].parent == "n9"
