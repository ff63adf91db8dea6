import pytest

from kit.fields import below, label_of, pointer_of, told_whole


@pytest.mark.parametrize(
    ("field", "pointer", "label"),
    [
        ("", "", ""),
        ("name", "/name", "Name"),
        ("limit.at_most", "/limit/at_most", "Limit, at most"),
        ("graph.nodes[2].key", "/graph/nodes/2/key", "Graph, nodes 3, key"),
        ("settings.wait_s", "/settings/wait_s", "Settings, wait (seconds)"),
        ("timeout_ms", "/timeout_ms", "Timeout (milliseconds)"),
        ("input.a/b~c", "/input/a~1b~0c", "Input, a/b~c"),
        ("[0].x", "/0/x", "0, x"),
        ("_", "/_", "_"),
    ],
)
def test_a_field_is_told_as_a_pointer_and_in_words(field: str, pointer: str, label: str) -> None:
    assert (pointer_of(field), label_of(field)) == (pointer, label)


@pytest.mark.parametrize(
    ("path", "field"), [("$", "input"), ("sum", "input.sum"), ("a[2].b", "input.a[2].b"), ("[0].c", "input[0].c")]
)
def test_a_place_that_a_schema_names_is_told_inside_its_field(path: str, field: str) -> None:
    assert below("input", path) == field


def test_each_field_of_a_problem_gets_what_it_lacks_and_keeps_its_own_label() -> None:
    data = {
        "limit": 1,
        "fields": [{"field": "a_b", "message": "m"}, {"field": "url", "label": "Address", "message": "m"}],
    }
    assert told_whole(data) == {
        "limit": 1,
        "fields": [
            {"field": "a_b", "label": "A b", "pointer": "/a_b", "message": "m"},
            {"field": "url", "label": "Address", "pointer": "/url", "message": "m"},
        ],
    }
    assert told_whole({"limit": 1}) == {"limit": 1}
