"""Which step kinds there are: the built-in ones by name, others by the entry-point group `pawl.steps`.

Importing this module imports no kind; `get` imports the spec of that one kind; bodies are loaded in the child only.
A plug-in names its StepSpec: `[project.entry-points."pawl.steps"] my_kind = "my_package.my_kind.spec:SPEC"`.
PAWL_EXTRA_STEPS names modules, divided by commas, whose StepSpecs count as well: for kinds that no package brings yet.
"""

import logging
import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from types import MappingProxyType
from typing import Any, cast

from kit.errors import NotFound
from steps.base import Body, SetUp, StepSpec

GROUP = "pawl.steps"
EXTRA_STEPS = "PAWL_EXTRA_STEPS"
BUILTIN: tuple[str, ...] = (
    "start", "branch", "switch", "merge", "map", "loop", "try_block", "run_workflow", "delay", "wait_until",
    "pass_through", "fail", "output",
    "set_fields", "validate", "template",
    "python",
    "http_request", "wait_for_callback", "sql", "email",
    "approval", "form",
    "read_file", "write_file", "archive", "ocr",
)  # fmt: skip

logger = logging.getLogger(__name__)


class UnknownKind(NotFound):
    code = "unknown_kind"


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    """Scanning the installed packages takes milliseconds, so it happens once, and only when a kind is not built in."""
    points = [*entry_points(group=GROUP), *_extra()]
    return {point.name: point for point in points if point.name not in BUILTIN}


def _extra() -> list[EntryPoint]:
    modules = [name for name in os.environ.get(EXTRA_STEPS, "").split(",") if name]
    return [
        EntryPoint(spec.kind, f"{module}:{name}", GROUP)
        for module in modules
        for name, spec in vars(import_module(module)).items()
        if isinstance(spec, StepSpec)
    ]


@cache
def get(kind: str) -> StepSpec:
    """The spec of a kind. Raises UnknownKind; a plug-in that cannot be imported counts as unknown, and says why."""
    if kind in BUILTIN:
        return cast(StepSpec, import_module(f"steps.{kind}.spec").SPEC)
    point = _plugins().get(kind)
    if point is None:
        raise UnknownKind(
            f"There is no step kind '{kind}'. Install the package that brings it, or choose another.", kind=kind
        )
    try:
        spec = point.load()
    except Exception as problem:  # anything may go wrong in another's code; it must not take the palette down
        raise UnknownKind(f"The step kind '{kind}' ({point.value}) cannot be loaded: {problem}", kind=kind) from problem
    if not isinstance(spec, StepSpec) or spec.kind != kind:
        raise UnknownKind(f"The entry point {point.value} does not name a StepSpec of kind '{kind}'.", kind=kind)
    return spec


@cache
def all_specs() -> Mapping[str, StepSpec]:
    """Every kind that works here, in the order of the palette. A broken plug-in is left out, with a line in the log."""
    found = {kind: get(kind) for kind in BUILTIN}
    for kind in sorted(_plugins()):
        try:
            found[kind] = get(kind)
        except UnknownKind as problem:
            logger.warning("step kind left out: %s", problem.message)
    return MappingProxyType(found)


@cache
def load_body(kind: str) -> Body:
    """Imports the body. Call it in the child process only: a body may import anything."""
    module, _, name = get(kind).body.partition(":")
    return cast(Body, getattr(import_module(module), name))


@cache
def load_set_up(kind: str) -> SetUp:
    """Imports what the kind sets up before each attempt. Only for a kind that names one; in the child process only."""
    module, _, name = get(kind).set_up.partition(":")
    return cast(SetUp, getattr(import_module(module), name))


@cache
def readme(kind: str) -> str:
    """The kind's reference page in Markdown, or '' where a plug-in brings none."""
    package = get(kind).body.partition(":")[0].rpartition(".")[0]
    page = files(package).joinpath("README.md")
    return page.read_text(encoding="utf-8") if page.is_file() else ""


@cache
def _schema(kind: str) -> dict[str, Any]:
    raw = get(kind).config.model_json_schema()
    definitions = raw.pop("$defs", {})
    return cast(dict[str, Any], _inline(raw, definitions))


def schema(kind: str) -> dict[str, Any]:
    """JSON Schema of the kind's settings, without `$ref`. Hints for the form are in `x-pawl` (see steps/README.md)."""
    return _schema(kind)


def _inline(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inline(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        target = definitions[part["$ref"].rpartition("/")[2]]
        part = {**target, **{key: value for key, value in part.items() if key != "$ref"}}
    return {key: _inline(value, definitions) for key, value in part.items()}


@cache
def literal_fields(kind: str) -> frozenset[str]:
    """Names of the top-level settings whose text is taken as it stands; expressions in them are not evaluated."""
    return frozenset(
        name
        for name, info in get(kind).config.model_fields.items()
        if isinstance(info.json_schema_extra, dict)
        and isinstance(hints := info.json_schema_extra.get("x-pawl"), dict)
        and hints.get("literal")
    )
