from steps.approval.spec import ApprovalConfig
from steps.base import StepContext, WaitFor


def run(config: ApprovalConfig, ctx: StepContext) -> WaitFor:
    shown = {"title": config.title, "message": config.message, "data": config.data, "note_prompt": config.note_prompt}
    return WaitFor("approval", seconds=config.deadline_s, data=shown)
