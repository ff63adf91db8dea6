"""Which fields of a kind's settings are literal, read from their JSON Schema."""

from collections.abc import Iterator, Mapping
from typing import Any

DEEPEST = 12  # of schemas that contain themselves


def literal_fields(schema: Mapping[str, Any]) -> frozenset[str]:
    """Paths of the fields marked `x-pawl: {literal: true}`: `code`, `cases[].label`, `files.*`."""
    return frozenset(literals_in(schema, schema, at="", depth=0))


def literals_in(schema: Mapping[str, Any], root: Mapping[str, Any], *, at: str, depth: int) -> Iterator[str]:
    if at and schema.get("x-pawl", {}).get("literal"):
        yield at
        return
    if depth > DEEPEST:
        return
    for place, inner in parts_of(schema, root):
        path = f"{at}{place}" if place in {"", "[]"} or not at else f"{at}.{place}"
        yield from literals_in(inner, root, at=path, depth=depth + 1)


def parts_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(what it adds to the path, schema) of everything inside a schema."""
    if isinstance(reference := schema.get("$ref"), str):
        yield "", root.get("$defs", {}).get(reference.rsplit("/", 1)[-1], {})
    for word in ("anyOf", "oneOf", "allOf"):
        for choice in schema.get(word, ()):
            yield "", choice
    yield from schema.get("properties", {}).items()
    if isinstance(items := schema.get("items"), dict):
        yield "[]", items
    if isinstance(extra := schema.get("additionalProperties"), dict):
        yield "*", extra
