from collections.abc import Mapping
from typing import Any

from steps.base import Delivery, Field, StepConfig, StepSpec, literal, widget
from steps.describe import names, shorten

EXAMPLE = """def main(inputs):
    return {"total": sum(line["amount"] for line in inputs["lines"])}
"""


class PythonConfig(StepConfig):
    code: str = Field(
        title="Code",
        description="Define main(inputs), or set result. Standard library only; no network, no files, no secrets. "
        "pawl keeps how far it came.",
        min_length=1,
        max_length=200_000,
        examples=[EXAMPLE],
        json_schema_extra=literal(widget="code", language="python"),
    )
    inputs: dict[str, Any] = Field(
        default_factory=dict,
        title="Inputs",
        description="What the code gets as `inputs`.",
        examples=[{"lines": "{{ steps.read.output.lines }}"}],
        json_schema_extra=widget("key-values"),
    )
    time_limit_s: float = Field(
        default=30.0, gt=0, le=3600, title="Time limit", description="Seconds.", json_schema_extra=widget("duration")
    )
    memory_mb: int = Field(default=256, ge=64, le=4096, title="Memory limit", description="MB.")


def describe(config: Mapping[str, Any]) -> str:
    """The docstring-like first comment of the code, else what it reads."""
    code = config.get("code")
    first = code.lstrip().splitlines()[0] if isinstance(code, str) and code.strip() else ""
    if first.startswith("#"):
        return shorten(first.lstrip("# "))
    return names(config, "inputs")


SPEC = StepSpec(
    kind="python",
    title="Python",
    group="Code",
    icon="brand-python",
    summary="Runs your own Python in a sandbox.",
    config=PythonConfig,
    delivery=Delivery.PURE,
    body="steps.python.run:run",
    describe=describe,
    default_limit_s=3700.0,
)
