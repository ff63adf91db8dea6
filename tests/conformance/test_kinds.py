"""What every kind owes its users, the built-in ones and those of plug-ins: a new kind is tested here by being there."""

import ast
import copy
import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from steps import connections, registry
from steps.base import Delivery, Execution, StepConfig, StepSpec
from tests.step_context import FakeContext, port_of, run_step

KINDS = [kind for kind, spec in registry.all_specs().items() if not spec.body.startswith("tests.")]
WIDGETS = {
    "code", "key-values", "connection", "duration", "cases", "file", "json", "json-schema", "expression", "textarea",
    "datetime", "switch", "password", "workflow",
}  # fmt: skip
README_PARTS = ("## Settings", "## Output", "## Ports", "## Delivery", "## Errors", "## Example")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(params=KINDS)
def spec(request: pytest.FixtureRequest) -> StepSpec:
    return registry.get(request.param)


def fields(spec: StepSpec) -> Mapping[str, Any]:
    found: Mapping[str, Any] = registry.schema(spec.kind)["properties"] if spec.config.model_fields else {}
    return found


# ------------------------------------------------------------------ the palette and the form


def test_a_kind_is_ready_for_the_palette(spec: StepSpec) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", spec.kind)
    assert spec.title
    assert spec.title[0].isupper()
    assert spec.group in {"Flow", "Data", "Code", "Outside", "People", "Files"}
    assert re.fullmatch(r"[a-z0-9-]+", spec.icon)
    assert spec.summary.endswith(".")
    assert len(spec.summary) <= 100
    assert issubclass(spec.config, StepConfig)
    assert spec.default_limit_s > 0


def test_every_setting_has_a_title_and_is_explained(spec: StepSpec) -> None:
    for name, field in fields(spec).items():
        assert field.get("title"), name
        assert field.get("description") or field.get("enum") or len(field["title"]) < 20, name
        hints = field.get("x-pawl", {})
        assert hints.get("widget", "code") in WIDGETS, name


def test_the_schema_is_a_json_schema_without_references(spec: StepSpec) -> None:
    schema = registry.schema(spec.kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    assert schema["additionalProperties"] is False


def test_an_unknown_setting_is_refused(spec: StepSpec) -> None:
    with pytest.raises(ValidationError, match="no_such_setting"):
        spec.config.model_validate({"no_such_setting": 1})


def test_a_connection_field_says_which_connections_fit(spec: StepSpec) -> None:
    assert ("connection" in fields(spec)) == bool(spec.connection_kinds)
    assert set(spec.connection_kinds) <= set(connections.KINDS)


def test_the_body_takes_its_own_settings_and_the_context(spec: StepSpec) -> None:
    body = registry.load_body(spec.kind)
    parameters = list(inspect.signature(body).parameters.values())
    assert [each.name for each in parameters] == ["config", "ctx"]
    assert parameters[0].annotation is spec.config


def test_the_engine_can_tell_how_to_treat_it(spec: StepSpec) -> None:
    assert isinstance(spec.execution, Execution)
    assert isinstance(spec.delivery, Delivery)
    if spec.execution is not Execution.BODY:
        assert spec.delivery_of({}) is Delivery.PURE, (
            "what is settled inside another step's finish has no outside effect"
        )


def test_a_kind_that_changes_the_outside_does_it_as_an_act(spec: StepSpec) -> None:
    """After a crash, people see what was being done, and an act that is done is not repeated."""
    if not changes_the_outside(spec):
        return
    assert spec.acts or spec.acts_by is not None, "acts=True, or acts_by where the settings decide"
    assert calls_act(spec), "its body calls ctx.act"
    raw = dict.fromkeys(fields(spec), "{{ run.input.x }}")
    assert isinstance(spec.acts_of(raw), bool)
    assert isinstance(spec.acts_of({}), bool)


def changes_the_outside(spec: StepSpec) -> bool:
    raw = dict.fromkeys(fields(spec), "{{ run.input.x }}")
    return any(found is not Delivery.PURE for found in (spec.delivery, spec.delivery_of({}), spec.delivery_of(raw)))


def calls_act(spec: StepSpec) -> bool:
    """Anywhere in the modules of the kind's own package."""
    package = import_module(spec.body.partition(":")[0].rpartition(".")[0])
    sources = (place.read_text(encoding="utf-8") for place in files(package).iterdir() if place.name.endswith(".py"))
    called = (node.func for text in sources for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return any(isinstance(each, ast.Attribute) and each.attr == "act" for each in called)


# ------------------------------------------------------------------ raw settings: unfinished, wrong, with expressions


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_stands_in_the_settings_the_node_can_be_drawn(spec: StepSpec, data: st.DataObject) -> None:
    names = list(fields(spec))
    config = data.draw(st.dictionaries(st.sampled_from(names), json_values, max_size=6)) if names else {}
    before = copy.deepcopy(config)
    line = spec.describe(config)
    assert isinstance(line, str)
    assert "\n" not in line
    assert len(line) <= 200
    ports = spec.ports(config)
    assert len({port.name for port in ports}) == len(ports) >= 1
    assert all(port.name and port.name != "error" for port in ports)
    assert isinstance(spec.output_schema(config), dict)
    assert isinstance(spec.delivery_of(config), Delivery)
    assert config == before


def test_an_expression_in_any_setting_counts_as_the_strictest(spec: StepSpec) -> None:
    """The engine asks with raw settings: it cannot know yet what the expression will say."""
    order = [Delivery.PURE, Delivery.KEYED, Delivery.AT_MOST_ONCE]
    raw = dict.fromkeys(fields(spec), "{{ run.input.x }}")
    assert order.index(spec.delivery_of(raw)) >= order.index(spec.delivery)
    assert order.index(spec.delivery_of({})) <= order.index(spec.delivery)


# ------------------------------------------------------------------ the reference page


def test_the_reference_page_tells_everything(spec: StepSpec) -> None:
    page = registry.readme(spec.kind)
    assert page.startswith(f"# {spec.title}\n")
    for part in README_PARTS:
        assert f"\n{part}\n" in page, part
    for name in fields(spec):
        assert f"`{name}`" in page, name
    for port in spec.ports({}):
        assert f"`{port.name}`" in page, port.name


def test_the_reference_page_names_every_error_code_of_the_body(spec: StepSpec) -> None:
    page = registry.readme(spec.kind)
    for code in codes_of(spec):
        assert f"`{code}`" in page, code


def codes_of(spec: StepSpec) -> set[str]:
    """The codes that the modules of the kind's own folder raise."""
    package = import_module(spec.body.partition(":")[0].rpartition(".")[0])
    found: set[str] = set()
    for place in files(package).iterdir():
        if place.name.endswith(".py"):
            found |= set(re.findall(r"StepFailure\(\s*\"([a-z_]+)\"", place.read_text(encoding="utf-8")))
    return found


def test_the_example_of_the_reference_page_is_a_node_that_can_be_saved(spec: StepSpec) -> None:
    block = re.search(r"## Example\n.*?```json\n(.*?)```", registry.readme(spec.kind), re.DOTALL)
    assert block, "the example is a JSON block"
    config = json.loads(block[1])
    plain = {name: value for name, value in config.items() if "{{" not in json.dumps(value)}
    assert wrong_fields(spec, plain) <= config.keys() - plain.keys()  # what is left out here is an expression
    assert config.keys() <= fields(spec).keys()
    required = set(registry.schema(spec.kind).get("required", []))
    assert required <= config.keys()
    assert spec.describe(config) or spec.kind in {"merge", "start", "try_block"}


def wrong_fields(spec: StepSpec, config: dict[str, Any]) -> set[Any]:
    try:
        spec.config.model_validate(config)
    except ValidationError as problem:
        return {each["loc"][0] for each in problem.errors() if each["loc"]}
    return set()


# ------------------------------------------------------------------ bodies that need nothing outside

TEXT = "größe \u2028\0 " * 3
HUGE = {"rows": [{"n": number, "text": "x" * 100} for number in range(20_000)], "big": 2**62}
LOCAL: dict[str, dict[str, Any]] = {
    "start": {},
    "branch": {"condition": True},
    "switch": {"value": 1, "cases": [{"name": "one", "equals": 1}]},
    "merge": {"fields": {"a": TEXT}},
    "map": {"items": [1, {"a": TEXT}]},
    "loop": {"most": 2, "first": TEXT},
    "try_block": {},
    "run_workflow": {"workflow": "0197a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b", "input": {"a": TEXT}},
    "delay": {"seconds": 5},
    "wait_until": {"moment": "2026-01-31T12:00:00", "zone": "Europe/Berlin"},
    "wait_for_callback": {"title": TEXT},
    "pass_through": {"value": TEXT},
    "output": {"value": [TEXT]},
    "set_fields": {"fields": {"a": 1}},
    "validate": {"value": {"a": 1}, "json_schema": {"type": "object"}},
    "template": {"text": TEXT},
    "python": {"code": "def main(inputs):\n    return inputs", "inputs": {"a": TEXT}},
    "approval": {"title": "Pay?", "data": {"a": 1}},
    "form": {"title": "Where?", "form": {"type": "object"}, "initial": {"a": TEXT}},
    "read_file": {"path": "there.txt"},
    "write_file": {"path": "new/a.json", "content": {"a": TEXT}, "write_as": "json", "if_exists": "fail"},
    "archive": {"path": "a.zip", "files": ["there.txt"], "entries": {"b.txt": TEXT}},
}
TAKES_ANYTHING = {
    "merge": "fields", "pass_through": "value", "output": "value", "set_fields": "fields", "validate": "value",
    "template": "text", "python": "inputs", "approval": "data", "form": "initial", "write_file": "content",
}  # fmt: skip
ELSEWHERE = {"fail", "http_request", "sql", "email", "ocr"}  # tests/integration/steps_* call these twice


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    (tmp_path / "there.txt").write_text("there")
    return FakeContext(storage_root=tmp_path, run_input={"a": 1})


def test_every_kind_is_called_twice_somewhere() -> None:
    assert LOCAL.keys() | ELSEWHERE == set(registry.BUILTIN)


@pytest.mark.parametrize("kind", LOCAL)
def test_a_second_attempt_with_the_same_key_gives_the_same_and_leaves_the_same(ctx: FakeContext, kind: str) -> None:
    config = registry.get(kind).config.model_validate(LOCAL[kind])
    before = config.model_copy(deep=True)
    first = registry.load_body(kind)(config, ctx)
    left = contents(ctx.storage_root)
    second = registry.load_body(kind)(config, ctx.next_attempt())
    assert first == second
    assert contents(ctx.storage_root) == left
    assert config == before, "a body leaves its settings as they are"
    json.dumps(dataclasses.asdict(first) if dataclasses.is_dataclass(first) else first, allow_nan=False)


@pytest.mark.parametrize("kind", LOCAL)
def test_what_a_body_does_to_the_outside_is_an_act_that_is_not_repeated(ctx: FakeContext, kind: str) -> None:
    spec = registry.get(kind)
    config = spec.config.model_validate(LOCAL[kind])
    first = registry.load_body(kind)(config, ctx)
    acts = spec.delivery_of(LOCAL[kind]) is not Delivery.PURE
    assert bool(ctx.acts) is acts
    again = ctx.next_attempt()
    for place in [*ctx.storage_root.rglob("*")] if acts else []:
        if place.is_file() and place.name != "there.txt":
            place.unlink()
    left = contents(ctx.storage_root)
    assert registry.load_body(kind)(config, again) == first
    assert contents(ctx.storage_root) == left, "the act was done before, and is answered from its result"


@pytest.mark.parametrize("kind", LOCAL)
def test_a_body_leaves_by_a_port_that_the_spec_names(ctx: FakeContext, kind: str) -> None:
    answer = run_step(ctx, kind, **LOCAL[kind])
    if registry.get(kind).execution is not Execution.WAIT:
        assert port_of(answer) in {port.name for port in registry.get(kind).ports(LOCAL[kind])}


@pytest.mark.parametrize("kind", TAKES_ANYTHING)
def test_a_huge_value_passes(ctx: FakeContext, kind: str) -> None:
    answer = run_step(ctx, kind, **{**LOCAL[kind], TAKES_ANYTHING[kind]: HUGE})
    kept = "".join(place.read_text() for place in ctx.storage_root.rglob("*") if place.is_file())
    assert str(HUGE["big"]) in f"{answer}{kept}", "whole, to its last number"


def contents(root: Path) -> dict[str, bytes]:
    return {str(place.relative_to(root)): place.read_bytes() for place in sorted(root.rglob("*")) if place.is_file()}
