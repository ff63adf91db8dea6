from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator, ValidationError

from runs import wire
from runs.api.shapes import Out
from teams.api.doors import Door, Input

COMMITTED = Path(__file__).resolve().parents[2] / "openapi.yaml"


def test_the_committed_openapi_file_is_what_the_code_says() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    validate_schema(schema)  # type: ignore[no-untyped-call]
    made = OpenApiYamlRenderer().render(schema, renderer_context={}).decode()  # type: ignore[no-untyped-call]
    assert made == COMMITTED.read_text(encoding="utf-8"), "openapi.yaml is behind: run `make openapi` and commit it"


def test_every_operation_has_a_name_and_may_answer_with_a_problem() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert not [name for name in names if "_" in name], "each door names its operation itself"
    assert all("default" in operation["responses"] for operation in operations)


def test_every_operation_says_what_it_does_in_words_of_its_own() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    told = [operation.get("description", "") for path in schema["paths"].values() for operation in path.values()]
    told += [component.get("description", "told") for component in schema["components"]["schemas"].values()]
    ours = {cls.__doc__ for cls in (Door, Input, Out)}
    assert all(told)
    assert not ours & set(told)


RUN = UUID(int=7)
EVENT = {
    "seq": 1, "type": "step.ready", "at": "2026-01-31T12:00:00Z", "path": "a", "attempt": 0, "actor": "system",
    "data": {},
}  # fmt: skip


def _live(name: str) -> Draft202012Validator:
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": _nullable(schema["components"])})


def _nullable(part: Any) -> Any:
    """`nullable` of OpenAPI 3.0, as JSON Schema says it."""
    if isinstance(part, list):
        return [_nullable(each) for each in part]
    if not isinstance(part, dict):
        return part
    plain = {name: _nullable(each) for name, each in part.items() if name != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if part.get("nullable") is True else plain


@pytest.mark.parametrize(
    "message",
    [
        wire.events(RUN, [EVENT]), wire.lagging(RUN, 3), wire.refused("forbidden", "No."), wire.refused("x", "y", RUN),
        wire.pong(1), wire.listed([]), wire.waits(2),
    ],
    ids=lambda message: message["type"],
)  # fmt: skip
def test_what_the_live_socket_sends_is_what_the_file_says(message: Mapping[str, Any]) -> None:
    _live("LiveMessage").validate(message)
    with pytest.raises(ValidationError):
        _live("LiveMessage").validate({**message, "more": 1})


def test_what_a_browser_may_send_is_what_the_socket_reads() -> None:
    request = _live("LiveRequest")
    request.validate({"subscribe": {"workspace": "acme", "run": str(RUN), "after": 0}})
    request.validate({"subscribe": {"workspace": "acme", "list": True}})
    request.validate({"unsubscribe": {"run": str(RUN)}})
    request.validate({"ping": 1})
    with pytest.raises(ValidationError):
        request.validate({"shout": 1})
