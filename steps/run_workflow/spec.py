from collections.abc import Mapping
from typing import Any

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting


class RunWorkflowConfig(StepConfig):
    workflow: str = Field(
        title="Workflow",
        description="Which workflow of this workspace to run.",
        min_length=1,
        max_length=64,
        json_schema_extra=widget("workflow"),
    )
    version: int | None = Field(
        default=None,
        ge=1,
        title="Version",
        description="Its number. Empty: the one that is live when the step begins.",
    )
    input: Any = Field(
        default=None,
        title="Input",
        description="What the run is started with.",
        examples=[{"batch": "{{ run.input.batch }}"}],
        json_schema_extra=widget("json"),
    )


def describe(config: Mapping[str, Any]) -> str:
    version = setting(config, "version")
    return f"version {version}" if version else "its live version" if setting(config, "workflow") else ""


SPEC = StepSpec(
    kind="run_workflow",
    title="Run workflow",
    group="Flow",
    icon="subtask",
    summary="Starts a run of another workflow, and goes on with what it answers.",
    config=RunWorkflowConfig,
    delivery=Delivery.PURE,
    body="steps.run_workflow.run:run",
    execution=Execution.WAIT,
    describe=describe,
)
