"""The check of steps.schema_check for processes that serve many people: none of them waits for a hostile schema.

A pattern that backtracks holds the interpreter's lock in C, where no clock stops it; references and combinations grow
exponentially. So whatever is not plainly cheap is checked in a process of its own, which is killed at a limit.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steps.base import StepFailure
from steps.schema_check import check

TIME_LIMIT_S = 5.0
MEMORY_LIMIT = 1024 * 1024 * 1024
CHEAP_WORK = 50_000_000  # characters of the schema times those of the value: about a second where all are compared

PLAIN = {
    "$comment",
    "additionalProperties",
    "const",
    "default",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "writeOnly",
}
BELOW = ("additionalProperties", "items")  # settings that hold a schema


def check_bounded(value: Any, schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """As `check`. Raises StepFailure('bad_schema' | 'schema_too_slow')."""
    if is_cheap(value, schema):
        return check(value, dict(schema))
    return _apart(json.dumps({"value": value, "schema": schema}))


def is_cheap(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether the check is done here and at once, without a process of its own."""
    if not _is_plain(schema):
        return False
    size = len(json.dumps(schema))
    return size * (size + len(json.dumps(value))) <= CHEAP_WORK


def _is_plain(schema: Any) -> bool:
    """Each part of a value meets each part of such a schema once at most."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, Mapping) or not all(word in PLAIN or word.startswith("x-") for word in schema):
        return False
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return False
    return all(_is_plain(each) for each in [*properties.values(), *(schema[word] for word in BELOW if word in schema)])


def _apart(question: str) -> list[dict[str, str]]:
    command = [sys.executable, "-m", "steps.schema_bounded"]
    root = Path(__file__).parents[1]
    environment = {"LC_ALL": "C.UTF-8", "PYTHONPATH": str(root)}
    try:
        ended = subprocess.run(
            command, input=question.encode(), capture_output=True, timeout=TIME_LIMIT_S, check=False, env=environment
        )
    except subprocess.TimeoutExpired as problem:
        message = f"checking the value takes longer than {TIME_LIMIT_S:g} s; make the schema simpler."
        raise StepFailure("schema_too_slow", message) from problem
    if ended.returncode != 0:
        raise StepFailure("bad_schema", "the JSON Schema cannot be worked through.")
    answer = json.loads(ended.stdout)
    if "failure" in answer:
        raise StepFailure(*answer["failure"])
    return list(answer["problems"])


def main() -> None:
    """The process: question on standard input, answer on standard output. Bounded also where nobody waits for it."""
    seconds = int(TIME_LIMIT_S) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    asked = json.load(sys.stdin)
    try:
        answer: dict[str, Any] = {"problems": check(asked["value"], asked["schema"])}
    except StepFailure as failure:
        answer = {"failure": [failure.code, failure.message]}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
