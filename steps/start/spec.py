from collections.abc import Mapping
from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, literal
from steps.describe import shorten


class StartConfig(StepConfig):
    input_schema: dict[str, Any] = Field(
        default_factory=dict,
        title="Input",
        description="JSON Schema of what a run is started with. Empty: anything goes.",
        examples=[{"type": "object", "required": ["batch"], "properties": {"batch": {"type": "string"}}}],
        json_schema_extra=literal(widget="json-schema"),
    )
    deadline_s: float | None = Field(
        default=None,
        ge=1,
        le=3660 * 24 * 3600,
        title="Deadline of the run",
        description="Seconds after which a run that has not ended fails; a resume gives it as much again. Empty: none.",
        json_schema_extra=literal(widget="duration"),
    )


def describe(config: Mapping[str, Any]) -> str:
    schema = config.get("input_schema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return shorten(", ".join(map(str, properties))) if isinstance(properties, Mapping) else ""


def output_schema(config: Mapping[str, Any]) -> dict[str, Any]:
    schema = config.get("input_schema")
    return dict(schema) if isinstance(schema, Mapping) else {}


SPEC = StepSpec(
    kind="start",
    title="Start",
    group="Flow",
    icon="player-play",
    summary="Where a run begins; checks what it was started with.",
    config=StartConfig,
    delivery=Delivery.PURE,
    body="steps.start.run:run",
    execution=Execution.COMPUTE,
    describe=describe,
    output_schema=output_schema,
    has_input=False,
)
