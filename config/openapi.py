"""What the OpenAPI file says beyond the single doors: every one of them may answer with a problem."""

from typing import Any


def only_the_api(endpoints: list[tuple[Any, ...]], **_: Any) -> list[tuple[Any, ...]]:
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/")]


def add_problems(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """Adds the `default` response, an RFC 9457 problem, to every operation."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.setdefault("Problem", _problem_schema())
    answer = {
        "description": "A problem",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"].setdefault("default", answer)
    return result


def _problem_schema() -> dict[str, Any]:
    texts = {name: {"type": "string"} for name in ("type", "title", "code", "detail")}
    return {
        "type": "object",
        "description": "An error, as RFC 9457 has it. `data.fields` lists the wrong fields of bad input.",
        "properties": {**texts, "status": {"type": "integer"}, "data": {"type": "object", "additionalProperties": {}}},
        "required": ["type", "title", "status", "code", "detail", "data"],
    }
