"""A small step library, and the questions that the tests of the checks ask."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from builder.graph.model import Graph
from builder.validation import Problem, check
from steps.base import OUT, Delivery, Execution, Port, StepConfig, StepSpec, literal
from tests.graphs import draw


class Nothing(StepConfig):
    pass


class Fields(StepConfig):
    fields: dict[str, Any] = {}


class Header(StepConfig):
    name: str
    value: str | int = ""


class Request(StepConfig):
    url: str = Field(min_length=1)
    method: Literal["GET", "POST"] = "GET"
    limit: int = Field(default=1, ge=0)
    headers: list[Header] = []
    body: dict[str, int] = {}
    connection: str | None = None


class Code(StepConfig):
    code: str = Field(json_schema_extra=literal())
    limit: int | None = None


class Condition(StepConfig):
    condition: Any = True


class Cases(StepConfig):
    cases: list[str] = []


class Window(StepConfig):
    first: Any = 0
    last: Any = 0

    @model_validator(mode="before")
    @classmethod
    def starts_before_it_ends(cls, data: dict[str, Any]) -> dict[str, Any]:
        if str(data["first"]) > str(data["last"]):
            raise ValueError("first comes after last")
        return data


def case_ports(config: Mapping[str, Any]) -> Sequence[Port]:
    return [*(Port(case) for case in config["cases"]), Port("else")]


def spec(kind: str, config: type[StepConfig] = Fields, **more: Any) -> StepSpec:
    settings: dict[str, Any] = {"delivery": Delivery.PURE, "body": f"steps.{kind}.run:run", **more}
    return StepSpec(kind, kind.title(), "Data", "box", "", config, **settings)


SPECS = {
    each.kind: each
    for each in (
        spec("start", Nothing, has_input=False),
        spec("set_fields"),
        spec("http_request", Request, delivery=Delivery.KEYED, connection_kinds=("http_basic", "http_bearer")),
        spec("python", Code),
        spec("branch", Condition, ports=lambda config: (Port("true"), Port("false"))),
        spec("switch", Cases, ports=case_ports),
        spec("merge", Nothing),
        spec("window", Window),
        spec("callback", Fields, has_callback=True),
        spec("output", Fields),
        spec("map", Fields, execution=Execution.CONTAINER, ports=lambda config: OUT),
    )
}


def found(graph: Graph, **more: Any) -> list[tuple[str, str | None, str | None]]:
    """(code, node's or edge's name, field) of each problem."""
    return [(p.code, (p.node or p.edge or "__-")[2:], p.field) for p in check(graph, SPECS, **more)]


def only(graph: Graph, **more: Any) -> Problem:
    problems = check(graph, SPECS, **more)
    assert len(problems) == 1, problems
    return problems[0]


def says(text: str, drawing: str = "S > A > B", at: str = "B") -> list[tuple[str, str | None, str | None]]:
    """What is found where the step `at` has `text` in its field `x`."""
    return found(draw(drawing, configs={at: {"fields": {"x": text}}}))
