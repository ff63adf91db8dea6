"""Who changed a step: the states that it went through, from the oldest version on."""

import json
from typing import Any

from builder.workflows.history import states


def moment(number: int | None, *nodes: dict[str, Any]) -> tuple[dict[str, Any], str]:
    row = {"number": number, "note": f"note {number}", "published_at": f"day {number}", "published_by": "Ana"}
    return row, json.dumps({"nodes": nodes})


def node(**more: Any) -> dict[str, Any]:
    return {"id": "n1", "key": "fetch", "config": {}, "position": {"x": 0}, **more}


def test_only_moments_that_changed_the_step_are_told() -> None:
    moments = [
        moment(1, {"id": "other"}),
        moment(2, node()),
        moment(3, {"id": "other"}, node(position={"x": 50})),  # it only moved
        moment(4, node(config={"url": "/x"})),
        moment(5, {"id": "other", "config": "it reads n1"}),
        moment(6),
        moment(None, node(config={"url": "/y"})),
    ]
    found = list(states("n1", moments))
    assert [(each["number"], each["node"] and each["node"]["config"]) for each in found] == [
        (2, {}),
        (4, {"url": "/x"}),
        (5, None),
        (None, {"url": "/y"}),
    ]
    assert (found[0]["note"], found[0]["at"], found[0]["by"]) == ("note 2", "day 2", "Ana")


def test_a_step_that_no_version_had_has_no_history() -> None:
    assert list(states("n9", [moment(1, node()), moment(None, node())])) == []
