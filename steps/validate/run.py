from steps.base import Done, StepContext, StepFailure
from steps.schema_check import check
from steps.validate.spec import ValidateConfig


def run(config: ValidateConfig, ctx: StepContext) -> Done:
    errors = check(config.value, config.json_schema)
    if errors and config.on_invalid == "fail":
        first = "; ".join(f"{each['path']}: {each['message']}" for each in errors[:3])
        more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""
        raise StepFailure(
            "validation_failed", f"The value does not fit the schema: {first}{more}", data={"errors": errors}
        )
    return Done({"valid": not errors, "value": config.value, "errors": errors}, port="invalid" if errors else "out")
