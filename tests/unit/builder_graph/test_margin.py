"""Notes and groups in a document: kept as they came, and refused where a canvas could not draw them."""

from typing import Any

import pytest

from builder.graph.codec import decode, encode
from builder.graph.errors import GraphError

PLACE = {"position": {"x": 1, "y": 2.5}, "size": {"width": 240, "height": 99}}
NOTE = {"id": "s1", "text": "# Hi", "colour": "blue", **PLACE}
GROUP = {"id": "g1", "name": "Reading", "members": ["n1", "s1", "gone"], "collapsed": True}


def document(**more: Any) -> dict[str, Any]:
    return {"schema": 1, "nodes": [], "edges": [], **more}


def faults(**more: Any) -> list[str]:
    with pytest.raises(GraphError) as caught:
        decode(document(**more))
    return [entry["field"] for entry in caught.value.data["fields"]]


def test_notes_and_groups_come_back_as_they_were_with_fields_of_later_versions() -> None:
    full = document(notes=[{**NOTE, "later": 1}], groups=[{**GROUP, "later": [2]}])
    assert encode(decode(full)) == full


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"notes": {}}, "notes"),
        ({"groups": "none"}, "groups"),
        ({"notes": [NOTE] * 1_001}, "notes"),
        ({"notes": ["x"]}, "notes[0]"),
        ({"notes": [NOTE, NOTE]}, "notes[1].id"),
        ({"notes": [{**NOTE, "id": ""}]}, "notes[0].id"),
        ({"notes": [{**NOTE, "text": "x" * 10_001}]}, "notes[0].text"),
        ({"notes": [{**NOTE, "text": None}]}, "notes[0].text"),
        ({"notes": [{**NOTE, "colour": 3}]}, "notes[0].colour"),
        ({"notes": [{**NOTE, "position": {"x": 1}}]}, "notes[0].position"),
        ({"notes": [{**NOTE, "size": [1, 2]}]}, "notes[0].size"),
        ({"notes": [{**NOTE, "size": {"width": True, "height": 2}}]}, "notes[0].size"),
        ({"groups": [{**GROUP, "name": "x" * 201}]}, "groups[0].name"),
        ({"groups": [{**GROUP, "members": "n1"}]}, "groups[0].members"),
        ({"groups": [{**GROUP, "members": [1]}]}, "groups[0].members"),
        ({"groups": [{**GROUP, "collapsed": 1}]}, "groups[0].collapsed"),
    ],
)
def test_what_no_canvas_could_draw_is_refused_by_name(more: dict[str, Any], field: str) -> None:
    assert faults(**more) == [field]


def test_disabled_is_true_or_false_and_is_kept_as_it_was_written() -> None:
    def node(**more: Any) -> dict[str, Any]:
        return {"id": "n1", "key": "a", "name": "", "kind": "output", "config": {}, "policy": {}, "parent": None,
                "position": {"x": 0, "y": 0}, **more}  # fmt: skip

    for more in ({}, {"disabled": True}, {"disabled": False}):
        graph = decode(document(nodes=[node(**more)]))
        assert graph.nodes[0].disabled is more.get("disabled", False)
        assert encode(graph) == document(nodes=[node(**more)])
    assert faults(nodes=[node(disabled="yes")]) == ["nodes[0].disabled"]
