from steps.approval.spec import ApprovalConfig
from steps.base import StepContext, WaitFor


def run(config: ApprovalConfig, ctx: StepContext) -> WaitFor:
    shown = config.model_dump(exclude={"deadline_s"})
    return WaitFor("approval", seconds=config.deadline_s, data=shown)
