"""A scope that the tests of expressions share."""

from typing import Any

import pytest

from builder.expressions import ExpressionError, Limits, evaluate

SCOPE: dict[str, Any] = {
    "run": {
        "input": {"text": "123", "number": 5, "flag": True, "lines": [{"n": 1}, {"n": 2}]},
        "id": "r1",
        "number": 7,
    },
    "steps": {
        "fetch": {
            "output": {
                "total": 3,
                "items": ["field, not method"],
                "keys": 1,
                "nothing": None,
                "my-key": {"a b": 1},
                "größe": 9,
                "json": '{"a": [1]}',
                "rows": [{"k": "x", "v": 1.5}, {"k": "y", "v": 2}, {"k": "x", "v": 3}],
            }
        }
    },
    "item": {"name": "first"},
    "index": 0,
}


def fails(text: str, *, limits: Limits | None = None) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, SCOPE, **({} if limits is None else {"limits": limits}))
    return caught.value
