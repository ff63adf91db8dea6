from pathlib import Path

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

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
