"""docs/guarantees.md names every field of a step's policy, with the default that it really has."""

import re
from dataclasses import fields

from builder.graph.model import Policy, Retry
from builder.graph.policy import POLICY_RULES, RETRY_RULES
from tests.contract.sources import text

ROW = re.compile(r"^\| `([a-z_.]+)` \| ([^|]+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)


def _written(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def test_every_field_of_a_policy_is_explained_with_its_default() -> None:
    policy, retry = Policy(), Retry()
    real = {each.name: _written(getattr(policy, each.name)) for each in fields(Policy) if each.name != "retry"}
    real |= {f"retry.{each.name}": _written(getattr(retry, each.name)) for each in fields(Retry)}
    page = text("docs/guarantees.md")
    assert dict(ROW.findall(page[page.index("### Policy of a step") :])) == real
    assert real.keys() == POLICY_RULES.keys() | {f"retry.{name}" for name in RETRY_RULES}
