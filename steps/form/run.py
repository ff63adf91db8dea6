from steps.base import StepContext, WaitFor
from steps.form.spec import FormConfig
from steps.schema_check import check


def run(config: FormConfig, ctx: StepContext) -> WaitFor:
    check(None, config.form)  # a form that cannot be used would wait for an answer that nobody can give
    shown = config.model_dump(exclude={"deadline_s", "form"})
    return WaitFor("form", seconds=config.deadline_s, data={**shown, "schema": config.form})
