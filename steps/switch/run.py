from typing import Any

from steps.base import Done, StepContext
from steps.switch.spec import OTHERWISE, SwitchConfig


def run(config: SwitchConfig, ctx: StepContext) -> Done:
    for case in config.cases:
        wanted = case.equals if "equals" in case.model_fields_set else case.name
        if _same(config.value, wanted):
            return Done(config.value, port=case.name)
    return Done(config.value, port=OTHERWISE)


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 equals 1.0, but neither true nor '1'."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(one, other) for one, other in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
