from collections.abc import Mapping
from typing import Any, Literal

from steps.base import Delivery, Execution, Field, StepConfig, StepSpec, widget
from steps.describe import setting

MOST_ITEMS = 100_000


class MapConfig(StepConfig):
    items: list[Any] = Field(
        title="Items",
        description="A list. The steps inside run once for each; they read {{ item }} and {{ index }}.",
        max_length=MOST_ITEMS,
        examples=["{{ steps.fetch.output.body.documents }}"],
        json_schema_extra=widget("expression"),
    )
    window: int = Field(
        default=32, ge=1, le=1000, title="At once", description="How many items are open at the same time."
    )
    on_item_failure: Literal["fail_at_end", "fail_fast", "continue"] = Field(
        default="fail_at_end",
        title="When an item fails",
        description="Finish the others, then fail; cancel the others and fail at once; or go on without it.",
    )

    tolerate_items: int = Field(
        default=0,
        ge=0,
        le=MOST_ITEMS,
        title="Failed items that are tolerated",
        description="Up to so many failed items the step succeeds; their results are null.",
    )
    tolerate_percent: float = Field(
        default=0,
        ge=0,
        le=100,
        title="Tolerated share",
        description="The same in percent of all items, rounded down. The larger of the two counts.",
    )
    batch: int = Field(
        default=1,
        ge=1,
        le=10_000,
        title="Items at a time",
        description="Above 1, the steps inside run once for each group of so many items: {{ item }} is then a list.",
    )


def describe(config: Mapping[str, Any]) -> str:
    items = setting(config, "items")
    return f"each of {items}, {setting(config, 'window', '32')} at once" if items else ""


SPEC = StepSpec(
    kind="map",
    title="For each",
    group="Flow",
    icon="repeat",
    summary="Runs the steps inside once for every item of a list.",
    config=MapConfig,
    delivery=Delivery.PURE,
    body="steps.map.run:run",
    execution=Execution.CONTAINER,
    describe=describe,
    output_schema=lambda config: {"type": "array"},
)
