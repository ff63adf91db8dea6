from typing import Any

from steps.base import Delivery, Execution, Field, Port, StepConfig, StepSpec, widget
from steps.describe import setting

PORTS = (Port("approved", "Approved"), Port("rejected", "Rejected"))


class ApprovalConfig(StepConfig):
    title: str = Field(
        title="Title",
        description="The question, in one line.",
        min_length=1,
        max_length=200,
        examples=["Pay batch {{ run.input.batch }}?"],
    )
    message: str = Field(
        default="",
        title="Message",
        description="What the person should look at.",
        max_length=20_000,
        json_schema_extra=widget("textarea"),
    )
    data: Any = Field(
        default=None,
        title="Data to show",
        description="Shown below the message.",
        examples=["{{ steps.report.output }}"],
        json_schema_extra=widget("json"),
    )
    note_prompt: str = Field(
        default="",
        title="Ask for a note",
        description="What the person should write beside the answer.",
        max_length=500,
    )
    deadline_s: float | None = Field(
        default=None,
        gt=0,
        le=366 * 24 * 3600,
        title="Deadline",
        description="Seconds until the step fails without an answer. Empty: none.",
        json_schema_extra=widget("duration"),
    )


SPEC = StepSpec(
    kind="approval",
    title="Approval",
    group="People",
    icon="user-check",
    summary="Waits for a person to approve or reject.",
    config=ApprovalConfig,
    delivery=Delivery.PURE,
    body="steps.approval.run:run",
    execution=Execution.WAIT,
    ports=lambda config: PORTS,
    describe=lambda config: setting(config, "title"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "decision": {"enum": ["approved", "rejected"]},
            "comment": {"type": "string"},
            "by": {"type": "string"},
            "data": {},
        },
    },
)
