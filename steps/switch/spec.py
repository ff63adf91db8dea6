from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from steps.base import Delivery, Execution, Field, Port, StepConfig, StepSpec, widget
from steps.describe import setting

OTHERWISE = "otherwise"
RESERVED = frozenset({OTHERWISE, "error"})


class Case(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
    name: str = Field(title="Name", description="The name of its port.", pattern=r"^[A-Za-z0-9][A-Za-z0-9_ -]{0,39}$")
    equals: Any = Field(
        default=None, title="Equals", description="Left out: the name itself.", json_schema_extra=widget("json")
    )


def _distinct(cases: list[Case]) -> list[Case]:
    seen: set[str] = set()
    for case in cases:
        if case.name in RESERVED:
            raise ValueError(f"a case cannot be called '{case.name}': that port exists already")
        if case.name in seen:
            raise ValueError(f"two cases are called '{case.name}'")
        seen.add(case.name)
    return cases


class SwitchConfig(StepConfig):
    value: Any = Field(
        title="Value",
        description="What is compared.",
        examples=["{{ steps.read.output.currency }}"],
        json_schema_extra=widget("expression"),
    )
    cases: Annotated[list[Case], AfterValidator(_distinct)] = Field(
        title="Cases",
        description="The first one that is equal decides; none: 'otherwise'.",
        min_length=1,
        max_length=50,
        examples=[[{"name": "euro", "equals": "EUR"}, {"name": "dollar", "equals": "USD"}]],
        json_schema_extra=widget("cases"),
    )


def ports(config: Mapping[str, Any]) -> Sequence[Port]:
    cases = config.get("cases")
    found = [case.get("name") for case in cases if isinstance(case, Mapping)] if isinstance(cases, list) else []
    names = dict.fromkeys(name for name in found if isinstance(name, str) and name and name not in RESERVED)
    return (*(Port(name, name) for name in names), Port(OTHERWISE, "Otherwise"))


SPEC = StepSpec(
    kind="switch",
    title="Switch",
    group="Flow",
    icon="git-branch",
    summary="Goes one of several ways, by a value.",
    config=SwitchConfig,
    delivery=Delivery.PURE,
    body="steps.switch.run:run",
    execution=Execution.COMPUTE,
    ports=ports,
    describe=lambda config: setting(config, "value"),
)
