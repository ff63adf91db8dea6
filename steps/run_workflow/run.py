from steps.base import StepContext, WaitFor
from steps.run_workflow.spec import RunWorkflowConfig


def run(config: RunWorkflowConfig, ctx: StepContext) -> WaitFor:
    return WaitFor("child", data={"workflow": config.workflow, "version": config.version, "input": config.input})
