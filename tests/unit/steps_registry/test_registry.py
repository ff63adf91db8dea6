import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from steps import registry
from steps.base import Delivery, StepConfig, StepSpec

ROOT = Path(registry.__file__).parent


class PluginConfig(StepConfig):
    pass


def plugin(kind: str) -> StepSpec:
    return StepSpec(
        kind=kind, title="Extra", group="Data", icon="plus", summary="Comes from elsewhere.", config=PluginConfig,
        delivery=Delivery.PURE, body="steps.pass_through.run:run",
    )  # fmt: skip


EXTRA = plugin("extra")


@pytest.fixture
def entry_points(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    points: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "pawl.steps" else [])
    clear()
    return points


@pytest.fixture(autouse=True)
def fresh_caches() -> object:
    yield
    clear()


def clear() -> None:
    for cached in (registry._plugins, registry.get, registry.all_specs, registry.load_body, registry.readme):
        cached.cache_clear()


def test_each_builtin_kind_is_a_folder_and_each_folder_a_builtin_kind() -> None:
    folders = {each.parent.name for each in ROOT.glob("*/spec.py")}
    assert folders == set(registry.BUILTIN)


def test_an_unknown_kind_says_what_to_do() -> None:
    with pytest.raises(registry.UnknownKind, match="no step kind 'teleport'"):
        registry.get("teleport")


def test_a_plug_in_joins_the_palette(entry_points: list[EntryPoint]) -> None:
    entry_points.append(EntryPoint("extra", f"{__name__}:EXTRA", "pawl.steps"))
    sys.modules[__name__].EXTRA = EXTRA  # type: ignore[attr-defined]
    assert registry.all_specs()["extra"] is EXTRA
    assert registry.get("extra") is EXTRA


def test_a_broken_plug_in_is_left_out_and_takes_nothing_down(
    entry_points: list[EntryPoint], caplog: pytest.LogCaptureFixture
) -> None:
    entry_points.append(EntryPoint("broken", "no_such_package_of_pawl:SPEC", "pawl.steps"))
    assert "broken" not in registry.all_specs()
    assert "no_such_package_of_pawl" in caplog.text
    with pytest.raises(registry.UnknownKind, match="cannot be loaded"):
        registry.get("broken")


def test_a_plug_in_cannot_replace_a_builtin_kind(entry_points: list[EntryPoint]) -> None:
    entry_points.append(EntryPoint("python", f"{__name__}:EXTRA", "pawl.steps"))
    assert registry.all_specs()["python"].body == "steps.python.run:run"


def test_an_entry_point_that_names_another_kind_is_refused(entry_points: list[EntryPoint]) -> None:
    entry_points.append(EntryPoint("other", f"{__name__}:EXTRA", "pawl.steps"))
    with pytest.raises(registry.UnknownKind, match="does not name a StepSpec of kind 'other'"):
        registry.get("other")


def test_literal_fields_are_those_whose_text_is_code_or_that_are_read_before_any_step_runs() -> None:
    found = {kind: registry.literal_fields(kind) for kind in registry.BUILTIN}
    assert {kind: fields for kind, fields in found.items() if fields} == {
        "start": {"input_schema", "deadline_s"}, "validate": {"json_schema"}, "python": {"code"}, "sql": {"statement"},
        "form": {"form"},
    }  # fmt: skip


def test_a_schema_has_no_references_and_keeps_the_hints_for_the_form() -> None:
    schema = registry.schema("switch")
    assert "$ref" not in str(schema)
    assert schema["properties"]["cases"]["x-pawl"] == {"widget": "cases"}
    assert set(schema["properties"]["cases"]["items"]["properties"]) == {"name", "equals"}


@pytest.mark.parametrize("module", ["steps.base", "steps.registry", "steps.connections"])
def test_importing_a_pure_module_loads_no_framework_and_no_network(module: str) -> None:
    loaded = modules_after(f"import {module}")
    assert not loaded & {"django", "httpx", "psycopg", "jsonschema", "smtplib", "sqlite3", "PIL", "rapidocr"}


def test_importing_every_spec_loads_no_framework_no_network_and_no_body() -> None:
    loaded = modules_after("from steps.registry import all_specs; all_specs()")
    assert not loaded & {"django", "httpx", "psycopg", "jsonschema", "smtplib", "sqlite3", "PIL", "rapidocr", "certifi"}
    assert not {name for name in loaded if name.startswith("steps.") and name.endswith(".run")}


def modules_after(code: str) -> set[str]:
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"],
        cwd=ROOT.parent, capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    return set(told.stdout.split())
