"""Checks a value against a JSON Schema and lists every problem. For bodies; web asks steps.schema_bounded.

jsonschema is slow to import.
"""

from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from steps.base import StepFailure

MOST_PROBLEMS = 100


def check(value: Any, schema: dict[str, Any]) -> list[dict[str, str]]:
    """[{path, message, rule}], the path as 'items[2].price' ('$' is the whole value); at most MOST_PROBLEMS.

    References lead inside the schema only: nothing is fetched. Raises StepFailure('bad_schema').
    """
    validator_class = validator_for(schema, default=Draft202012Validator)
    try:
        validator_class.check_schema(schema)
        # an empty registry: the default one would fetch a remote `$ref`
        validator = validator_class(schema, format_checker=FormatChecker(), registry=Registry())
        found = list(islice(validator.iter_errors(value), MOST_PROBLEMS))
    except SchemaError as problem:
        raise StepFailure(
            "bad_schema", f"The JSON Schema is wrong at {_path(problem.path)}: {problem.message}"
        ) from problem
    except Unresolvable as problem:
        raise StepFailure("bad_schema", f"The JSON Schema refers to what it does not contain: {problem}") from problem
    except RecursionError as problem:
        raise StepFailure("bad_schema", "The JSON Schema refers to itself without end.") from problem
    found.sort(key=lambda error: [str(part) for part in error.path])
    return [{"path": _path(each.path), "message": each.message[:500], "rule": str(each.validator)} for each in found]


def _path(parts: Any) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "$"
