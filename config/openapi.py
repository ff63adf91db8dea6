"""What the OpenAPI file says beyond the single doors: the problems that each may answer with, and the live messages."""

from typing import Any

from drf_spectacular.plumbing import get_lib_doc_excludes
from pydantic import TypeAdapter

from runs import wire
from runs.api.shapes import Out
from teams.api.doors import Door, Input


def only_the_api(endpoints: list[tuple[Any, ...]], **_: Any) -> list[tuple[Any, ...]]:
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/")]


def told_to_us_alone() -> list[type]:
    """Classes whose docstrings are for whoever changes Pawl: what inherits them is not described by them."""
    return [*get_lib_doc_excludes(), Door, Input, Out]  # type: ignore[no-untyped-call]


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


# ------------------------------------------------------------------ /ws/live


def add_live_messages(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """LiveRequest and LiveMessage: no path names them, the front end's types are made from them all the same."""
    schemas = result["components"]["schemas"]
    asked = _as_openapi_3_0(TypeAdapter(wire.Incoming).json_schema(ref_template="#/components/schemas/Live{model}"))
    schemas.update({f"Live{name}": schema for name, schema in asked.pop("$defs").items()})
    schemas["LiveRequest"] = {**asked, "description": "What a browser may send to /ws/live."}
    schemas["LiveMessage"] = {"oneOf": _live_messages(), "description": "What /ws/live sends."}
    return result


def _as_openapi_3_0(schema: Any) -> Any:
    """Version 3.0 has no `const`."""
    if isinstance(schema, dict):
        kept = {name: _as_openapi_3_0(part) for name, part in schema.items() if name != "const"}
        return {**kept, "enum": [schema["const"]]} if "const" in schema else kept
    return [_as_openapi_3_0(part) for part in schema] if isinstance(schema, list) else schema


def _live_messages() -> list[dict[str, Any]]:
    run: dict[str, Any] = {"type": "string", "format": "uuid"}
    number = {"type": "integer"}
    return [
        _message("events", run=run, events=_list_of("EventOut"), last=number),
        _message("lagging", run=run, last=number),
        _message("refused", run={**run, "nullable": True}, code={"type": "string"}, message={"type": "string"}),
        _message("list", runs=_list_of("RunRow")),
        _message("waits", count=number),
        _message("pong", n=number),
    ]


def _message(kind: str, **fields: dict[str, Any]) -> dict[str, Any]:
    properties = {"type": {"type": "string", "enum": [kind]}, **fields}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}
