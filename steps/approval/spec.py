from typing import Any, Literal

from steps.base import Delivery, Execution, Field, Port, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import RoleName

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
        description="Seconds until it is over without an answer. Empty: none.",
        json_schema_extra=widget("duration"),
    )
    on_expire: Literal["fail", "reject"] = Field(
        default="fail",
        title="When the deadline passes",
        description="Fail the step, or count as rejected. Silence never approves.",
        json_schema_extra={"x-pawl": {"labels": {"fail": "The step fails", "reject": "It counts as rejected"}}},
    )
    approvals_needed: int = Field(
        default=1, ge=1, le=50, title="Approvals needed", description="From so many different people."
    )
    rejections_needed: int = Field(
        default=1,
        ge=1,
        le=50,
        title="Rejections needed",
        description="1: any rejection decides. Of five people, 3 and 3 is a majority.",
    )
    roles: list[RoleName] = Field(
        default=[],
        title="Who may answer",
        description="Roles. Empty: everybody who may approve.",
        examples=[["admin", "owner"]],
    )
    no_self_approval: bool = Field(
        default=False,
        title="Not by whoever started it",
        description="Who started or resumed the run, or changed what it works on, may not answer.",
        json_schema_extra=widget("switch"),
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
            "votes": {"type": "array", "items": {"type": "object"}},
        },
    },
)
