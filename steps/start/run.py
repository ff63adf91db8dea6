from typing import Any

from steps.base import StepContext, StepFailure
from steps.schema_check import check
from steps.start.spec import StartConfig


def run(config: StartConfig, ctx: StepContext) -> Any:
    if config.input_schema:
        problems = check(ctx.run_input, config.input_schema)
        if problems:
            raise StepFailure(
                "bad_run_input",
                f"The run's input does not fit the schema of Start: {problems[0]['path']}: {problems[0]['message']}",
                data={"problems": problems},
            )
    return ctx.run_input
